"""Multipart forms: read the fields, reject files before anything is stored."""

from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler


class FileRefusedError(BadRequest):
    """A form contained a file. No form of ours has a file field."""


class RejectFilesHandler(FileUploadHandler):
    """Reject a body over the limit before it is read, and a file before its first byte.

    Django limits the fields of a multipart body, not its files, and parses it before the CSRF
    check, thus for anyone. Source: Django's documentation, File Uploads.
    """

    def handle_raw_input(
        self,
        input_data: Any,
        META: Any,  # noqa: N803  # Django's
        content_length: int,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Raise RequestDataTooBig for a body over the limit."""
        if content_length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise RequestDataTooBig("Request body exceeded settings.DATA_UPLOAD_MAX_MEMORY_SIZE.")

    def new_file(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise FileRefusedError."""
        raise FileRefusedError("Files are not accepted.")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Do nothing: required by Django, but `new_file` always raises."""

    def file_complete(self, file_size: int) -> None:
        """Do nothing: required by Django, but `new_file` always raises."""
