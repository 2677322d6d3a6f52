"""A small, real OpenID Connect provider of an organisation, which tests can make misbehave."""

import hashlib
import json
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET = "pressroom", "secret-of-the-provider"


@cache
def key_pair(name: str) -> rsa.RSAPrivateKey:
    """Return the key pair of a name. It is cached, because generating one is slow."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Organisation:
    """The provider. Its responses follow the standard until a test changes them."""

    url: str = ""
    claims: dict[str, Any] = field(
        default_factory=lambda: {"sub": "u-1", "groups": ["editors"], "amr": ["pwd"]}
    )
    """Claims about the person; the rest of an ID token comes from the sign-in."""
    info: dict[str, Any] = field(
        default_factory=lambda: {
            "sub": "u-1",
            "preferred_username": "olga",
            "given_name": "Olga",
            "family_name": "Rey",
            "email": "vera@kestrel.example",
            "email_verified": True,
        }
    )
    over: dict[str, Any] = field(default_factory=dict)
    """Wrong claims that replace those of the ID token."""
    discovery: dict[str, Any] = field(default_factory=dict)
    signs_with: str = "the provider's"
    algorithm: str = "RS256"
    paths: list[str] = field(default_factory=list)
    """The path of each request."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def authorise(self, address: str) -> str:
        query = dict(parse_qsl(urlsplit(address).query))
        assert (query["client_id"], query["response_type"]) == (CLIENT_ID, "code")
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self.codes[code] = query
        return f"{query['redirect_uri']}?code={code}&state={query['state']}"

    def answer(self, path: str, body: str, authorization: str) -> tuple[int, Any]:
        self.paths.append(path)
        match path:
            case "/.well-known/openid-configuration":
                return 200, self._discovery() | self.discovery
            case "/keys":
                return 200, {"keys": [self._public_key()]}
            case "/token":
                return self._token({name: item[0] for name, item in parse_qs(body).items()})
            case "/userinfo" if authorization == "Bearer an-access-token":
                return 200, self.info
        return 404, {"error": "not_found"}

    def _discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def _public_key(self) -> Any:
        public = key_pair("the provider's").public_key()
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(public))
        return key | {"kid": "k1", "alg": "RS256", "use": "sig"}

    def _token(self, sent: dict[str, str]) -> tuple[int, Any]:
        begun = self.codes.pop(sent.get("code", ""), None)
        if begun is None or sent.get("client_secret") != CLIENT_SECRET:
            return 400, {"error": "invalid_grant"}
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        assert urlsafe_b64encode(digest).rstrip(b"=").decode() == begun["code_challenge"]
        now = int(time.time())
        message = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300}
        message |= {"nonce": begun["nonce"], **self.claims, **self.over}
        message = {name: value for name, value in message.items() if value is not None}
        key: Any = CLIENT_SECRET * 3 if self.algorithm == "HS256" else key_pair(self.signs_with)
        signed = jwt.encode(
            message, None if self.algorithm == "none" else key, self.algorithm, {"kid": "k1"}
        )
        return 200, {"access_token": "an-access-token", "token_type": "Bearer", "id_token": signed}


@contextmanager
def answering() -> Iterator[Organisation]:
    organisation = Organisation()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            path, authorization = urlsplit(self.path).path, self.headers.get("authorization", "")
            status, body_out = organisation.answer(path, body, authorization)
            content = json.dumps(body_out).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = handle_any  # noqa: N815  # named by http.server

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    organisation.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield organisation
    finally:
        server.shutdown()
        server.server_close()
