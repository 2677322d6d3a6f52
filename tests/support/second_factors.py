"""A user's second factors: an authenticator app, and a software key for passkeys."""

import hashlib
import hmac
import json
import struct
import time
from base64 import b32decode, urlsafe_b64encode
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from django.contrib.auth.models import User
from django.test import Client
from fido2 import cbor
from fido2.cose import ES256

from tests.conftest import logged_in
from tests.support.html import elements

LOGIN, STEP = "/accounts/login/", "/accounts/login/code/"
APP, CODES = "/accounts/settings/app/", "/accounts/settings/codes/"
PASSKEY = "/accounts/settings/passkey/"
HOST = "desk.localhost"
"""A host name, as browsers create no passkeys for an IP address. As a name of the local machine, it
needs no https."""
WRONG_CODES = [*(f"{number:06}" for number in range(10)), "873214"]
"""Codes that no app of a test shows while the test runs."""


def code_of(secret: str, *, steps: int = 0) -> str:
    """Return the code that an app shows in `steps` times 30 seconds. Source: RFC 6238."""
    counter = struct.pack(">Q", int(time.time()) // 30 + steps)
    digest = hmac.new(b32decode(secret), counter, hashlib.sha1).digest()
    at = digest[-1] & 15
    number = struct.unpack(">I", digest[at : at + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def new_secret(client: Client) -> str:
    """Open the page that sets up an app; return its secret, which is new at each visit.

    Skips a secret that has two equal codes within these minutes, or one of WRONG_CODES.
    """
    while True:
        html = client.get(APP).text
        secret = html.partition('id="secret">')[2].partition("<")[0]
        codes = [code_of(secret, steps=steps) for steps in range(-4, 8)]
        if len({*codes, *WRONG_CODES}) == len(codes) + len(WRONG_CODES):
            return secret


def sign_in(
    client: Client,
    name: str,
    password: str = "",
    *,
    headers: dict[str, str] | None = None,
    **more: str,
) -> Any:
    """Send the login form. The default password is the name."""
    form = {"username": name, "password": password or name, **more}
    return client.post(LOGIN, form, headers=headers)


def sign_in_with_code(client: Client, code: str, name: str = "vera", **more: str) -> Any:
    """Sign in with the password, then send a code; return the response to the code."""
    sign_in(client, name, **more)
    return client.post(STEP, {"code": code})


def is_signed_in(client: Client) -> bool:
    return client.get("/find/").status_code == 200


def confirm(client: Client, person: User) -> None:
    """Reauthenticate with the user's password, if any, as each change of a factor requires."""
    if not person.has_usable_password():
        return
    answer = client.post("/accounts/again/", {"password": person.username})
    assert answer.status_code == 302


def set_up_app(client: Client, person: User) -> str:
    """Set up an app with its previous code; return its secret. The current code stays unused."""
    confirm(client, person)
    secret = new_secret(client)
    answer = client.post(APP, {"code": code_of(secret, steps=-1)})
    if answer.status_code != 302:  # The time step ended meanwhile, and that code expired.
        answer = client.post(APP, {"code": code_of(secret, steps=-1)})
    assert answer.url == CODES, answer.content
    return secret


def recovery_codes(client: Client) -> list[str]:
    """View the recovery codes, which is possible only once."""
    html = client.get(CODES).text
    return html.partition('<pre class="code">')[2].partition("</pre>")[0].split()


def with_a_second_factor(user: User) -> Client:
    """Return a browser where the user signed in with an app's code."""
    secret = set_up_app(logged_in(user), user)
    client = Client()
    assert sign_in_with_code(client, code_of(secret), user.username).status_code == 302
    return client


def _b64(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def _asked(html: str) -> Any:
    boxes = [element.attributes for element in elements(html, "div")]
    options = next(item for item in boxes if "data-passkey-options" in item)
    return json.loads(options["data-passkey-options"])["publicKey"]


@dataclass
class Key:
    """A software security key: acts as browser and device together."""

    id: bytes = field(default_factory=lambda: token_bytes(16))
    private: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def attestation(self, html: str) -> str:
        """Respond to a page that requests a new passkey."""
        public = cbor.encode(dict(ES256.from_cryptography_key(self.private.public_key())))
        of = bytes(16) + struct.pack(">H", len(self.id)) + self.id + public
        data = self._data(b"\x45") + of
        attested = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        client_data = self._client_data("webauthn.create", _asked(html))
        return self._credential(clientDataJSON=client_data, attestationObject=attested)

    def assertion(self, html: str) -> str:
        """Respond to a page that requests an existing passkey."""
        data, client_data = self._data(b"\x05"), self._client_data("webauthn.get", _asked(html))
        signed = data + hashlib.sha256(client_data).digest()
        signature = self.private.sign(signed, ec.ECDSA(SHA256()))
        return self._credential(
            clientDataJSON=client_data, authenticatorData=data, signature=signature
        )

    def _data(self, flags: bytes) -> bytes:
        return hashlib.sha256(HOST.encode()).digest() + flags + struct.pack(">I", 0)

    def _client_data(self, kind: str, options: Any) -> bytes:
        data = {"type": kind, "challenge": options["challenge"], "origin": f"http://{HOST}"}
        return json.dumps(data).encode()

    def _credential(self, **response: bytes) -> str:
        return json.dumps(
            {
                "id": _b64(self.id),
                "rawId": _b64(self.id),
                "type": "public-key",
                "clientExtensionResults": {},
                "response": {name: _b64(value) for name, value in response.items()},
            }
        )


def browser_at_a_name() -> Client:
    """Return a browser that opens the dashboard by a host name."""
    return Client(headers={"Host": HOST})


def add_passkey(client: Client, person: User, name: str = "Blue key") -> Key:
    """Add a passkey; return the key with it."""
    confirm(client, person)
    key = Key()
    html = client.get(PASSKEY).text
    answer = client.post(PASSKEY, {"name": name, "credential": key.attestation(html)})
    assert answer.status_code == 302, answer.content
    return key
