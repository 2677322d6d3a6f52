"""Client of a Pressroom server. The token is never an argument and never printed."""

import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any
from uuid import uuid4

import httpx

from . import URL, VERSION

TRIES, TIMEOUT_S, MAX_PAUSE_S = 3, 40.0, 60.0
SERVICE = "pressroom"
TOKEN = re.compile("prt_[0-9a-f]{56}")
logger = logging.getLogger("httpx")
"""It logs each request, without headers."""


class CLIError(Exception):
    """End a command with a sentence and an exit code."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code


class ServerAwayError(CLIError):
    """The server is away or restarts."""


FAILED, USAGE, SIGN_IN, UNKNOWN = 1, 2, 4, 6


def base_url() -> str:
    text = os.environ.get("PRESSROOM_URL") or URL
    with suppress(httpx.InvalidURL):
        url = httpx.URL(text)
        if url.scheme in ("http", "https") and url.host:
            return text.rstrip("/")
    raise CLIError("Set PRESSROOM_URL to the URL of Pressroom, with https://.", USAGE)


@contextmanager
def key_store(code: int) -> Iterator[Any]:
    """Yield the keyring module. Raises CLIError with this code if it can't be used."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        detail = "Set PRESSROOM_TOKEN, or install pressroom-cli[keyring] to store a token."
        raise CLIError(detail, code) from None
    try:
        yield keyring
    except keyring.errors.KeyringError as error:
        raise CLIError(f"Set PRESSROOM_TOKEN. The key store failed: {error}", code) from None


def stored_token() -> str:
    if token := os.environ.get("PRESSROOM_TOKEN", "").strip():
        return token
    with key_store(SIGN_IN) as store:
        if token := store.get_password(SERVICE, base_url()):
            return str(token)
    raise CLIError("Set PRESSROOM_TOKEN, or store a token: see --help.", SIGN_IN)


class PressroomServer:
    def __init__(self, transport: httpx.BaseTransport | None = None) -> None:
        self.http = httpx.Client(
            base_url=f"{base_url()}/api/1/",
            headers={"User-Agent": f"pressroom-cli {VERSION}"},
            timeout=TIMEOUT_S,
            transport=transport,
        )

    def sign_in(self, token: str) -> None:
        """Send a token from now on. Raises CLIError if it can't be one."""
        if not TOKEN.fullmatch(token):
            raise CLIError("This isn’t a Pressroom token, or a part of it is missing.", SIGN_IN)
        self.http.headers["Authorization"] = f"Bearer {token}"

    def get(self, path: str, **params: Any) -> dict[str, Any]:
        return self._send("GET", path, params=params)

    def get_all(self, path: str, field: str, **params: Any) -> dict[str, Any]:
        """Return a response with the rows of all pages in a field."""
        body = self.get(path, **params)
        while body["next_cursor"]:
            rest = self.get(path, **params, cursor=body["next_cursor"])
            body = {**rest, field: body[field] + rest[field]}
        return body

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a change. Retries are safe: they repeat its idempotency key."""
        return self._send("POST", path, json=body, headers={"Idempotency-Key": str(uuid4())})

    def _send(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        for attempt in range(1, TRIES + 1):
            pause_s = float(attempt)
            try:
                response = self.http.request(method, path, **options)
                is_json = "json" in response.headers.get("Content-Type", "")
                if response.is_server_error and not is_json:
                    # A proxy responded, or Pressroom without its database.
                    raise httpx.ProxyError(response.reason_phrase)
                if "Retry-After" not in response.headers or attempt == TRIES:
                    return _body(response)
                seconds = response.headers["Retry-After"]
                if seconds.isdecimal():  # A proxy may send a date.
                    pause_s = min(float(seconds), MAX_PAUSE_S)
            except httpx.TransportError as error:
                logger.info("%s %s: %s", method, path, type(error).__name__)
            if attempt < TRIES:
                time.sleep(pause_s)
        code = FAILED if method == "GET" else UNKNOWN
        raise ServerAwayError(f"{base_url()} didn’t respond.", code)


def _body(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON of a response. Raises CLIError with what to do next."""
    kind = "json" if response.is_success else "problem+json"
    try:
        body = dict(response.json())
    except (TypeError, ValueError):
        body = {}
    if not body or kind not in response.headers.get("Content-Type", ""):
        detail = f"{base_url()} returned {response.status_code}. Check PRESSROOM_URL."
        raise CLIError(detail, FAILED)
    if response.is_success:
        return body
    errors = [f"\n  {error['pointer']}: {error['detail']}" for error in body.get("errors", [])]
    changes = [
        f"\n  {change['what']}: {change['then']} → {change['now']}"
        for change in body.get("changes", [])
    ]
    named = "".join([*errors, *changes])
    sentence = f"{body.get('detail', '')}{named}\n{body.get('next', '')}".strip()
    code = {400: USAGE, 401: SIGN_IN, 422: USAGE}.get(response.status_code, FAILED)
    if response.status_code == httpx.codes.CONFLICT and "Retry-After" in response.headers:
        code = UNKNOWN  # The first try is still in progress.
    raise CLIError(sentence, code)
