"""Check, in every test of the suite, that no key is in a page or a log line."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse

SERVICE_KEYS = (
    "fake-service-key",
    "key-0123456789-never-shown",
    "key-of-the-fault-matrix-0123456789",
    "a-key-of-the-tests",
)
"""Keys of the suite's fake services."""
ISSUED = re.compile(r"prs_[\w-]{43}|prt_[0-9a-f]{56}")
"""A key of the embedded API, or a token. Only the page that creates one may show it."""
MAY_SHOW = ("/admin/embedded_api/apikey/", "/accounts/settings/tokens/")


@cache
def _keys(_secret_key: str) -> tuple[str, ...]:
    # The embedded API's keys can be imported only after Django is set up.
    from dashboard.embedded_api.keys import internal_key

    return (*SERVICE_KEYS, internal_key())


def secrets_in(text: str) -> list[str]:
    """Return the keys in a text."""
    return [key for key in _keys(settings.SECRET_KEY) if key in text] + ISSUED.findall(text)


def secret_check_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Fail the test if a page contains a key."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not response.streaming and not request.path.startswith(MAY_SHOW):
            text = response.content.decode(errors="replace") + str(response.headers)
            assert secrets_in(text) == [], request.path
        return response

    return middleware


class _SecretCheckHandler(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{record.getMessage()} {getattr(record, 'facts', '')} {record.args}"
        if record.exc_info and record.exc_info[1]:
            line += repr(record.exc_info[1])
        if secrets_in(line):
            self.lines.append(line)


@contextmanager
def no_secret_in_the_log(logger: logging.Logger | None = None) -> Iterator[None]:
    """Fail if a line logged in the block contains a key."""
    handler, logger = _SecretCheckHandler(), logger or logging.getLogger()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
    assert handler.lines == []
