"""Any server that follows the spec can be the service, even the oddest one."""

from collections.abc import Callable, Iterable, Iterator
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
"""Pages whose data is never stored, because it is other people's."""
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
    """Return a function that sets the service's mood, with a short time limit for silence."""

    def change(mood: str) -> None:
        httpx.post(f"{service.url}/mood", content=mood, timeout=60, verify=NO_TLS)
        close_publishing_client()  # The open client keeps its old time limit.
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
    """Open every page once, so that the ledger records everything."""
    operator.post(reverse("subscription-add"), {"subscription_id": "whs_odd"})
    for address in ADDRESSES.values():
        operator.get(address)


def test_every_page_shows_an_odd_service_as_it_is(operator: Client) -> None:
    look_around(operator)
    for name, address in ADDRESSES.items():
        response = operator.get(address)
        assert response.status_code == 200, name
        assert "<h1" in response.text, name


def test_no_text_of_the_service_becomes_markup(operator: Client) -> None:
    names = ("pages", "page", "people", "conversation")
    html = {name: operator.get(ADDRESSES[name]).text for name in names}
    assert [name for name in names if "<script>alert" in html[name]] == []


def test_an_unreadable_item_costs_itself_and_not_the_list(operator: Client) -> None:
    html = operator.get(ADDRESSES["pages"]).text
    assert "An odd page" in html
    assert "1 item could not be read" in html


def test_a_truncated_list_is_reported_as_incomplete(operator: Client) -> None:
    html = operator.get(ADDRESSES["page"]).text
    assert "2 of 120 audiences" in html


def test_a_failing_service_shows_the_last_known(
    operator: Client, be: Callable[[str], None]
) -> None:
    look_around(operator)
    responses = open_in_each_mood(operator, be, ADDRESSES.keys() - LIVE_ONLY - NEEDS_NO_SERVICE)
    assert failed(responses, {200}) == {}
    assert [
        (mood, name)
        for (mood, name), response in responses.items()
        if name != "pages by the ledger" and "last known" not in response.text
    ] == []


def test_what_is_never_remembered_fails_with_a_sentence(
    operator: Client, be: Callable[[str], None]
) -> None:
    responses = open_in_each_mood(operator, be, LIVE_ONLY)
    assert failed(responses, {502, 503, 504}) == {}
    assert [at for at, it in responses.items() if "Try again" not in it.text] == []


def test_pages_of_our_own_memory_need_no_service(
    operator: Client, be: Callable[[str], None]
) -> None:
    assert failed(open_in_each_mood(operator, be, NEEDS_NO_SERVICE), {200}) == {}


def test_an_unknown_unreadable_object_has_a_next_step(
    operator: Client, be: Callable[[str], None]
) -> None:
    names = {"page", "audience", "versions", "publish", "webhook"}
    responses = open_in_each_mood(operator, be, names)
    assert failed(responses, {404, 502, 503, 504}) == {}
    assert [at for at, it in responses.items() if "<h1" not in it.text] == []


def open_in_each_mood(
    operator: Client, be: Callable[[str], None], names: Iterable[str]
) -> dict[tuple[str, str], Any]:
    """Open pages in each mood in which the service fails."""
    responses = {}
    for mood in MOODS:
        if mood != "well":
            be(mood)
            responses |= {(mood, name): operator.get(ADDRESSES[name]) for name in sorted(names)}
    return responses


def failed(responses: dict[tuple[str, str], Any], expected: set[int]) -> dict[Any, int]:
    """Return the status of each response with an unexpected status."""
    statuses = {at: response.status_code for at, response in responses.items()}
    return {at: status for at, status in statuses.items() if status not in expected}
