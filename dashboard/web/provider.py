"""The organisation's OpenID Connect provider, in the module where django-allauth looks for it.

Stricter than the library's own: the ID token is required and its signature checked, its issuer is
the configured one, and nothing the provider says is kept but groups and whether a second factor was
shown. An e-mail address is read to keep a second account from being made, and for nothing else: the
library is never told one, so that none can lead into somebody's account.
Source: OpenID Connect Core 1.0, 3.1.3.7; OpenID Connect Discovery 1.0, 4.3.
"""

from functools import cached_property
from typing import Any

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from dashboard.web.single_sign_on import given_groups, showed_second_factor_there

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
"""Those of a pair of keys: with the others our own secret would sign."""
NEEDED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
CLAIMS = ["iss", "sub", "aud", "exp", "iat"]
LEEWAY_S = 60
NAMES = {"username": "preferred_username", "first_name": "given_name", "last_name": "family_name"}


class OrganisationClient(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # it has no types
    """How the provider is spoken with."""

    @cached_property
    def openid_config(self) -> dict[str, Any]:
        """Return its discovery document. Raises OAuth2Error for one that is not of this issuer."""
        document = self._read(f"{settings.OIDC_ISSUER}/.well-known/openid-configuration")
        if any(not isinstance(document.get(name), str) for name in NEEDED):
            raise OAuth2Error("The discovery document lacks an address")
        if document["issuer"].rstrip("/") != settings.OIDC_ISSUER:
            raise OAuth2Error("The discovery document is of another issuer")
        return document

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """Return where the provider sends people back to."""
        return request.build_absolute_uri(reverse("single-sign-on-callback"))

    def complete_login(
        self, request: HttpRequest, app: Any, token: Any, *, response: dict[str, Any], **more: Any
    ) -> Any:
        """Return who it is, by the ID token; the user info adds a name, and groups."""
        claims = self._claims(response.get("id_token"))
        info: dict[str, Any] = {}
        if address := self.openid_config.get("userinfo_endpoint"):
            info = self._read(address, Authorization=f"Bearer {token.token}")
            if info.get("sub") != claims["sub"]:
                raise OAuth2Error("The user info is somebody else's")
        said = {"claims": claims, "info": info}
        return self.get_provider().sociallogin_from_response(request, said)

    def _claims(self, id_token: Any) -> dict[str, Any]:
        """Return what the ID token says. Raises OAuth2Error where it is not good."""
        try:
            keys = jwt.PyJWKSet.from_dict(self._read(self.openid_config["jwks_uri"]))
            claims = jwt.decode(
                id_token,
                _key_of(keys, jwt.get_unverified_header(id_token)),
                algorithms=ALGORITHMS,
                audience=settings.OIDC_CLIENT_ID,
                issuer=self.openid_config["issuer"],
                leeway=LEEWAY_S,
                options={"require": CLAIMS},
            )
        except (jwt.PyJWTError, TypeError) as error:
            raise OAuth2Error("The ID token is not good") from error
        if claims.get("azp", settings.OIDC_CLIENT_ID) != settings.OIDC_CLIENT_ID:
            raise OAuth2Error("The ID token is for another client")
        return claims

    def _read(self, address: str, **headers: str) -> dict[str, Any]:
        """Return the JSON object at an address. Raises OAuth2Error and requests' own errors."""
        with get_adapter().get_requests_session() as session:
            answer = session.get(address, headers=headers)
            answer.raise_for_status()
            found = answer.json()
        if not isinstance(found, dict):
            raise OAuth2Error("The provider answered no JSON object")
        return found


class Organisation(OpenIDConnectProvider):  # type: ignore[misc]  # it has no types
    """What is taken from what it says: `claims` of the ID token, and `info` of the user."""

    id = "organisation"
    oauth2_adapter_class = OrganisationClient

    def sociallogin_from_response(self, request: HttpRequest, response: dict[str, Any]) -> Any:
        """Return the log-in, with the e-mail address beside it: "" where none was said."""
        login = super().sociallogin_from_response(request, response)
        said = {**response["info"], **response["claims"]}.get("email")
        login.email_said = said.replace("\0", "") if isinstance(said, str) else ""
        return login

    def extract_uid(self, data: dict[str, Any]) -> str:
        """Return the subject: the only thing a person is known by."""
        return str(data["claims"]["sub"])

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return what is kept. A second factor counts only by the signed token."""
        claims = data["claims"]
        return {
            "nonce": claims.get("nonce", ""),
            "groups": given_groups({**data["info"], **claims}),
            "second_factor": showed_second_factor_there(claims),
        }

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, str]:
        """Return the names for a new account."""
        said = {**data["info"], **data["claims"]}
        names = {ours: str(said.get(theirs) or "") for ours, theirs in NAMES.items()}
        return {ours: name.replace("\0", "") for ours, name in names.items()}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[Any]:
        """Return none: nobody is let into an account by an address."""
        return []


provider_classes = [Organisation]


def _key_of(keys: jwt.PyJWKSet, header: dict[str, Any]) -> jwt.PyJWK:
    """Return the key that a token names; the only one where it names none."""
    named = header.get("kid")
    found = [key for key in keys.keys if named is None or key.key_id == named]
    if len(found) != 1:
        raise jwt.InvalidKeyError("No such key")
    return found[0]
