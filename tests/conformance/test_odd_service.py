"""Any server that follows the spec can be the service: one that is odd wherever it may be, too."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from dashboard.service.client import close_publishing_client
from tests.conformance.odd_service import AUDIENCE_ID, KEY, MOODS, PAGE_ID, VERSION_ID
from tests.conftest import logged_in, person
from tests.support.processes import NO_TLS, Running, odd_service

pytestmark = pytest.mark.django_db

AUDIENCE = {"page_id": PAGE_ID, "audience_id": AUDIENCE_ID}
ADDRESSES = {
    "overview": reverse("overview"),
    "pages": reverse("page-list"),
    "pages by the ledger": reverse("page-list") + "?q=odd&sort=name",
    "audiences": reverse("audience-list") + "?q=odd",
    "page": reverse("page-detail", args=[PAGE_ID]),
    "create page": reverse("page-create"),
    "audience": reverse("audience-detail", kwargs=AUDIENCE),
    "versions": reverse("version-list", kwargs=AUDIENCE),
    "compare": reverse("version-compare", kwargs=AUDIENCE) + "?from=latest&to=latest",
    "publish": reverse("version-publish", kwargs=AUDIENCE | {"version_id": VERSION_ID}),
    "conversation": reverse("conversation", kwargs=AUDIENCE),
    "people": reverse("people-list"),
    "people searched": reverse("people-list") + "?q=odd",
    "webhooks": reverse("subscription-list"),
    "webhook": reverse("subscription-detail", args=["whs_odd"]),
    "activity": reverse("operation-list"),
    "find": reverse("find") + "?q=odd",
}
LIVE_ONLY = {"people", "people searched", "conversation"}
"""Never remembered: other people's data."""
NEEDS_NO_SERVICE = {"overview", "audiences", "create page", "activity", "find", "webhooks"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with odd_service(tmp_path_factory.mktemp("odd")) as running:
        yield running


@pytest.fixture
def everyone(db: None) -> User:
    return person("everyone", "Publishers", "Administrators")


@pytest.fixture
def be(service: Running, settings: Any) -> Callable[[str], None]:
    """Return a function that puts the service in a mood; silence is not waited for long."""

    def change(mood: str) -> None:
        httpx.post(f"{service.url}/mood", content=mood, timeout=60, verify=NO_TLS)
        close_publishing_client()  # It keeps its time limit.
        settings.SERVICE_TIMEOUT_S = 0.2 if mood == "silent" else 20.0

    return change


@pytest.fixture
def operator(
    service: Running, be: Callable[[str], None], everyone: User, settings: Any
) -> Iterator[Client]:
    settings.SERVICE_URL, settings.SERVICE_API_KEY = service.url, KEY
    settings.SERVICE_TRANSPORT = None
    be("well")
    yield logged_in(everyone)
    close_publishing_client()


def look_around(operator: Client) -> None:
    """See everything once, so that the ledger knows it."""
    operator.post(reverse("subscription-add"), {"subscription_id": "whs_odd"})
    for address in ADDRESSES.values():
        operator.get(address)


def test_every_page_shows_an_odd_service_as_it_is(operator: Client) -> None:
    look_around(operator)
    for name, address in ADDRESSES.items():
        response = operator.get(address)
        assert response.status_code == 200, name
        assert "<h1" in response.content.decode(), name


@pytest.mark.parametrize("name", ["pages", "page", "people", "conversation"])
def test_no_text_of_the_service_becomes_markup(operator: Client, name: str) -> None:
    assert "<script>alert" not in operator.get(ADDRESSES[name]).content.decode()


def test_an_unreadable_item_costs_itself_and_not_the_list(operator: Client) -> None:
    shown = operator.get(ADDRESSES["pages"]).content.decode()
    assert "An odd page" in shown
    assert "1 item could not be read" in shown


def test_a_truncated_list_is_reported_as_incomplete(operator: Client) -> None:
    shown = operator.get(ADDRESSES["page"]).content.decode()
    assert "2 of 120 audiences" in shown


@pytest.mark.parametrize("mood", [mood for mood in MOODS if mood != "well"])
def test_what_was_seen_is_shown_as_last_known_when_the_service_fails(
    operator: Client, be: Callable[[str], None], mood: str
) -> None:
    look_around(operator)
    be(mood)
    for name in ADDRESSES.keys() - LIVE_ONLY - NEEDS_NO_SERVICE:
        response = operator.get(ADDRESSES[name])
        assert response.status_code == 200, name
        if name != "pages by the ledger":
            assert "last known" in response.content.decode(), name


@pytest.mark.parametrize("mood", [mood for mood in MOODS if mood != "well"])
@pytest.mark.parametrize("name", sorted(LIVE_ONLY))
def test_what_is_never_remembered_fails_with_a_sentence(
    operator: Client, be: Callable[[str], None], name: str, mood: str
) -> None:
    be(mood)
    response = operator.get(ADDRESSES[name])
    assert response.status_code in {502, 503, 504}
    assert "Try again" in response.content.decode()


@pytest.mark.parametrize("mood", [mood for mood in MOODS if mood != "well"])
@pytest.mark.parametrize("name", sorted(NEEDS_NO_SERVICE))
def test_pages_of_our_own_memory_need_no_service(
    operator: Client, be: Callable[[str], None], name: str, mood: str
) -> None:
    be(mood)
    assert operator.get(ADDRESSES[name]).status_code == 200


@pytest.mark.parametrize("mood", [mood for mood in MOODS if mood != "well"])
@pytest.mark.parametrize("name", ["page", "audience", "versions", "publish", "webhook"])
def test_what_was_never_seen_and_cannot_be_read_is_a_page_with_a_next_step(
    operator: Client, be: Callable[[str], None], name: str, mood: str
) -> None:
    be(mood)
    response = operator.get(ADDRESSES[name])
    assert response.status_code in {404, 502, 503, 504}
    assert "<h1" in response.content.decode()
