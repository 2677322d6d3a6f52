"""The dashboard's own calls of the service: in process, not traced."""

import threading
from typing import Any

import httpx
import pytest
from django.core.signals import request_finished, request_started
from django.db import connection, transaction
from django.urls import get_script_prefix, get_urlconf, set_script_prefix, set_urlconf

from dashboard.contract.pages import PageRequest
from dashboard.embedded_api.models import Page
from dashboard.embedded_api.transport import EmbeddedTransport
from tests.support.embedded_api_factories import PAGE_BODY, make_audience, make_page

pytestmark = pytest.mark.django_db

ODD_IDS = ["a/b", "a%2Fb", "..", ".", "a b", "ü🎈", "?x=1#y", "a\nb", "/", "a//b", "%", "a;b,c&d=e"]


@pytest.fixture
def inside() -> httpx.Client:
    """An HTTP client that reaches the service in process, with the dashboard's key."""
    base_url, api_key, transport = EmbeddedTransport.for_dashboard()
    return httpx.Client(base_url=base_url, headers={"x-api-key": api_key}, transport=transport)


def encoded(text: str) -> str:
    """Return the id with every byte percent-encoded, so that no client normalizes it."""
    return "".join(f"%{byte:02X}" for byte in text.encode())


def test_the_dashboards_key_opens_the_default_tenant(inside: httpx.Client) -> None:
    page = make_page()
    assert [item["pageId"] for item in inside.get("/v0/pages").json()["items"]] == [page.id]


def test_another_key_is_refused_in_process_too(inside: httpx.Client) -> None:
    assert inside.get("/v0/pages", headers={"x-api-key": "guess"}).status_code == 401


@pytest.mark.parametrize("page_id", ODD_IDS)
def test_an_id_of_any_characters_finds_its_page(inside: httpx.Client, page_id: str) -> None:
    audience = make_audience(make_page(id=page_id), id=page_id)
    path = f"/v0/pages/{encoded(page_id)}"
    assert inside.get(path).json()["pageId"] == page_id
    assert inside.get(f"{path}/audiences").json()["items"][0]["audienceId"] == audience.id
    no_conversation = inside.get(f"{path}/audiences/{encoded(page_id)}/messages")
    assert no_conversation.json()["detail"] == "This audience has no conversation."


def test_a_call_shares_the_open_transaction(inside: httpx.Client) -> None:
    with transaction.atomic():
        created = inside.post("/v0/pages", json=PAGE_BODY)
        assert created.status_code == 201
        assert Page.objects.count() == 1
        transaction.set_rollback(True)
    assert Page.objects.count() == 0


def test_a_call_leaves_the_outer_request_alone(inside: httpx.Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    raw = connection.connection
    set_script_prefix("/desk/")
    set_urlconf("dashboard.embedded_api.urls")
    try:
        inside.get("/v0/pages")
        assert connection.connection is raw
        assert get_script_prefix() == "/desk/"
        assert get_urlconf() == "dashboard.embedded_api.urls"
    finally:
        set_script_prefix("/")
        set_urlconf(None)


def test_a_call_sends_no_request_signals(inside: httpx.Client) -> None:
    heard: list[str] = []

    def hear(signal: Any, **_: Any) -> None:
        heard.append(str(signal))

    for signal in (request_started, request_finished):
        signal.connect(hear)
    try:
        assert inside.get("/v0/pages").status_code == 200
    finally:
        for signal in (request_started, request_finished):
            signal.disconnect(hear)
    assert heard == []


def test_an_https_redirect_does_not_catch_calls_in_process(
    inside: httpx.Client, settings: Any
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert inside.get("/v0/pages").status_code == 200


def test_refusals_come_through_with_their_headers(inside: httpx.Client) -> None:
    refused = inside.delete("/v0/pages")
    assert refused.status_code == 405
    assert refused.headers["Allow"] == "GET, HEAD, POST"
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert inside.get("/v0/elsewhere").status_code == 404


def test_many_calls_leave_nothing_behind(inside: httpx.Client) -> None:
    import gc

    def left_over() -> int:
        gc.collect()
        return len(gc.get_objects())

    inside.get("/v0/pages")
    before, threads = left_over(), threading.active_count()
    for _ in range(100):
        inside.get("/v0/pages")
    assert left_over() - before < 100
    assert threading.active_count() <= threads


def test_a_read_sees_an_earlier_write(inside: httpx.Client) -> None:
    body = PageRequest.model_validate(PAGE_BODY).to_wire()
    created = inside.post("/v0/pages", json=body).json()
    assert inside.get(f"/v0/pages/{created['pageId']}").json() == created
