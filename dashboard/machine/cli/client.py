"""Client of a Pressroom server. The token is never an argument and never printed."""

import os
import sys
import time
from importlib import import_module
from typing import Any
from uuid import uuid4

import httpx

from . import URL, VERSION

TRIES, TIMEOUT_S, MAX_PAUSE_S = 3, 40.0, 60.0
SERVICE = "pressroom"


class CLIError(Exception):
    """End a command with a sentence and an exit code."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code


FAILED, USAGE, SIGN_IN, UNKNOWN = 1, 2, 4, 6


def base_url() -> str:
    if url := os.environ.get("PRESSROOM_URL") or URL:
        return url.rstrip("/")
    raise CLIError("Set PRESSROOM_URL to the URL of Pressroom.", USAGE)


def key_store() -> Any:
    """Return the keyring module; None if it isn't installed."""
    try:
        return import_module("keyring")
    except ImportError:
        return None


def stored_token() -> str:
    if token := os.environ.get("PRESSROOM_TOKEN", "").strip():
        return token
    store = key_store()
    if store and (token := store.get_password(SERVICE, base_url())):
        return str(token)
    raise CLIError("Set PRESSROOM_TOKEN, or store a token: see --help.", SIGN_IN)


class PressroomServer:
    def __init__(
        self,
        token: str,
        transport: httpx.BaseTransport | None = None,
        *,
        is_debugging: bool = False,
    ) -> None:
        self.is_debugging = is_debugging
        headers = {"Authorization": f"Bearer {token}", "User-Agent": f"pressroom-cli {VERSION}"}
        self.http = httpx.Client(
            base_url=f"{base_url()}/api/1/",
            headers=headers,
            timeout=TIMEOUT_S,
            transport=transport,
        )

    def get(self, path: str, **params: Any) -> dict[str, Any]:
        return self._send("GET", path, params=params)

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a change. Retries are safe: they repeat its idempotency key."""
        return self._send("POST", path, json=body, headers={"Idempotency-Key": str(uuid4())})

    def _send(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        for attempt in range(1, TRIES + 1):
            try:
                response = self.http.request(method, path, **options)
            except httpx.TransportError as error:
                self._debug(f"{method} {path}: {type(error).__name__}")
                if attempt < TRIES:
                    time.sleep(attempt)
                continue
            self._debug(f"{method} {path}: {response.status_code}")
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS or attempt == TRIES:
                return _body(response)
            time.sleep(min(float(response.headers.get("Retry-After", 1)), MAX_PAUSE_S))
        code = FAILED if method == "GET" else UNKNOWN
        raise CLIError(f"{base_url()} didn’t respond.", code)

    def _debug(self, line: str) -> None:
        if self.is_debugging:
            print(line, file=sys.stderr)  # noqa: T201


def _body(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON of a response. Raises CLIError with what to do next."""
    try:
        body = dict(response.json())
    except ValueError:
        raise CLIError(f"No response of Pressroom: {response.status_code}.", FAILED) from None
    if response.is_success:
        return body
    errors = [f"\n  {error['pointer']}: {error['detail']}" for error in body.get("errors", [])]
    changes = [
        f"\n  {change['what']}: {change['then']} → {change['now']}"
        for change in body.get("changes", [])
    ]
    named = "".join([*errors, *changes])
    codes = {400: USAGE, 401: SIGN_IN, 422: USAGE}
    sentence = f"{body.get('detail', '')}{named}\n{body.get('next', '')}".strip()
    raise CLIError(sentence, codes.get(response.status_code, FAILED))
