"""Multipart forms: files are rejected and never stored."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.support.html import response_text

PATHS = [
    "/people/",
    "/accounts/login/",
    "/metrics",
    "/pages/new/draft/",
    "/service/policy-report/",
    "/admin/login/",
]
MULTIPART = "multipart/form-data; boundary=x"
FILE = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nabc\r\n--x--\r\n'


@pytest.fixture(autouse=True)
def _nowhere_to_store(settings: Any, tmp_path: Path) -> None:
    """Make a request fail if it stores an uploaded file."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "missing"


def strict() -> Client:
    """Return a browser with CSRF checks and without a session."""
    return Client(enforce_csrf_checks=True)


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_a_rejected_file_stores_nothing(path: str) -> None:
    large = SimpleUploadedFile("large.bin", b"a" * 2_600_000)
    response = strict().post(path, {"file": large})
    assert response.status_code == 400
    assert "Remove the file, then try again." in response_text(response)


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_a_multipart_body_over_the_limit_is_not_read(path: str) -> None:
    unread = Unread()
    head = {"CONTENT_TYPE": MULTIPART, "CONTENT_LENGTH": "150000000", "wsgi.input": unread}
    response = strict().generic("POST", path, **head)
    assert response.status_code == 413
    assert unread.was_read == 0


@pytest.mark.django_db
def test_fields_before_a_file_do_not_let_it_in() -> None:
    fields = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    response = strict().generic("POST", "/people/", fields + FILE, content_type=MULTIPART)
    assert response.status_code == 400


@pytest.mark.django_db
def test_a_multipart_form_without_files_is_accepted() -> None:
    sent = {"username": "nobody", "password": "wrong"}
    response = Client().post("/accounts/login/", sent)
    assert response.status_code == 200
    assert "Incorrect username or password." in response_text(response)


class Unread:
    """A body that counts how much of it was read."""

    was_read = 0

    def read(self, size: int = -1) -> bytes:
        self.was_read += 1
        return b""

    readline = read
