"""Read the body of a request that is not a form, up to a limit."""

from django.http import HttpRequest
from gunicorn.http.errors import ParseException


class BodyTooLargeError(Exception):
    """The body is over the limit."""


class IncompleteBodyError(Exception):
    """The body is shorter than its Content-Length, or a chunk of it is malformed."""


def read_body(request: HttpRequest, *, at_most: int) -> bytes:
    """Return the body, reading at most `at_most` bytes.

    Raises BodyTooLargeError or IncompleteBodyError.
    """
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isdecimal() and int(length) > at_most:
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
    if not ends_itself and length.isdecimal() and len(body) < int(length):
        raise IncompleteBodyError
    return body
