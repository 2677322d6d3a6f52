"""Adapters for django-allauth, which runs logins and stores second factors."""

import re
from typing import Any

import qrcode
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString

from dashboard import encryption
from dashboard.accounts.permissions import must_set_up_second_factor
from dashboard.accounts.provider import OrganisationProvider, UnacceptableError
from dashboard.accounts.second_factor.policy import set_up_url
from dashboard.accounts.sessions import record_second_factor
from dashboard.accounts.single_sign_on.policy import (
    has_matching_account,
    is_configured,
    sync_groups,
    sync_profile,
)
from dashboard.accounts.single_sign_on.views import (
    connect_account,
    log_refusal,
    refuse,
    refuse_unconnected,
    render_refusal,
)

BACKEND = "dashboard.accounts.authentication.PreloadingModelBackend"
ERROR_CODE = re.compile(r"[a-z_]{1,40}")
"""Error code of a provider, such as `access_denied`. Source: RFC 6749, 4.1.2.1."""
QR_CODE_BORDER = 4
"""Width in modules. Source: ISO/IEC 18004."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # it has no types
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_login_stages(self) -> list[str]:
        return ["allauth.mfa.stages.AuthenticateStage"]

    def is_safe_url(self, url: str) -> bool:
        host, is_secure = self.request.get_host(), self.request.is_secure()
        return url_has_allowed_host_and_scheme(url, {host}, require_https=is_secure)

    def login(self, request: HttpRequest, user: User) -> None:
        user.backend = BACKEND
        super().login(request, user)

    def post_login(
        self, request: HttpRequest, user: User, *, signal_kwargs: Any, **more: Any
    ) -> HttpResponse:
        """Apply the provider's claims; redirect users who must set up a second factor."""
        if login := (signal_kwargs or {}).get("sociallogin"):
            claims = login.account.extra_data
            sync_groups(user, claims["groups"])
            sync_profile(user, claims)
            if claims["second_factor"]:
                record_second_factor(request, user, by_organisation=True)
            # End the session with the browser.
            request.session.set_expiry(0)
        if must_set_up_second_factor(request):
            more["redirect_url"] = set_up_url()
        response: HttpResponse = super().post_login(
            request, user, signal_kwargs=signal_kwargs, **more
        )
        return response

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Suppress the library's messages; our views add their own."""

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Refuse without revealing that the account exists."""
        log_refusal("The account is inactive")
        return render_refusal(request, "This account can’t sign in.")


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # it has no types
    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "Incorrect code. Try again."
    }

    encrypt = staticmethod(encryption.encrypt)
    decrypt = staticmethod(encryption.decrypt)

    def get_totp_label(self, user: User) -> str:
        return user.get_username()

    def get_totp_issuer(self) -> str:
        return f"Pressroom {settings.ENVIRONMENT_NAME}"

    def build_totp_svg(self, url: str) -> SafeString:
        """Render the QR code as inline SVG: one path, coloured by our style sheet."""
        code = qrcode.QRCode(border=QR_CODE_BORDER)
        code.add_data(url)
        rows = enumerate(code.get_matrix())
        dark = "".join(f"M{x} {y}h1v1h-1z" for y, row in rows for x, on in enumerate(row) if on)
        size = code.modules_count + 2 * QR_CODE_BORDER
        return format_html(
            '<svg class="qr-code" viewBox="0 0 {0} {0}" role="img" aria-label="QR code">'
            '<path d="{1}"/></svg>',
            size,
            dark,
        )

    def generate_authenticator_name(self, user: User, type: str) -> str:  # noqa: A002  # its name
        count: int = Authenticator.objects.filter(user=user, type=type).count()
        return f"Passkey {count + 1}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {**super().get_public_key_credential_rp_entity(), "name": "Pressroom"}

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        name = user.get_username()
        display_name = user.get_full_name() or name
        entity = super().get_public_key_credential_user_entity(user)
        return {**entity, "name": name, "display_name": display_name}


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # it has no types
    """Login by the organization's provider, whose claims decide access and groups."""

    def list_apps(self, request: HttpRequest, *args: Any, **kwargs: Any) -> list[SocialApp]:
        """Return only the provider configured in the environment, none from the database."""
        if not is_configured():
            return []
        options = {
            "server_url": settings.OIDC_ISSUER,
            "scope": settings.OIDC_SCOPES,
            "oauth_pkce_enabled": True,
        }
        app = SocialApp(
            provider=OrganisationProvider.id,
            # Users are identified by issuer and subject.
            provider_id=settings.OIDC_ISSUER,
            name=settings.OIDC_NAME,
            client_id=settings.OIDC_CLIENT_ID,
            secret=settings.OIDC_CLIENT_SECRET,
            settings=options,
        )
        return [app]

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Allow new accounts; `pre_social_login` has refused users without a group."""
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse a response to another login, and users without a group.

        Connect the account of a signed-in user. Refuse a new login that matches an account here.
        """
        claims = sociallogin.account.extra_data
        if not claims["nonce"] or claims["nonce"] != sociallogin.state.get("nonce"):
            raise ImmediateHttpResponse(refuse(request, "The response belongs to another sign-in."))
        if not claims["groups"]:
            if sociallogin.is_existing:
                sync_groups(sociallogin.user, [])
            reason = f"No value of its claim {settings.OIDC_GROUPS_CLAIM} is in OIDC_GROUPS"
            why = "You aren’t in a group with access."
            raise ImmediateHttpResponse(refuse(request, why, reason=reason))
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            raise ImmediateHttpResponse(connect_account(request, sociallogin))
        if not sociallogin.is_existing and has_matching_account(sociallogin):
            raise ImmediateHttpResponse(refuse_unconnected(request))

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        **more: Any,
    ) -> None:
        """Show our own message for an error, and log its reason without personal data."""
        code = request.GET.get("error", "")
        if isinstance(exception, UnacceptableError):
            reason = str(exception)
        elif exception:
            reason = "The provider did not confirm the sign-in"
        elif code:
            reason = f"The provider returned {code if ERROR_CODE.fullmatch(code) else 'an error'}"
        else:
            reason = "The sign-in was not started in this browser, or it expired"
        why = "The sign-in wasn’t completed."
        raise ImmediateHttpResponse(refuse(request, why, reason=reason, error=exception))
