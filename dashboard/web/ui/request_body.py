"""Read request bodies up to a limit, and reject files before anything is stored."""

import re
from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from gunicorn.http.errors import ParseException


class BodyTooLargeError(Exception):
    """The body is over the limit."""


class IncompleteBodyError(Exception):
    """The body is shorter than its Content-Length, or one of its chunks is malformed."""


def content_length(request: HttpRequest) -> int | None:
    """Return the announced size of the body in bytes; None if there is none."""
    length = request.META.get("CONTENT_LENGTH") or ""
    return int(length) if re.fullmatch(r"\d{1,18}", length) else None


def read_body(request: HttpRequest, *, at_most: int) -> bytes:
    """Return the body, reading at most `at_most` bytes.

    Raises BodyTooLargeError or IncompleteBodyError.
    """
    length = content_length(request)
    if length is not None and length > at_most:
        raise BodyTooLargeError
    # Without a Content-Length, Django reads no body. With wsgi.input_terminated we can.
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


class FileRefusedError(BadRequest):
    """A form contained a file. No form of ours has a file field."""


class RejectFilesHandler(FileUploadHandler):
    """Rejects an oversized multipart body before reading it, and a file before its first byte.

    Django limits the fields of a multipart body but not its files. It parses the body before the
    CSRF check, so anyone can send one. Source: Django's documentation, File Uploads.
    """

    def handle_raw_input(
        self,
        input_data: Any,
        META: Any,  # noqa: N803  # Django's
        content_length: int,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if content_length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise RequestDataTooBig("Request body exceeded settings.DATA_UPLOAD_MAX_MEMORY_SIZE.")

    def new_file(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise FileRefusedError("Files are not accepted.")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Do nothing: required by Django, but `new_file` always raises."""

    def file_complete(self, file_size: int) -> None:
        """Do nothing: required by Django, but `new_file` always raises."""
