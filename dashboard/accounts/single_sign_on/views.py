"""Login by the organization's OpenID Connect provider; 404 if none is configured.

Users who have an account sign in to it first, then connect it to the provider in their settings. A
name or e-mail address claimed by the provider opens no account.
"""

import logging
import secrets
from typing import Any

from allauth.account.utils import get_login_redirect_url, get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods
from requests import RequestException

from dashboard.accounts.models import SignInEventKind
from dashboard.accounts.permissions import AuthenticatedRequest
from dashboard.accounts.policy_views import requires_reauthentication
from dashboard.accounts.provider import OrganisationAdapter, OrganisationProvider
from dashboard.accounts.sessions import is_stale, stay_signed_in
from dashboard.accounts.sign_in import record_sign_in_event
from dashboard.accounts.single_sign_on.policy import (
    connection_error,
    is_configured,
    provider_account,
    sync_groups,
)
from dashboard.ledger.models.operations import actor_name

_logger = logging.getLogger(__name__)


# A link rather than a form: our CSP (form-action) forbids forms to other sites.
@require_GET
@never_cache
@login_not_required
def single_sign_on(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider, and afterwards to `?next=`."""
    _require_provider()
    if request.user.is_authenticated:
        return redirect(get_login_redirect_url(request))
    next_url = get_next_redirect_url(request)
    if provider_url := _authorization_url(request, AuthProcess.LOGIN, next_url=next_url):
        return redirect(provider_url)
    return render_refusal(request, f"Couldn’t reach {settings.OIDC_NAME}.", status=502)


@require_GET
@never_cache
@login_not_required
def single_sign_on_callback(request: HttpRequest) -> HttpResponse:
    _require_provider()
    client = OrganisationAdapter(request, OrganisationProvider.id)
    response: HttpResponse = OAuth2CallbackView.adapter_view(client)(request)
    return response


# GET is safe: a link on another site would have to guess the `state` of the link on this page.
@require_GET
@never_cache
@requires_reauthentication
def organisation_connect(request: AuthenticatedRequest) -> HttpResponse:
    _require_provider()
    if provider_account(request.user):
        return redirect("settings")
    provider_url = _authorization_url(request, AuthProcess.CONNECT, user=request.user.pk)
    if not provider_url:
        messages.error(request, f"Not connected: couldn’t reach {settings.OIDC_NAME}.")
        return redirect("settings")
    groups = sorted({ours for _, ours in settings.OIDC_GROUPS})
    context = {"organisation": settings.OIDC_NAME, "provider_url": provider_url, "groups": groups}
    return render(request, "accounts/connect.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires_reauthentication
def organisation_disconnect(request: AuthenticatedRequest) -> HttpResponse:
    _require_provider()
    user, name = request.user, settings.OIDC_NAME
    account = provider_account(user)
    if account is None or not user.has_usable_password():
        messages.error(request, f"Not disconnected: {name} is your only way to sign in.")
        return redirect("settings")
    if request.method != "POST":
        return render(request, "accounts/disconnect.html", {"organisation": name})
    with transaction.atomic():
        # Together: the event signs the other browsers out. A second click deletes nothing.
        if account.delete()[0]:
            record_sign_in_event(SignInEventKind.DISCONNECTED, by=actor_name(user), user=user)
    stay_signed_in(request, user)
    messages.success(request, f"Disconnected from {name}. Your other browsers are signed out.")
    return redirect("settings")


def connect_account(request: HttpRequest, login: SocialLogin) -> HttpResponse:
    if is_stale(request):
        logout(request)
    user = request.user
    if not user.is_authenticated:
        return refuse(request, "You were signed out.")
    if why := connection_error(login, user):
        return refuse(request, why)
    login.connect(request, user)
    sync_groups(user, login.account.extra_data["groups"])
    record_sign_in_event(SignInEventKind.CONNECTED, by=actor_name(user), user=user)
    messages.success(request, f"Connected. You can now sign in with {settings.OIDC_NAME}.")
    return redirect("settings")


def refuse(
    request: HttpRequest, why: str, *, reason: str = "", error: Exception | None = None
) -> HttpResponse:
    """Show why the provider's response was refused; signed-in users see it in their settings.

    `reason`, if any, is logged instead of `why`, and `error` with its traceback.
    """
    log_refusal(reason or why, error)
    if not request.user.is_authenticated:
        return render_refusal(request, f"{settings.OIDC_NAME} sign-in failed. {why}")
    messages.error(request, f"Not connected to {settings.OIDC_NAME}. {why}")
    return redirect("settings")


def refuse_unconnected(request: HttpRequest) -> HttpResponse:
    log_refusal("An unconnected account has that name or email address")
    context = {"organisation": settings.OIDC_NAME}
    return render(request, "accounts/to_be_connected.html", context, status=403)


def log_refusal(reason: str, error: Exception | None = None) -> None:
    _logger.warning("Provider sign-in rejected: %s", reason.rstrip("."), exc_info=error)


def render_refusal(request: HttpRequest, why: str, *, status: int = 403) -> HttpResponse:
    return render(request, "accounts/sign_in_failed.html", {"why": why}, status=status)


def _authorization_url(request: HttpRequest, process: str, **state: Any) -> str | None:
    """Return the provider's login URL, and store the state for its response.

    Returns None and logs it if the provider can't be reached.
    """
    nonce = secrets.token_urlsafe(16)
    try:
        provider = get_adapter().get_provider(request, OrganisationProvider.id)
        response = provider.redirect(
            request, process, auth_params={"nonce": nonce}, nonce=nonce, **state
        )
    except (OAuth2Error, RequestException) as error:
        log_refusal("The provider can't be reached", error)
        return None
    url: str = response.url
    return url


def _require_provider() -> None:
    if not is_configured():
        raise Http404
