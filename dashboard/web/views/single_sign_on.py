"""Log-in by the organisation's OpenID Connect provider; where none is named, there is nothing."""

import secrets

from allauth.account.utils import get_login_redirect_url, get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from requests import RequestException

from dashboard.web.provider import Organisation, OrganisationClient
from dashboard.web.single_sign_on import is_configured


# A link and not a form: a browser follows no form of ours to another site (form-action).
@require_GET
@never_cache
@login_not_required
def single_sign_on(request: HttpRequest) -> HttpResponse:
    """Send the person to the provider, on the way to `?next=`."""
    _refuse_where_off()
    if request.user.is_authenticated:
        return redirect(get_login_redirect_url(request))
    provider = get_adapter().get_provider(request, Organisation.id)
    nonce = secrets.token_urlsafe(16)
    try:
        answer: HttpResponse = provider.redirect(
            request,
            AuthProcess.LOGIN,
            next_url=get_next_redirect_url(request),
            auth_params={"nonce": nonce},
            nonce=nonce,
        )
    except (OAuth2Error, RequestException):
        return sign_in_refused(request, f"{provider.name} can’t be reached.", status=502)
    return answer


@require_GET
@never_cache
@login_not_required
def single_sign_on_callback(request: HttpRequest) -> HttpResponse:
    """Take what the provider says, and let the person in or refuse them."""
    _refuse_where_off()
    client = OrganisationClient(request, Organisation.id)
    answer: HttpResponse = OAuth2CallbackView.adapter_view(client)(request)
    return answer


def sign_in_refused(request: HttpRequest, why: str, *, status: int = 403) -> HttpResponse:
    """Say on the log-in's sheet why nobody was let in."""
    return render(request, "accounts/refused.html", {"why": why}, status=status)


def _refuse_where_off() -> None:
    if not is_configured():
        raise Http404
