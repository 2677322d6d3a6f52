"""Log-in by the organisation's OpenID Connect provider; where none is named, there is nothing.

Who has an account here already connects it to the provider in their settings, having signed in to
it: what the provider says of somebody's name or address opens no account.
"""

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
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods
from requests import RequestException

from dashboard.ledger.actors import actor_name
from dashboard.ledger.models import SignInAct
from dashboard.ledger.sign_in import record_act
from dashboard.web.http import Request
from dashboard.web.provider import Organisation, OrganisationClient
from dashboard.web.second_factor import is_stale
from dashboard.web.sessions import stay_signed_in
from dashboard.web.single_sign_on import (
    account_there,
    is_configured,
    take_groups,
    why_not_connected,
)
from dashboard.web.views.sign_in_rules import asks_who_it_is

Kind = SignInAct.Kind


# A link and not a form: a browser follows no form of ours to another site (form-action).
@require_GET
@never_cache
@login_not_required
def single_sign_on(request: HttpRequest) -> HttpResponse:
    """Send the person to the provider, on the way to `?next=`."""
    _refuse_where_off()
    if request.user.is_authenticated:
        return redirect(get_login_redirect_url(request))
    next_url = get_next_redirect_url(request)
    try:
        return redirect(_address_there(request, AuthProcess.LOGIN, next_url=next_url))
    except (OAuth2Error, RequestException):
        said = f"{settings.OIDC_NAME} can’t be reached."
        return sign_in_refused(request, said, status=502)


@require_GET
@never_cache
@login_not_required
def single_sign_on_callback(request: HttpRequest) -> HttpResponse:
    """Take what the provider says, and let the person in, connect their account, or refuse."""
    _refuse_where_off()
    client = OrganisationClient(request, Organisation.id)
    answer: HttpResponse = OAuth2CallbackView.adapter_view(client)(request)
    return answer


# Nothing but the link on this page leads on: one on another site would have to guess its `state`.
@require_GET
@never_cache
@asks_who_it_is
def organisation_connect(request: Request) -> HttpResponse:
    """Say what connecting one's account to the provider means, with the way there."""
    _refuse_where_off()
    if account_there(request.user):
        return redirect("settings")
    try:
        address = _address_there(request, AuthProcess.CONNECT, person=request.user.pk)
    except (OAuth2Error, RequestException):
        messages.error(request, f"Not connected: {settings.OIDC_NAME} can’t be reached.")
        return redirect("settings")
    groups = sorted({ours for _, ours in settings.OIDC_GROUPS})
    context = {"organisation": settings.OIDC_NAME, "address": address, "groups": groups}
    return render(request, "accounts/connect.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@asks_who_it_is
def organisation_disconnect(request: Request) -> HttpResponse:
    """Ask before the provider signs in as this person no more; then see to it."""
    _refuse_where_off()
    name, account = settings.OIDC_NAME, account_there(request.user)
    if account is None or not request.user.has_usable_password():
        messages.error(request, f"Not disconnected: without {name} you would have no way in.")
        return redirect("settings")
    if request.method != "POST":
        return render(request, "accounts/disconnect.html", {"organisation": name})
    account.delete()
    _record(request, Kind.DISCONNECTED)
    stay_signed_in(request, request.user)
    messages.success(request, f"Disconnected from {name}. Other browsers are signed out.")
    return redirect("settings")


def connected(request: HttpRequest, login: SocialLogin) -> HttpResponse:
    """Connect the account of who is signed in to whom the provider names, or say why not."""
    if is_stale(request):
        logout(request)
    if not request.user.is_authenticated:
        return refused(request, "You were signed out here meanwhile.")
    if why := why_not_connected(login, request.user):
        return refused(request, why)
    login.connect(request, request.user)
    take_groups(request.user, login.account.extra_data["groups"])
    _record(request, Kind.CONNECTED)
    messages.success(request, f"Connected: {settings.OIDC_NAME} signs you in from now on.")
    return redirect("settings")


def refused(request: HttpRequest, why: str) -> HttpResponse:
    """Say why the provider's answer led nowhere: in the settings, to who is signed in."""
    if not request.user.is_authenticated:
        return sign_in_refused(request, f"{settings.OIDC_NAME} did not let you in. {why}")
    messages.error(request, f"Not connected to {settings.OIDC_NAME}. {why}")
    return redirect("settings")


def to_be_connected(request: HttpRequest) -> HttpResponse:
    """Refuse who has an account here that is not connected, and say how it comes to be."""
    context = {"organisation": settings.OIDC_NAME}
    return render(request, "accounts/to_be_connected.html", context, status=403)


def sign_in_refused(request: HttpRequest, why: str, *, status: int = 403) -> HttpResponse:
    """Say on the log-in's sheet why nobody was let in."""
    return render(request, "accounts/refused.html", {"why": why}, status=status)


def _address_there(request: HttpRequest, process: str, **state: Any) -> str:
    """Return where the provider asks who it is, and keep what its answer must fit.

    Raises OAuth2Error and requests' own errors where the provider can't be reached.
    """
    provider = get_adapter().get_provider(request, Organisation.id)
    nonce = secrets.token_urlsafe(16)
    asked = provider.redirect(request, process, auth_params={"nonce": nonce}, nonce=nonce, **state)
    address: str = asked.url
    return address


def _record(request: HttpRequest, kind: Kind) -> None:
    person: User = request.user  # type: ignore[assignment]  # only done by who is logged in
    record_act(kind, by=actor_name(person), person=person)


def _refuse_where_off() -> None:
    if not is_configured():
        raise Http404
