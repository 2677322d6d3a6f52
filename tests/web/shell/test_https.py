"""Requests over http to a dashboard that requires https."""

import logging
from typing import Any

import pytest
from django.test import Client

from dashboard.web.shell.https import NO_PROTO, PROXY_NOT_TRUSTED
from tests.support.html import response_text

LOGIN = "/accounts/login/"
OURS = {"SERVER_SOFTWARE": "gunicorn/27.0.1"}
"""How `manage.py serve` identifies itself."""


@pytest.fixture(autouse=True)
def _https_alone(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.BEHIND_PROXY = True, False


def get(path: str = "/accounts/login/", **environ: Any) -> Any:
    return Client().get(path, **environ)


def test_without_a_proxy_the_page_names_both_settings() -> None:
    response = get(**OURS)
    page = response_text(response)
    assert response.status_code == 503
    assert "set BEHIND_PROXY=true, or set SECURE_COOKIES=false" in page


def test_an_untrusted_tls_proxy_causes_no_loop() -> None:
    response = get(**OURS, HTTP_X_FORWARDED_PROTO="https")
    assert response.status_code == 503
    assert "uses https, but BEHIND_PROXY is not set" in response_text(response)


def test_the_log_names_the_variable_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "dashboard")
    client = Client(HTTP_X_FORWARDED_PROTO="https")
    for _ in range(3):
        client.get("/")
    (line,) = [message for message in caplog.messages if "BEHIND_PROXY" in message]
    assert line == PROXY_NOT_TRUSTED


def test_a_page_at_another_url_is_logged_once(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SECURE_SSL_REDIRECT = False
    settings.HAS_PUBLIC_URL, settings.PUBLIC_URL = True, "https://desk.example:8443"
    settings.ALLOWED_HOSTS = ["desk.example"]
    caplog.set_level(logging.WARNING, "dashboard.web")
    client = Client(SERVER_NAME="desk.example")
    for _ in range(2):
        client.get(LOGIN, secure=True, headers={"Host": "desk.example:8443"})
        client.get("/health/live", headers={"Host": "10.0.0.7"})
    assert caplog.messages == []
    for _ in range(2):
        client.get(LOGIN, secure=True, headers={"Host": "desk.example"})
    (line,) = caplog.messages
    assert line.startswith("A page was opened at https://desk.example, but PUBLIC_URL is https://")


def test_redirects_to_https_lead_to_public_url(settings: Any) -> None:
    settings.SECURE_SSL_HOST = "desk.example:8443"
    assert get().url == f"https://desk.example:8443{LOGIN}"


@pytest.mark.parametrize(
    "environ", [{}, OURS | {"HTTP_X_FORWARDED_PROTO": "http"}], ids=["another server", "port 80"]
)
def test_a_redirect_that_may_lead_to_https_is_sent(environ: dict[str, str]) -> None:
    response = get(**environ)
    assert (response.status_code, response.url) == (301, "https://testserver/accounts/login/")


def test_a_trusted_proxy_redirects_http_to_https(settings: Any) -> None:
    settings.BEHIND_PROXY = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert get(**OURS, HTTP_X_FORWARDED_PROTO="http").status_code == 301


@pytest.mark.parametrize(
    "headers", [{}, {"HTTP_X_FORWARDED_PROTO": "HTTPS"}], ids=["none", "other"]
)
@pytest.mark.django_db
def test_a_proxy_without_https_header_causes_no_loop(
    headers: dict[str, str], settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.BEHIND_PROXY = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    client = Client(**headers)
    response = [client.get("/accounts/login/") for _ in range(3)][-1]
    assert response.status_code == 503
    assert "Configure it to send X-Forwarded-Proto: https" in response_text(response)
    assert caplog.messages.count(NO_PROTO) == 1
    assert Client(HTTP_X_FORWARDED_PROTO="https").get("/accounts/login/").status_code == 200


@pytest.mark.django_db
def test_probes_and_https_requests_are_served() -> None:
    assert get("/health/live", **OURS).status_code == 200
    assert get(**OURS, secure=True).status_code == 200
