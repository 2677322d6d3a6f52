"""Pages that list, create and revoke tokens, change their owners, and show how to connect."""

import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard.accounts.permissions import (
    MANAGE_PEOPLE,
    PUBLISH,
    may,
    require_permission,
    require_second_factor,
)
from dashboard.approvals.models import RequestState
from dashboard.machine.models import MachineToken
from dashboard.machine.tokens import change_owner, issue, may_own, revoke
from dashboard.machine.wheel import WHEEL_NAME
from dashboard.notifications.recipients import users_with
from dashboard.web.machine.forms import HINTS, TokenForm
from dashboard.web.ui.forms import sent_form_key
from dashboard.web.ui.htmx import Request

SERVICES = "You need the Administrator role to manage service tokens."


@require_GET
def token_list(request: Request) -> HttpResponse:
    return _list(request)


def _list(
    request: Request, wrong: Mapping[str, str] | None = None, new: Mapping[str, str] | None = None
) -> HttpResponse:
    """List the user's tokens and, for Administrators, service tokens with their owners.

    `new` has a new token and its name; `wrong` has a rejected choice of owner and its problem.
    """
    is_admin = may(request, MANAGE_PEOPLE)
    tokens = MachineToken.objects.select_related("owner")
    is_open = Q(plans__release__approval__state=RequestState.OPEN)
    services = tokens.annotate(open_count=Count("plans", filter=is_open)).filter(is_service=True)
    context = {
        "tokens": tokens.filter(owner=request.user, is_service=False),
        "service_tokens": services if is_admin else None,
        "owners": users_with(MANAGE_PEOPLE).order_by("username") if is_admin else [],
        "wrong": wrong,
        "new": new,
    }
    return render(request, "machine/tokens.html", context, status=422 if wrong else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_new(request: Request) -> HttpResponse:
    """Make a token for the user, or with `?service=1` for a service, and show it once."""
    is_service = bool(request.GET.get("service"))
    if is_service:
        require_permission(request, MANAGE_PEOPLE, refusal=SERVICES)
    form = TokenForm(request.user, request.POST or None)
    context = {"form": form, "is_service": is_service, "hints": HINTS}
    if not form.is_valid():
        context["may_publish"] = request.user.has_perm(PUBLISH)
        status = 422 if form.is_bound else 200
        return render(request, "machine/new.html", context, status=status)
    require_second_factor(request)
    token = MachineToken(owner=request.user, is_service=is_service, **form.cleaned_data)
    token.form_key = sent_form_key(request) or token.form_key
    return _list(request, new={"name": token.name, "token": issue(token)})


@require_POST
def token_revoke(request: Request, token_id: int) -> HttpResponse:
    token = get_object_or_404(MachineToken, pk=token_id)
    is_own = token.owner_id == request.user.pk and not token.is_service
    if not is_own and not (token.is_service and may(request, MANAGE_PEOPLE)):
        raise Http404
    if revoke(MachineToken.objects.filter(pk=token.pk), request.user):
        messages.success(request, f"{token.name} revoked. Programs that use it are refused.")
    return redirect("token-list")


@require_POST
def token_owner(request: Request, token_id: int) -> HttpResponse:
    """Give a service's token to another Administrator, who needs the rights for its scopes."""
    require_permission(request, MANAGE_PEOPLE, refusal=SERVICES)
    token = get_object_or_404(MachineToken, pk=token_id, is_service=True)
    pk = request.POST.get("owner", "")
    owner = users_with(MANAGE_PEOPLE).filter(pk=pk).first() if pk.isdecimal() else None
    problem = "Choose an administrator."
    if owner and not may_own(owner, token.scopes):
        problem = f"{owner.get_username()} can’t publish, so this token could only read."
    elif owner:
        if owner.pk != token.owner_id:
            change_owner(token, owner)
            messages.success(request, f"{owner.get_username()} owns {token.name}.")
        return redirect("token-list")
    return _list(request, {"token": str(token.pk), "owner": pk, "problem": problem})


@require_GET
def connect(request: Request) -> HttpResponse:
    """Show how to connect agents, scripts and pipelines."""
    url = settings.PUBLIC_URL.rstrip("/")
    wheel = f"{url}/cli/{WHEEL_NAME}"
    context = {
        "agents": _agents(f"{url}/mcp/"),
        "commands": {
            "Install": f'pip install "pressroom-cli[keyring] @ {wheel}"',
            "Store a token": "pressroom login",
            "Run once": f"uvx --from {wheel} \\\n  pressroom find --live-status changed",
            "Request a publish": 'pressroom plan PAGE/AUDIENCE --note "New prices"\n'
            "pressroom request PLAN --wait",
        },
        "curl": f'curl -H "Authorization: Bearer $PRESSROOM_TOKEN" \\\n  {url}/api/1/audiences',
    }
    return render(request, "machine/connect.html", context)


def _agents(url: str) -> dict[str, str]:
    """Return the configuration of each client, by client and file name."""

    def server(token: str, **more: str) -> dict[str, Any]:
        return {**more, "url": url, "headers": {"Authorization": f"Bearer ${{{token}}}"}}

    prompt = {"type": "promptString", "id": "pressroom", "description": "Token", "password": True}
    configurations = {
        "Claude Code, .mcp.json": {
            "mcpServers": {"pressroom": server("PRESSROOM_TOKEN", type="http")}
        },
        "Cursor, mcp.json": {"mcpServers": {"pressroom": server("env:PRESSROOM_TOKEN")}},
        "VS Code, mcp.json": {
            "servers": {"pressroom": server("input:pressroom", type="http")},
            "inputs": [prompt],
        },
    }
    toml = f'[mcp_servers.pressroom]\nurl = "{url}"\nbearer_token_env_var = "PRESSROOM_TOKEN"'
    texts = {name: json.dumps(value, indent=2) for name, value in configurations.items()}
    return texts | {"Codex, config.toml": toml}
