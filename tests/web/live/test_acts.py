"""An open page equals a reloaded one, whatever another user has done."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http import HTTPStatus
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.approvals.requests import end_request
from dashboard.contract.pages import PageItem
from dashboard.ledger.recording import record_page
from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release
from dashboard.releases.models import Release
from dashboard.saved_views.rules import create_view
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import FakeService
from tests.support.html import elements
from tests.support.live_page import LivePage, Region
from tests.support.operations import operation
from tests.support.publish_dialog import PublishDialog
from tests.support.release_form import ReleaseForm
from tests.support.release_page import ReleasePage
from tests.support.release_service import PublishingAudiences
from tests.support.seeding import seed_approval, seed_subscription

pytestmark = [
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
    pytest.mark.same_on_any_database,
]
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
AUDIENCE = "/pages/page_1/audiences/aud_1/"
NOTIFICATIONS = "/accounts/settings/notifications/"
SHARED = {
    "audiences": "live=not-live",
    "pages": "status=draft",
    "activity": "outcome=unknown",
    "webhooks": "state=on",
}
PAGES = [
    "/",
    "/pages/",
    "/pages/page_1/",
    "/audiences/",
    AUDIENCE,
    f"{AUDIENCE}versions/",
    f"{AUDIENCE}conversation/",
    "/releases/",
    "/releases/{release}/",
    "/approvals/",
    "/approvals/{approval}/",
    "/activity/",
    "/activity/outside/",
    "/webhooks/",
    "/webhooks/whs_1/",
    "/notifications/",
]


@dataclass
class Service(PublishingAudiences):
    """Audiences, and one webhook."""

    webhook: dict[str, Any] = field(default_factory=lambda: wire.subscription(active=True))

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if "webhook_subscriptions" in request.url.path:
            return httpx.Response(200, json=self.webhook)
        return super().__call__(request)


class TextOutside(HTMLParser):
    """The text of a page outside some elements, without times and durations."""

    def __init__(self, html: str, ids: Collection[str]) -> None:
        super().__init__()
        self._ids, self._depth, self._left_out_at = {"fresh", *ids}, 0, 0
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        self._depth += 1
        attributes = dict(attrs)
        is_duration = attributes.get("class") == "side-foot"
        is_left_out = is_duration or attributes.get("id") in self._ids or "data-age" in attributes
        if not self._left_out_at and (is_left_out or tag in ("script", "style")):
            self._left_out_at = self._depth

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if self._left_out_at == self._depth:
            self._left_out_at = 0
        self._depth -= 1

    def handle_data(self, data: str) -> None:
        if not self._left_out_at:
            self.words += data.split()


class OpenPage:
    """A page that a user has open."""

    def __init__(self, client: Client, url: str) -> None:
        self._client, self._url = client, url
        self._poll = LivePage(client, url)
        self.html = self.reload()

    def reload(self) -> str:
        return str(self._client.get(self._url).text)

    def refresh(self) -> set[str]:
        """Poll, and return the ids of all elements that are replaced then."""
        poll = self._poll.poll()
        if poll.response.status_code == HTTPStatus.NO_CONTENT:
            return set()
        replaced = {e.attributes["id"] for e in elements(poll.html) if "id" in e.attributes}
        for element in elements(self.html):
            if "data-live" not in element.attributes:
                continue
            own = element.attributes["data-live"].split()
            if "*" in poll.topics or any(
                f"{topic}:".startswith(f"{name}:") for topic in poll.topics for name in own
            ):
                region = Region(self._client, self._url, element.attributes["id"]).refresh()
                replaced |= {element.attributes["id"], *replaced_elsewhere(region.html)}
        return replaced


def replaced_elsewhere(html: str) -> Iterator[str]:
    """Yield the ids of the elements outside its region that a response replaces."""
    for element in elements(html):
        if swap := element.attributes.get("hx-swap-oob"):
            yield swap.partition("#")[2] or element.attributes["id"]


def publish(service: Service, client: Client) -> None:
    dialog = PublishDialog(client, service, f"{AUDIENCE}versions/ver_aud_1_2/publish/")
    assert dialog.publish().state == "Version 2 is live"


def roll_back(service: Service, client: Client) -> None:
    publish(service, client)
    dialog = PublishDialog(client, service, f"{AUDIENCE}versions/ver_aud_1_1/rollback/")
    assert dialog.publish(number="1").state == "Version 1 is live again"


def publish_outside(service: Service, client: Client) -> None:
    service.go_live(("page_1", "aud_1"), "ver_aud_1_2")
    service.record()


def begin_release(service: Service, client: Client) -> None:
    """Create a release as a second owner, so that releases can be filtered by owner."""
    olaf = logged_in(person("olaf", "Publishers"))
    ReleaseForm(olaf).review([("page_1", "aud_1")])
    # A draft that was only opened isn't listed.
    draft = Release.objects.latest("pk")
    ReleasePage(olaf, draft).post("edit", name="Prices", note="")
    assert Release.listed.filter(pk=draft.pk).exists()


def end_approval(service: Service, client: Client) -> None:
    end_request(ApprovalRequest.objects.get(), RequestState.WITHDRAWN, "Paula withdrew it.")


def switch_webhook(service: Service, client: Client) -> None:
    service.webhook = wire.subscription(active=False, url="https://new.example.com/")
    seed_subscription(**service.webhook)


def create_page(service: Service, client: Client) -> None:
    page = PageItem.model_validate(wire.page(pageId="page_2", name="Harbor fleets"))
    record_page(page, read_at=timezone.now())


def share_view(service: Service, client: Client) -> None:
    paula = User.objects.get(username="paula")
    for name, query in SHARED.items():
        create_view(paula, name, name=f"Ours, {name}", query=query, is_team=True)


ACTS = {
    publish: PAGES,
    roll_back: PAGES,
    publish_outside: PAGES,
    begin_release: ["/", "/releases/", "/audiences/"],
    end_approval: ["/", "/approvals/", "/approvals/{approval}/", "/releases/{release}/"],
    switch_webhook: ["/", "/webhooks/", "/webhooks/whs_1/"],
    create_page: ["/", "/pages/", "/audiences/"],
    share_view: ["/", "/pages/", "/audiences/", "/activity/", "/webhooks/"],
}
"""Acts of another user, and the pages that may show them."""


@pytest.fixture
def service(fake_service: FakeService, paula: User, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service with two audiences, of which Paula has one in a draft of a release."""
    # All within one second: the pages show times of reads.
    stopped(monkeypatch, at=timezone.now().replace(microsecond=0), tick_s=0.0001)
    fake_service.answer = service = Service()
    service.add(2)
    service.record()
    seed_subscription(active=True)
    operation(person("ben"), "an-earlier-one")
    check_release(create_release(name="", note="", audiences=[("page_1", "aud_2")], user=paula))
    seed_approval()
    return service


