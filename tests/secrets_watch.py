"""No key is on any page and in any log line: looked for in every test of the suite."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.http import HttpRequest, HttpResponse

SERVICE_KEYS = (
    "far-end-key",
    "key-0123456789-never-shown",
    "key-of-the-fault-matrix-0123456789",
    "a-key-of-the-tests",
)
"""Those of the suite's far ends."""
ISSUED = re.compile(r"prs_[\w-]{43}")
"""A key of the embedded API. The page that shows a new one once is the only one to hold it."""
MAY_SHOW = "/admin/embedded_api/apikey/"


def secrets_in(text: str) -> list[str]:
    """Return the keys that stand in a text."""
    from dashboard.embedded_api.keys import internal_key

    known = (*SERVICE_KEYS, internal_key())
    return [key for key in known if key in text] + ISSUED.findall(text)


def keeps_secrets(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Fail the test whose page holds a key: a middleware of the suite's settings."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not response.streaming and not request.path.startswith(MAY_SHOW):
            text = response.content.decode(errors="replace") + str(response.headers)
            assert secrets_in(text) == [], request.path
        return response

    return middleware


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        told = f"{record.getMessage()} {getattr(record, 'facts', '')} {record.args}"
        if record.exc_info and record.exc_info[1]:
            told += repr(record.exc_info[1])
        if secrets_in(told):
            self.found.append(told)


@contextmanager
def no_secret_in_the_log(logger: logging.Logger | None = None) -> Iterator[None]:
    """Fail where a line that was logged in the block holds a key."""
    lines, logger = _Lines(), logger or logging.getLogger()
    logger.addHandler(lines)
    try:
        yield
    finally:
        logger.removeHandler(lines)
    assert lines.found == []
