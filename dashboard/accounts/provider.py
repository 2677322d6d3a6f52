"""The organization's OpenID Connect provider, in the module that django-allauth expects.

Stricter than the library: the ID token is required, its signature and issuer are verified, and only
groups, the use of a second factor, name and e-mail address are stored. The address is not passed to
the library, so that it can't open anybody's account.
Source: OpenID Connect Core 1.0, 3.1.3.7; OpenID Connect Discovery 1.0, 4.3.
"""

from typing import Any

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property

from dashboard.accounts.sessions import absolute_url
from dashboard.accounts.single_sign_on.policy import claims_second_factor, map_groups

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
"""Asymmetric algorithms only: the others would verify with our own secret."""
REQUIRED_ENDPOINTS = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
REQUIRED_CLAIMS = ["iss", "sub", "aud", "exp", "iat"]
LEEWAY_S = 60
NAME_CLAIMS = {
    "username": "preferred_username",
    "first_name": "given_name",
    "last_name": "family_name",
}


class UnacceptableError(OAuth2Error):  # type: ignore[misc]  # it has no types
    """The provider's response is invalid. The message is our own, so it may be logged."""


class OrganisationAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # it has no types
    @cached_property
    def openid_config(self) -> dict[str, Any]:
        """Return the discovery document. Raises UnacceptableError if it isn't valid."""
        document = self._fetch(f"{settings.OIDC_ISSUER}/.well-known/openid-configuration")
        if any(not isinstance(document.get(name), str) for name in REQUIRED_ENDPOINTS):
            raise UnacceptableError("The discovery document lacks a URL")
        if document["issuer"].rstrip("/") != settings.OIDC_ISSUER:
            raise UnacceptableError("The discovery document belongs to another issuer")
        return document

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return absolute_url(request, reverse("single-sign-on-callback"))

    def complete_login(
        self, request: HttpRequest, app: Any, token: Any, *, response: dict[str, Any], **more: Any
    ) -> Any:
        """Return the login for the ID token, with further data from the user info."""
        claims = self._claims(response.get("id_token"))
        info: dict[str, Any] = {}
        if address := self.openid_config.get("userinfo_endpoint"):
            info = self._fetch(address, Authorization=f"Bearer {token.token}")
            if info.get("sub") != claims["sub"]:
                raise UnacceptableError("The user info belongs to another user")
        data = {"claims": claims, "info": info}
        return self.get_provider().sociallogin_from_response(request, data)

    def _claims(self, id_token: Any) -> dict[str, Any]:
        """Return the ID token's claims. Raises UnacceptableError if it is invalid."""
        try:
            keys = jwt.PyJWKSet.from_dict(self._fetch(self.openid_config["jwks_uri"]))
            claims = jwt.decode(
                id_token,
                _key_of(keys, jwt.get_unverified_header(id_token)),
                algorithms=ALGORITHMS,
                audience=settings.OIDC_CLIENT_ID,
                issuer=self.openid_config["issuer"],
                leeway=LEEWAY_S,
                options={"require": REQUIRED_CLAIMS},
            )
        except (jwt.PyJWTError, TypeError) as error:
            raise UnacceptableError("The ID token is invalid") from error
        if claims.get("azp", settings.OIDC_CLIENT_ID) != settings.OIDC_CLIENT_ID:
            raise UnacceptableError("The ID token is for another client")
        return claims

    def _fetch(self, url: str, **headers: str) -> dict[str, Any]:
        """Return the JSON object at a URL. Raises UnacceptableError and requests' errors."""
        with get_adapter().get_requests_session() as session:
            response = session.get(url, headers=headers)
            response.raise_for_status()
            document = response.json()
        if not isinstance(document, dict):
            raise UnacceptableError("The provider did not return a JSON object")
        return document


class OrganisationProvider(OpenIDConnectProvider):  # type: ignore[misc]  # it has no types
    """Extract the data we use from the `claims` of the ID token and the user `info`."""

    id = "organisation"
    oauth2_adapter_class = OrganisationAdapter

    def sociallogin_from_response(self, request: HttpRequest, response: dict[str, Any]) -> Any:
        """Return the login. Its `claimed_email` is the claimed address, or ""."""
        login = super().sociallogin_from_response(request, response)
        login.claimed_email = login.account.extra_data["email"]
        return login

    def extract_uid(self, data: dict[str, Any]) -> str:
        return str(data["claims"]["sub"])

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data to store. A second factor counts only if the signed token says so."""
        claims = data["claims"]
        email = {**data["info"], **claims}.get("email")
        names = self.extract_common_fields(data)
        return {
            "first_name": names["first_name"],
            "last_name": names["last_name"],
            "email": email.replace("\0", "") if isinstance(email, str) else "",
            "nonce": claims.get("nonce", ""),
            "groups": map_groups({**data["info"], **claims}),
            "second_factor": claims_second_factor(claims),
        }

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, str]:
        claims = {**data["info"], **data["claims"]}
        names = {ours: str(claims.get(theirs) or "") for ours, theirs in NAME_CLAIMS.items()}
        if not names["first_name"] and not names["last_name"]:
            names["first_name"] = str(claims.get("name") or "")
        return {ours: name.replace("\0", "") for ours, name in names.items()}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[Any]:
        """Return an empty list: an e-mail address must not open an account."""
        return []


provider_classes = [OrganisationProvider]


def _key_of(keys: jwt.PyJWKSet, header: dict[str, Any]) -> jwt.PyJWK:
    key_id = header.get("kid")
    matches = [key for key in keys.keys if key_id is None or key.key_id == key_id]
    if len(matches) != 1:
        raise jwt.InvalidKeyError("No such key")
    return matches[0]