@pytest.mark.matrix
@pytest.mark.parametrize(("act", "url"), [(act, url) for act, urls in ACTS.items() for url in urls])
def test_an_open_page_equals_a_reloaded_one(
    act: Callable[[Service, Client], None],
    url: str,
    service: Service,
    as_viewer: Client,
    as_publisher: Client,
) -> None:
    release, approval = Release.objects.get(), ApprovalRequest.objects.get()
    page = OpenPage(as_viewer, url.format(release=release.pk, approval=approval.pk))
    act(service, as_publisher)
    reloaded, replaced = page.reload(), page.refresh()
    assert TextOutside(page.html, replaced).words == TextOutside(reloaded, replaced).words


@pytest.mark.matrix
@pytest.mark.parametrize("url", [*PAGES, "/accounts/settings/", NOTIFICATIONS])
@pytest.mark.parametrize(
    ("before", "after"),
    [("Publishers", ""), ("", "Publishers"), ("Administrators", ""), ("", "Administrators")],
)
def test_an_open_page_follows_the_rights_of_its_user(
    before: str, after: str, url: str, service: Service
) -> None:
    if before == "Administrators" and "whs_1" in url:
        return  # An open form stays: test_regions.py.
    olga = person("olga", before)
    release, approval = Release.objects.get(), ApprovalRequest.objects.get()
    page = OpenPage(logged_in(olga), url.format(release=release.pk, approval=approval.pk))
    olga.groups.set(Group.objects.filter(name=after))
    reloaded, replaced = page.reload(), page.refresh()
    assert TextOutside(page.html, replaced).words == TextOutside(reloaded, replaced).words
