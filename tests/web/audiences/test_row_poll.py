"""A page polls its versions in progress until they are settled."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.http import urlencode

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.ledger.recording import record_version
from dashboard.operations.publish_progress import MAX_POLLS
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements
from tests.support.one_audience import address, serve
from tests.support.polled_page import IDLE, PolledPage

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


def open_page(client: Client, url: str = PAGE, name: str = "row-poll") -> PolledPage:
    return PolledPage(client, url, name)


# The rows of a page's audiences


def test_only_a_publish_here_starts_polling(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience())
    assert open_page(as_viewer).trigger == IDLE


@pytest.mark.parametrize("status", ["pending", "queued", "processing"])
def test_one_poll_follows_all_rows_in_progress(
    status: str, fake_service: FakeService, as_viewer: Client
) -> None:
    other = wire.audience(audienceId="aud_2")
    serve(fake_service, other, moving(status))
    page = open_page(as_viewer)
    assert page.html.count("load delay:") == 1
    assert page.trigger == f"load delay:4s, {IDLE}"
    same = page.next()
    assert same.rows == []
    assert "audiences-announcement" not in same.html
    serve(fake_service, other, live_audience())
    fake_service.sent.clear()
    part = same.next()
    assert len(fake_service.sent) == 1
    (row,) = part.rows
    assert "2 Live 2 Live" in row.replace("\u2002", " ")
    assert "Brightwater Foods: version 2 live, version 2 live." in part.text
    assert part.trigger == IDLE


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
    Attempt.objects.update(sent_at=datetime.now(UTC) - timedelta(minutes=5))
    (row,) = page.next().rows
    assert "Check" in row
    page = open_page(as_publisher)
    assert "Check" in page.rows[-1]
    assert page.trigger == IDLE
    assert Operation.objects.get().outcome == Outcome.SENDING, "shown as unknown, not written"


def test_a_row_outside_the_filter_is_still_polled(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, moving(), wire.audience(audienceId="aud_2"))
    page = open_page(as_viewer, f"{PAGE}?status=queued")
    serve(fake_service, live_audience(), moving() | {"audienceId": "aud_2"})
    part = page.next()
    assert len(part.rows) == 1
    assert "2 Live 2 Live" in part.rows[0].replace("\u2002", " ")


def test_a_row_published_elsewhere_updates_on_the_next_poll(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    page = open_page(as_viewer)
    serve(fake_service, moving())
    part = page.next()
    assert "Queued" in part.rows[0]
    assert "load delay:" in part.trigger


def test_a_rollback_is_polled_without_a_listed_version(
    fake_service: FakeService, as_viewer: Client
) -> None:
    older = wire.version(versionId="ver_0", versionNumber=0, status="queued", queuedAt=ago())
    record_version("page_1", AudienceVersion.model_validate(older))
    serve(fake_service, wire.audience())
    page = open_page(as_viewer)
    assert "load delay:" in page.trigger
    live = wire.live_version(versionId="ver_0", versionNumber=0)
    serve(fake_service, wire.audience(publishedVersion=live))
    part = page.next()
    assert len(part.rows) == 1
    assert part.trigger == IDLE


def test_a_stuck_version_is_polled_rarely_and_not_forever(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, moving(queuedAt="2026-03-01T09:00:00Z"))
    page = open_page(as_viewer)
    for _ in range(MAX_POLLS):
        assert page.trigger == f"load delay:60s, {IDLE}"
        page = page.next()
    assert page.trigger == IDLE
    assert "Auto-refresh stopped." in page.text


def test_a_failed_poll_says_so_and_polling_continues(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, moving())
    page = open_page(as_viewer)
    fake_service.fails(httpx.ConnectError)
    part = page.next()
    assert "The last check failed." in part.text
    assert "hidden" not in part.poll.attributes
    serve(fake_service, live_audience())
    assert "hidden" in part.next().poll.attributes


@pytest.mark.parametrize("rows", ["", "x", "-", "a-b-c.d", "." * 99, "²-²"])
def test_invalid_rows_are_ignored(rows: str, fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, moving())
    part = PolledPage(
        as_viewer, f"{PAGE}?{urlencode({'rows': rows, 'polls': rows})}", "row-poll", is_partial=True
    )
    assert part.rows == []


def test_an_audience_without_an_id_is_in_no_poll(
    fake_service: FakeService, as_viewer: Client
) -> None:
    nameless = {key: value for key, value in moving().items() if key != "audienceId"}
    serve(fake_service, nameless, nameless)
    assert "rows=&" in open_page(as_viewer).poll_url


# The head of an audience's pages


@pytest.mark.parametrize("name", ["audience-detail", "version-publish"])
def test_the_head_follows_a_version_in_progress(
    name: str, fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, moving())
    at = address(name, *(["ver_1"] if name == "version-publish" else []))
    page = open_page(as_publisher, at, "head-poll")
    assert page.trigger == f"load delay:4s, {IDLE}"
    same = page.next()
    assert "head-state" not in same.html
    serve(fake_service, live_audience())
    part = same.next()
    assert "Version 2 live" in part.text
    assert "queued" not in part.text
    assert part.trigger == IDLE
    # The dialog is shown over the same page.
    assert "morph:#live" in part.html


def test_the_head_of_a_conversation_follows_it_too(
    fake_service: FakeService, as_viewer: Client
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(moving()))
        return httpx.Response(200, json=wire.conversation())

    fake_service.answer = answer
    page = open_page(as_viewer, address("conversation"), "head-poll")
    serve(fake_service, live_audience())
    part = page.next()
    assert "Version 2 live" in part.text
    # The count of pending changes is the conversation's, and stays.
    assert "morph:#head-state" in part.html
    assert 'id="head"' not in part.html


# Pending changes, counted on the other pages of the audience


@pytest.mark.parametrize("name", ["audience-detail", "version-list"])
def test_pending_changes_are_counted_outside_of_the_conversation(
    name: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    page = open_page(as_viewer, address(name), "tab-counts")
    assert not any("messages" in request.url.path for request in fake_service.sent)
    tab = page.poll.attributes
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


def test_an_operation_is_polled_until_settled(as_viewer: Client, paula: User) -> None:
    target = Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods")
    _, attempt = begin(
        operation_key="k1", actor=paula, kind=OperationKind.PUBLISH_VERSION, target=target, body={}
    )
    assert attempt
    page = open_page(as_viewer, "/activity/", "operation-poll")
    same = page.next()
    assert "load delay:" in same.trigger
    assert "<summary" not in same.html
    end(attempt, AttemptResult(Outcome.ACCEPTED))
    part = same.next()
    assert "Publish version 2: Accepted, not live yet." in part.text
    assert [e.attributes["id"] for e in elements(part.html, "summary")] == [
        e.attributes["id"] for e in elements(page.html, "summary")
    ]
    assert "hx-trigger" not in part.poll.attributes


def test_a_log_of_what_is_settled_polls_nothing(as_viewer: Client) -> None:
    assert "operation-poll" not in open_page(as_viewer, "/activity/").html


@pytest.mark.parametrize("sending", ["", "x", "1.²", "9" * 30, "999999999999"])
def test_invalid_operations_are_ignored(sending: str, as_viewer: Client) -> None:
    at = f"/activity/?{urlencode({'sending': sending})}"
    assert "<summary" not in PolledPage(as_viewer, at, "operation-poll", is_partial=True).html
