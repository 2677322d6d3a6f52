"""Extreme values are shown or make their item unreadable, but never the page."""

import json
from typing import Any

import httpx
import pytest
from django.test import Client

from dashboard.contract.wire import MAX_IDENTIFIER_BYTES
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import response_text
from tests.support.one_audience import get, serve

pytestmark = pytest.mark.django_db

BELOW = [-(2**53), -(2**63) - 1, -(10**30), -(10**300)]
HUGE = [1e25, -1e25, 10**30, 1.7e308, 10**300]
TOO_LONG = "".join(chr(0x4E00 + number * 7 % 5000) for number in range(20_000))
"""A varied text, because PostgreSQL would compress a repetitive one."""
LONGEST = TOO_LONG[: MAX_IDENTIFIER_BYTES // 3]


def page_of(client: Client, path: str = "/pages/page_1/") -> str:
    """Return the visible text of a page."""
    response = client.get(path)
    assert response.status_code == 200, response.text
    return response_text(response)


def named(number: int, **differs: Any) -> dict[str, Any]:
    """Return an audience with its own name and ids."""
    ids = {"audienceId": f"aud_{number}", "effectiveName": f"Audience number {number}"}
    version = wire.version(audienceId=f"aud_{number}", versionId=f"ver_{number}0")
    return wire.audience(**{**ids, "latestVersion": version, "publishedVersion": None} | differs)


@pytest.mark.parametrize("number", BELOW)
def test_an_invalid_version_number_makes_only_its_audience_unreadable(
    number: int, as_publisher: Client, fake_service: FakeService
) -> None:
    odd = named(2, latestVersion=wire.version(audienceId="aud_2", versionNumber=number))
    serve(fake_service, named(1), odd, named(3))
    words = page_of(as_publisher)
    assert "Audience number 1" in words
    assert "Audience number 3" in words
    assert "items.1.latestVersion.versionNumber" in words


@pytest.mark.parametrize("name", ["audience-detail", "version-list", "version-compare"])
def test_other_audiences_are_unaffected_by_an_invalid_version(
    name: str, as_publisher: Client, fake_service: FakeService
) -> None:
    odd = named(2, latestVersion=wire.version(audienceId="aud_2", versionNumber=-(10**30)))
    serve(fake_service, wire.audience(), odd)
    assert "Brightwater Foods" in get(as_publisher, name)


@pytest.mark.parametrize("number", HUGE)
def test_any_number_in_a_page_is_shown(
    number: float, as_publisher: Client, fake_service: FakeService
) -> None:
    action = {"actionId": "a", "buttonTitle": "Book a demo", "actionIndex": number}
    serve(fake_service, page=wire.page(actions=[action], unknownNumber=number))
    words = page_of(as_publisher)
    assert "Book a demo" in words
    assert "E" + f"{float(number):e}".partition("e+")[2].lstrip("0") in words


@pytest.mark.parametrize("number", HUGE)
def test_any_duration_of_a_version_is_shown(
    number: float, as_publisher: Client, fake_service: FakeService
) -> None:
    serve(fake_service, wire.audience(publishedVersion=wire.live_version(queueDurationMs=number)))
    for name in ("version-list", "version-compare", "audience-detail"):
        assert get(as_publisher, name)


def test_an_identifier_of_the_maximum_length_works(
    as_publisher: Client, fake_service: FakeService
) -> None:
    ids = {"audienceId": LONGEST, "versionId": LONGEST}
    latest = wire.version(**ids, status="x" * 2_000)
    live = wire.live_version(**ids | {"versionId": LONGEST[::-1]})
    longest = named(2, audienceId=LONGEST, prospectId=LONGEST) | {
        "latestVersion": latest,
        "publishedVersion": live,
    }
    serve(fake_service, longest, page=wire.page(pageId=LONGEST))
    assert "Audience number 2" in page_of(as_publisher, f"/pages/{LONGEST}/")
    assert as_publisher.get(f"/pages/{LONGEST}/audiences/{LONGEST}/").status_code == 200


@pytest.mark.parametrize(("field", "path"), [("audienceId", "items.1."), ("prospectId", "")])
def test_an_overlong_identifier_is_marked_beside_its_audience(
    field: str, path: str, as_publisher: Client, fake_service: FakeService
) -> None:
    serve(fake_service, named(1), named(2, **{field: TOO_LONG}))
    words = page_of(as_publisher)
    assert "Audience number 1" in words
    assert "Audience number 2" in words
    assert f"{path}{field}" in words


@pytest.mark.parametrize("page_id", ["", TOO_LONG])
def test_an_impossible_identifier_spoils_only_its_page(
    page_id: str, as_publisher: Client, fake_service: FakeService
) -> None:
    pages = [wire.page(), wire.page(pageId=page_id, name="Odd one")]
    fake_service.answers(200, json=wire.envelope(*pages))
    words = page_of(as_publisher, "/pages/")
    assert "Fleet telematics" in words
    assert "Odd one items.1.pageId" in words


def test_an_overlong_identifier_in_a_url_is_404(
    as_publisher: Client, fake_service: FakeService
) -> None:
    serve(fake_service, wire.audience())
    assert as_publisher.get(f"/pages/{'x' * 3_000}/").status_code == 404


@pytest.mark.parametrize("odd", ["\0", "a\0b", "\ud800", "x" * 60_000, TOO_LONG])
def test_any_text_in_any_field_is_recorded_and_shown(
    odd: str, as_publisher: Client, fake_service: FakeService
) -> None:
    spared = {"audienceId", "pageId", "versionId", "prospectId"}

    def odd_in(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: odd_in(item, key) for key, item in value.items()}
        return odd if isinstance(value, str) and name not in spared else value

    def answer(request: httpx.Request) -> httpx.Response:
        is_list = request.url.path.endswith("/audiences")
        response = wire.envelope(odd_in(wire.audience())) if is_list else odd_in(wire.page())
        return httpx.Response(200, content=json.dumps(response).encode())

    fake_service.answer = answer
    assert page_of(as_publisher)
    for name in ("audience-detail", "version-list"):
        assert get(as_publisher, name)
