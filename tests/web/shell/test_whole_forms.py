"""An incomplete form is rejected and changes nothing."""

from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.accounts.models import Preferences
from tests.conftest import logged_in
from tests.support.html import response_text

FORM = "application/x-www-form-urlencoded"
PART = (
    b'--x\r\nContent-Disposition: form-data; name="time_zone"\r\n\r\nAsia/Tokyo\r\n'
    b'--x\r\nContent-Disposition: form-data; name="theme"\r\n\r\ndark\r\n'
)


def post(client: Client, path: str, body: bytes, *, length: int, kind: str = FORM) -> Any:
    head = {"CONTENT_LENGTH": str(length), "CONTENT_TYPE": kind, "wsgi.input": BytesIO(body)}
    return client.generic("POST", path, **head)


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"time_zone=Asia%2FTokyo&theme=dark", FORM), (PART, "multipart/form-data; boundary=x")],
    ids=["urlencoded", "multipart"],
)
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "htmx"])
def test_an_incomplete_form_changes_nothing(
    body: bytes, kind: str, headers: dict[str, str], vera: User
) -> None:
    client = logged_in(vera)
    client.defaults |= {f"HTTP_{k.upper().replace('-', '_')}": v for k, v in headers.items()}
    response = post(client, "/accounts/settings/", body, length=len(body) + 40, kind=kind)
    assert response.status_code == 400
    assert "The form arrived incomplete" in response_text(response)
    assert not Preferences.objects.filter(theme="dark").exists()


def test_a_complete_form_is_accepted(vera: User) -> None:
    body = b"username=vera&password=wrong"
    response = post(Client(), "/accounts/login/", body, length=len(body))
    assert response.status_code == 200
    assert "Incorrect username or password." in response_text(response)


@pytest.mark.django_db
def test_an_incomplete_form_is_rejected_before_its_token() -> None:
    client = Client(enforce_csrf_checks=True)
    response = post(client, "/accounts/login/", b"username=ve", length=100)
    assert response.status_code == 400
