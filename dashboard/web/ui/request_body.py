"""Read the body of a request that is not a form, up to a limit."""

import re

from django.http import HttpRequest
from gunicorn.http.errors import ParseException


class BodyTooLargeError(Exception):
    """The body is over the limit."""


class IncompleteBodyError(Exception):
    """The body is shorter than its Content-Length, or a chunk of it is malformed."""


def content_length(request: HttpRequest) -> int | None:
    """Return the size of the body in bytes, as announced; None if it isn't."""
    length = request.META.get("CONTENT_LENGTH") or ""
    return int(length) if re.fullmatch(r"\d{1,18}", length) else None


def read_body(request: HttpRequest, *, at_most: int) -> bytes:
    """Return the body, reading at most `at_most` bytes.

    Raises BodyTooLargeError or IncompleteBodyError.
    """
    length = content_length(request)
    if length is not None and length > at_most:
        raise BodyTooLargeError
    # Django reads no body without a Content-Length; wsgi.input_terminated allows it.
    is_chunked = "chunked" in request.headers.get("Transfer-Encoding", "").lower()
    ends_itself = is_chunked and request.META.get("wsgi.input_terminated")
    source = request.META["wsgi.input"] if ends_itself else request
    try:
        body: bytes = source.read(at_most + 1)
    except (OSError, ParseException) as error:
        raise IncompleteBodyError from error
    if len(body) > at_most:
        raise BodyTooLargeError
    if not ends_itself and length is not None and len(body) < length:
        raise IncompleteBodyError
    return body
