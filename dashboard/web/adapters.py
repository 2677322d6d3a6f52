"""How django-allauth, which runs log-ins and keeps second factors, is made to fit this house."""

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

from dashboard.web import sealing
from dashboard.web.provider import Organisation
from dashboard.web.second_factor import is_to_set_up, note_second_factor, where_to_set_up
from dashboard.web.single_sign_on import has_account_here, is_configured, take_groups
from dashboard.web.views.single_sign_on import (
    connected,
    refused,
    sign_in_refused,
    to_be_connected,
)

BACKEND = "dashboard.web.authentication.WithPreferences"
BORDER = 4
"""Modules of white around a QR code. Source: ISO/IEC 18004."""


class SignIn(DefaultAccountAdapter):  # type: ignore[misc]  # it has no types
    """The log-in: by name and password or by the provider, then the second factor, then in."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Let nobody make an account of their own."""
        return False

    def get_login_stages(self) -> list[str]:
        """Ask for the second factor, and for nothing else."""
        return ["allauth.mfa.stages.AuthenticateStage"]

    def is_safe_url(self, url: str) -> bool:
        """Lead to addresses of this host alone."""
        host, is_secure = self.request.get_host(), self.request.is_secure()
        return url_has_allowed_host_and_scheme(url, {host}, require_https=is_secure)

    def login(self, request: HttpRequest, user: User) -> None:
        """Log in by the one backend that knows people."""
        user.backend = BACKEND
        super().login(request, user)

    def post_login(
        self, request: HttpRequest, user: User, *, signal_kwargs: Any, **more: Any
    ) -> HttpResponse:
        """Take what the provider said, and lead who lacks a second factor to it."""
        if login := (signal_kwargs or {}).get("sociallogin"):
            _welcome(request, user, login)
        if is_to_set_up(request):
            more["redirect_url"] = where_to_set_up()
        answer: HttpResponse = super().post_login(
            request, user, signal_kwargs=signal_kwargs, **more
        )
        return answer

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Say nothing: our views say it in our words."""

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Tell of an account that was switched off no more than of one that never was."""
        return sign_in_refused(request, "This account may not sign in.")


class SecondFactors(DefaultMFAAdapter):  # type: ignore[misc]  # it has no types
    """How factors are kept and drawn."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "That didn’t match. Try again."
    }

    def encrypt(self, text: str) -> str:
        """Seal the secret of an app, or the seed of recovery codes."""
        return sealing.seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Return it. Raises UnreadableSealError."""
        return sealing.unseal(encrypted_text)

    def get_totp_label(self, user: User) -> str:
        """Return what stands beside the code in the app."""
        return user.get_username()

    def get_totp_issuer(self) -> str:
        """Return what stands above it: production is told from staging."""
        return f"Pressroom {settings.ENVIRONMENT_NAME}"

    def build_totp_svg(self, url: str) -> SafeString:
        """Draw the QR code as a part of the page: one path, coloured by our own rules."""
        code = qrcode.QRCode(border=BORDER)
        code.add_data(url)
        rows = enumerate(code.get_matrix())
        dark = "".join(f"M{x} {y}h1v1h-1z" for y, row in rows for x, on in enumerate(row) if on)
        size = code.modules_count + 2 * BORDER
        return format_html(
            '<svg class="qr" viewBox="0 0 {0} {0}" role="img" aria-label="QR code">'
            '<path d="{1}"/></svg>',
            size,
            dark,
        )

    def generate_authenticator_name(self, user: User, type: str) -> str:  # noqa: A002  # its name
        """Return the name of a passkey that was given none."""
        count: int = Authenticator.objects.filter(user=user, type=type).count()
        return f"Passkey {count + 1}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Return who asks for a passkey: this host, under the house's name."""
        return {**super().get_public_key_credential_rp_entity(), "name": "Pressroom"}

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        """Return whose passkey it is."""
        name = user.get_username()
        shown = user.get_full_name() or name
        entity = super().get_public_key_credential_user_entity(user)
        return {**entity, "name": name, "display_name": shown}


class SingleSignOn(DefaultSocialAccountAdapter):  # type: ignore[misc]  # it has no types
    """Log-in by the organisation's provider, who alone decides who comes in and as what."""

    def list_apps(self, request: HttpRequest, *args: Any, **kwargs: Any) -> list[SocialApp]:
        """Return the one provider of the environment; none from the database."""
        return [_organisation()] if is_configured() else []

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Make an account for whom the provider gives a group; others came no further than here."""
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse an answer to another log-in, and whom the provider gives no group.

        Who is signed in here gets their account connected; who has one and is not is told how to.
        """
        said = sociallogin.account.extra_data
        if not said["nonce"] or said["nonce"] != sociallogin.state.get("nonce"):
            raise ImmediateHttpResponse(refused(request, "Its answer was not to this log-in."))
        if not said["groups"]:
            if sociallogin.is_existing:
                take_groups(sociallogin.user, [])
            raise ImmediateHttpResponse(refused(request, "It gives you no group here."))
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            raise ImmediateHttpResponse(connected(request, sociallogin))
        if not sociallogin.is_existing and has_account_here(sociallogin):
            raise ImmediateHttpResponse(to_be_connected(request))

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, **more: Any
    ) -> None:
        """Say in our words what went wrong at the provider, or between it and us."""
        raise ImmediateHttpResponse(refused(request, "The log-in there came to no end."))


def _organisation() -> SocialApp:
    """Return the provider. Whom it names is known by issuer and subject: two never mix."""
    return SocialApp(
        provider=Organisation.id,
        provider_id=settings.OIDC_ISSUER,
        name=settings.OIDC_NAME,
        client_id=settings.OIDC_CLIENT_ID,
        secret=settings.OIDC_CLIENT_SECRET,
        settings={
            "server_url": settings.OIDC_ISSUER,
            "scope": settings.OIDC_SCOPES,
            "oauth_pkce_enabled": True,
        },
    )


def _welcome(request: HttpRequest, person: User, login: SocialLogin) -> None:
    said = login.account.extra_data
    take_groups(person, said["groups"])
    if said["second_factor"]:
        note_second_factor(request, person, by_organisation=True)
    # Nobody asked for the session to outlast the browser.
    request.session.set_expiry(0)
