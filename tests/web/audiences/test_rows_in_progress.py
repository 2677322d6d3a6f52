"""An open page follows its versions in progress until they are settled."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.ledger.recording import record_version
from dashboard.service.reading import read_audiences
from tests.support import wire
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.live_page import Region
from tests.support.one_audience import address, serve
from tests.support.polled_page import PolledPage

pytestmark = pytest.mark.django_db

PAGE = "/pages/page_1/"


def ago(**time: float) -> str:
    return (datetime.now(UTC) - timedelta(**time)).isoformat()


def moving(status: str = "queued", **differs: Any) -> dict[str, Any]:
    queued_at = ago(seconds=20)
    return wire.audience(latestVersion=wire.version(status=status, queuedAt=queued_at) | differs)


def live_audience() -> dict[str, Any]:
    live = wire.live_version(versionId="ver_2", versionNumber=2)
    return wire.audience(latestVersion=live, publishedVersion=live)


def open_page(client: Client, url: str = PAGE, name: str = "audience-results") -> Region:
    return Region(client, url, name)


# The rows of a page's audiences


def test_nothing_in_progress_is_not_read_again(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    page = open_page(as_viewer)
    assert not page.is_moving
    assert {"audience:page_1", "release"} <= {*page.topics}


@pytest.mark.parametrize("status", ["pending", "queued", "processing"])
def test_one_read_follows_all_rows_in_progress(
    status: str, fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    other = wire.audience(audienceId="aud_2")
    serve(fake_service, other, moving(status))
    page = open_page(as_viewer)
    assert page.is_moving
    before = page.rows
    assert page.refresh().rows == before
    serve(fake_service, other, live_audience())
    fake_service.sent.clear()
    clock.advance(3)
    page.refresh()
    assert len(fake_service.sent) == 1
    assert sum("2 Live 2 Live" in shown(row) for row in page.rows) == 1
    assert not page.is_moving


def shown(row: str) -> str:
    return row.replace("\u2002", " ")


def test_an_interrupted_publish_offers_a_check(
    fake_service: FakeService, as_publisher: Client, paula: User
) -> None:
    target = Target("page_1", "aud_1", "ver_2")
    begin(
        operation_key="key-1",
        kind=OperationKind.PUBLISH_VERSION,
        actor=paula,
        target=target,
        body={},
    )
    serve(fake_service, wire.audience())
    page = open_page(as_publisher)
    assert "View progress" in page.rows[-1]
    assert page.is_moving
    Attempt.objects.update(sent_at=datetime.now(UTC) - timedelta(minutes=5))
    assert "Check" in page.refresh().rows[-1]
    assert not page.is_moving
    assert Operation.objects.get().outcome == Outcome.SENDING, "shown as unknown, not written"


def test_a_row_that_left_the_filter_is_still_followed(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    serve(fake_service, moving(), wire.audience(audienceId="aud_2"))
    page = open_page(as_viewer, f"{PAGE}?status=queued")
    assert len(page.rows) == 1
    serve(fake_service, live_audience(), moving() | {"audienceId": "aud_2"})
    clock.advance(3)
    fits, left = page.refresh().rows
    assert "Queued" in fits
    assert "2 Live 2 Live" in shown(left)
    assert "data-left" in page.html.split(page.row_ids[0])[1]


def test_a_row_published_elsewhere_follows_what_was_recorded(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    page = open_page(as_viewer)
    serve(fake_service, moving())
    read_audiences("page_1")
    fake_service.sent.clear()
    assert "Queued" in page.refresh().rows[0]
    assert page.is_moving
    assert fake_service.sent == [], "whoever recorded it has read it"


def test_what_the_service_no_longer_lists_is_gone(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    serve(fake_service, wire.audience(), wire.audience(audienceId="aud_2"))
    page = open_page(as_viewer)
    assert len(page.rows) == 2
    clock.advance(120)
    serve(fake_service, wire.audience())
    read_audiences("page_1")
    assert len(page.refresh().rows) == 1


def test_a_rollback_is_followed_without_a_listed_version(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    older = wire.version(versionId="ver_0", versionNumber=0, status="queued", queuedAt=ago())
    record_version("page_1", AudienceVersion.model_validate(older))
    serve(fake_service, wire.audience())
    page = open_page(as_viewer)
    assert page.is_moving
    live = wire.live_version(versionId="ver_0", versionNumber=0)
    serve(fake_service, wire.audience(publishedVersion=live))
    clock.advance(3)
    assert len(page.refresh().rows) == 1
    assert not page.is_moving


def test_a_stuck_version_is_not_read_forever(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, moving(queuedAt="2026-03-01T09:00:00Z"))
    assert not open_page(as_viewer).is_moving


def test_a_failed_read_says_so_and_is_repeated(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    serve(fake_service, moving())
    page = open_page(as_viewer)
    fake_service.fails(httpx.ConnectError)
    clock.advance(3)
    assert "Showing the last known audiences" in page.refresh().text
    assert page.is_moving
    serve(fake_service, live_audience())
    assert "last known" not in page.refresh().text


# The head of an audience's pages


@pytest.mark.parametrize("name", ["audience-detail", "version-publish"])
def test_the_head_follows_a_version_in_progress(
    name: str, fake_service: FakeService, as_publisher: Client, clock: Clock
) -> None:
    serve(fake_service, moving())
    at = address(name, *(["ver_1"] if name == "version-publish" else []))
    page, texts = (open_page(as_publisher, at, name) for name in ("audience-head", "audience-body"))
    assert page.is_moving
    serve(fake_service, live_audience())
    clock.advance(3)
    page.refresh()
    assert "Version 2 live" in page.text
    assert "queued" not in page.text
    assert not page.is_moving
    # The dialog opens over the same page.
    assert "Version 2" in texts.refresh().text


def test_the_head_of_a_conversation_follows_it_too(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(moving()))
        return httpx.Response(200, json=wire.conversation())

    fake_service.answer = answer
    page = open_page(as_viewer, address("conversation"), "audience-head")
    serve(fake_service, live_audience())
    clock.advance(3)
    assert "Version 2 live" in page.refresh().text


# Pending changes, counted on the other pages of the audience


@pytest.mark.parametrize("name", ["audience-detail", "version-list"])
def test_pending_changes_are_counted_outside_of_the_conversation(
    name: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    page = open_page(as_viewer, address(name), "tab-counts")
    assert not any("messages" in request.url.path for request in fake_service.sent)
    tab = page.element.attributes
    assert tab["hx-trigger"] == "load"
    change = {"changeId": "c1", "previousValue": "a", "newValue": "b"}
    body = wire.conversation(pendingChanges=[change, change])
    fake_service.answers(200, json=body)
    part = PolledPage(as_viewer, tab["hx-get"], "tab-counts", is_partial=True)
    assert part.text == "0, 2 pending changes"
    assert "hx-get" not in part.html


def test_an_unreadable_conversation_is_not_polled(
    fake_service: FakeService, as_viewer: Client
) -> None:
    fake_service.fails(httpx.ConnectError)
    part = PolledPage(as_viewer, address("conversation"), "tab-counts", is_partial=True)
    assert part.text == ""
    assert "hx-get" not in part.html


# Operations in the log


def test_an_operation_is_followed_until_settled(as_viewer: Client, paula: User) -> None:
    target = Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods")
    _, attempt = begin(
        operation_key="k1", actor=paula, kind=OperationKind.PUBLISH_VERSION, target=target, body={}
    )
    assert attempt
    log = open_page(as_viewer, "/activity/?outcome=sending", "log")
    ids = log.row_ids
    assert log.is_soon
    end(attempt, AttemptResult(Outcome.ACCEPTED))
    assert "Accepted, not live yet" in log.refresh().text, "it has left the list"
    assert log.row_ids[0] == ids[0]
    assert not log.is_soon
