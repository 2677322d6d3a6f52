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
from tests.support.html import Element, elements, text
from tests.support.one_audience import address, serve

pytestmark = pytest.mark.django_db

PAGE = "/pages/page_1/"
IDLE = "again, version-published from:body"


def ago(**time: float) -> str:
    return (datetime.now(UTC) - timedelta(**time)).isoformat()


def moving(status: str = "queued", **differs: Any) -> dict[str, Any]:
    queued_at = ago(seconds=20)
    return wire.audience(latestVersion=wire.version(status=status, queuedAt=queued_at) | differs)


def live_audience() -> dict[str, Any]:
    live = wire.live_version(versionId="ver_2", versionNumber=2)
    return wire.audience(latestVersion=live, publishedVersion=live)


def shown(client: Client, at: str = PAGE, *, part: str = "") -> str:
    headers = {"HX-Request": "true", "HX-Target": part} if part else None
    answer = client.get(at, headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def poll_in(page: str, name: str = "row-poll") -> Element:
    return next(e for e in elements(page) if e.attributes.get("id") == name)


def next_part(client: Client, page: str, name: str = "row-poll") -> str:
    return shown(client, poll_in(page, name).attributes["hx-get"], part=name)


def rows_in(part: str) -> list[str]:
    return [text(row.split("</tr>")[0]) for row in part.split("<tr ")[1:]]


# The rows of a page's audiences


def test_with_nothing_in_progress_only_a_publish_on_this_page_triggers_a_poll(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    assert poll_in(shown(as_viewer)).attributes["hx-trigger"] == IDLE


@pytest.mark.parametrize("status", ["pending", "queued", "processing"])
def test_one_poll_follows_all_rows_in_progress_until_they_are_settled(
    status: str, fake_service: FakeService, as_viewer: Client
) -> None:
    other = wire.audience(audienceId="aud_2")
    serve(fake_service, other, moving(status))
    page = shown(as_viewer)
    assert page.count("load delay:") == 1
    assert poll_in(page).attributes["hx-trigger"] == f"load delay:4s, {IDLE}"
    same = next_part(as_viewer, page)
    assert rows_in(same) == []
    assert "audiences-announcement" not in same
    serve(fake_service, other, live_audience())
    fake_service.sent.clear()
    part = next_part(as_viewer, same)
    assert len(fake_service.sent) == 1
    (row,) = rows_in(part)
    assert "2 Published 2 Live now" in row.replace("\u2002", " ")
    assert "Brightwater Foods: version 2 published, version 2 live." in text(part)
    assert poll_in(part).attributes["hx-trigger"] == IDLE


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
    page = shown(as_publisher)
    assert "View progress" in rows_in(page)[-1]
    Attempt.objects.update(sent_at=datetime.now(UTC) - timedelta(minutes=5))
    (row,) = rows_in(next_part(as_publisher, page))
    assert "Check" in row
    page = shown(as_publisher)
    assert "Check" in rows_in(page)[-1]
    assert poll_in(page).attributes["hx-trigger"] == IDLE
    assert Operation.objects.get().outcome == Outcome.SENDING, "shown as unknown, not written"


def test_a_row_that_no_longer_matches_the_filter_is_still_polled(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, moving(), wire.audience(audienceId="aud_2"))
    page = shown(as_viewer, f"{PAGE}?status=queued")
    serve(fake_service, live_audience(), moving() | {"audienceId": "aud_2"})
    part = next_part(as_viewer, page)
    assert len(rows_in(part)) == 1
    assert "2 Published 2 Live now" in rows_in(part)[0].replace("\u2002", " ")


def test_a_row_published_elsewhere_is_updated_by_the_next_poll(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    page = shown(as_viewer)
    serve(fake_service, moving())
    part = next_part(as_viewer, page)
    assert "Queued" in rows_in(part)[0]
    assert "load delay:" in poll_in(part).attributes["hx-trigger"]


def test_a_rollback_is_polled_although_the_list_does_not_name_its_version(
    fake_service: FakeService, as_viewer: Client
) -> None:
    older = wire.version(versionId="ver_0", versionNumber=0, status="queued", queuedAt=ago())
    record_version("page_1", AudienceVersion.model_validate(older))
    serve(fake_service, wire.audience())
    page = shown(as_viewer)
    assert "load delay:" in poll_in(page).attributes["hx-trigger"]
    live = wire.live_version(versionId="ver_0", versionNumber=0)
    serve(fake_service, wire.audience(publishedVersion=live))
    part = next_part(as_viewer, page)
    assert len(rows_in(part)) == 1
    assert poll_in(part).attributes["hx-trigger"] == IDLE


def test_a_stuck_version_is_polled_rarely_and_not_forever(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, moving(queuedAt="2026-03-01T09:00:00Z"))
    page = shown(as_viewer)
    for _ in range(MAX_POLLS):
        assert poll_in(page).attributes["hx-trigger"] == f"load delay:60s, {IDLE}"
        page = next_part(as_viewer, page)
    assert poll_in(page).attributes["hx-trigger"] == IDLE
    assert "Auto-refresh stopped." in text(page)


def test_a_failed_poll_says_so_and_polling_continues(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, moving())
    page = shown(as_viewer)
    fake_service.fails(httpx.ConnectError)
    part = next_part(as_viewer, page)
    assert "The last check failed." in text(part)
    assert "hidden" not in poll_in(part).attributes
    serve(fake_service, live_audience())
    assert "hidden" in poll_in(next_part(as_viewer, part)).attributes


@pytest.mark.parametrize("rows", ["", "x", "-", "a-b-c.d", "." * 99, "²-²"])
def test_invalid_rows_are_ignored(rows: str, fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, moving())
    part = shown(as_viewer, f"{PAGE}?{urlencode({'rows': rows, 'polls': rows})}", part="row-poll")
    assert rows_in(part) == []


def test_an_audience_without_an_id_is_in_no_poll(
    fake_service: FakeService, as_viewer: Client
) -> None:
    nameless = {key: value for key, value in moving().items() if key != "audienceId"}
    serve(fake_service, nameless, nameless)
    assert "rows=&" in poll_in(shown(as_viewer)).attributes["hx-get"]


# The head of an audience's pages


@pytest.mark.parametrize("name", ["audience-detail", "version-publish"])
def test_the_head_follows_a_version_in_progress(
    name: str, fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, moving())
    at = address(name, *(["ver_1"] if name == "version-publish" else []))
    page = shown(as_publisher, at)
    assert poll_in(page, "head-poll").attributes["hx-trigger"] == f"load delay:4s, {IDLE}"
    same = next_part(as_publisher, page, "head-poll")
    assert "head-state" not in same
    serve(fake_service, live_audience())
    part = next_part(as_publisher, same, "head-poll")
    assert "Version 2 live" in text(part)
    assert "queued" not in text(part)
    assert poll_in(part, "head-poll").attributes["hx-trigger"] == IDLE
    # The dialog is shown over the same page.
    assert "morph:#published" in part


def test_the_head_of_a_conversation_follows_it_too(
    fake_service: FakeService, as_viewer: Client
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(moving()))
        return httpx.Response(200, json=wire.conversation())

    fake_service.answer = answer
    page = shown(as_viewer, address("conversation"))
    serve(fake_service, live_audience())
    part = next_part(as_viewer, page, "head-poll")
    assert "Version 2 live" in text(part)
    # The count of pending changes is the conversation's, and stays.
    assert "morph:#head-state" in part
    assert 'id="head"' not in part


# Pending changes, counted on the other pages of the audience


@pytest.mark.parametrize("name", ["audience-detail", "version-list"])
def test_pending_changes_are_counted_outside_of_the_conversation(
    name: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    page = shown(as_viewer, address(name))
    assert not any("messages" in request.url.path for request in fake_service.sent)
    tab = poll_in(page, "tab-counts").attributes
    assert tab["hx-trigger"] == "load"
    change = {"changeId": "c1", "previousValue": "a", "newValue": "b"}
    found = wire.conversation(pendingChanges=[change, change])
    fake_service.answers(200, json=found)
    part = shown(as_viewer, tab["hx-get"], part="tab-counts")
    assert text(part) == "0, 2 pending changes"
    assert "hx-get" not in part


def test_a_conversation_that_can_t_be_read_is_not_counted_and_not_polled(
    fake_service: FakeService, as_viewer: Client
) -> None:
    fake_service.fails(httpx.ConnectError)
    part = shown(as_viewer, address("conversation"), part="tab-counts")
    assert text(part) == ""
    assert "hx-get" not in part


# Operations in the log


def test_an_operation_being_sent_is_polled_until_it_is_settled(
    as_viewer: Client, paula: User
) -> None:
    target = Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods")
    _, attempt = begin(
        operation_key="k1", actor=paula, kind=OperationKind.PUBLISH_VERSION, target=target, body={}
    )
    assert attempt
    page = shown(as_viewer, "/activity/")
    same = next_part(as_viewer, page, "operation-poll")
    assert "load delay:" in poll_in(same, "operation-poll").attributes["hx-trigger"]
    assert "<summary" not in same
    end(attempt, AttemptResult(Outcome.ACCEPTED))
    part = next_part(as_viewer, same, "operation-poll")
    assert "Publish version 2: Succeeded." in text(part)
    assert [e.attributes["id"] for e in elements(part, "summary")] == [
        e.attributes["id"] for e in elements(page, "summary")
    ]
    assert "hx-trigger" not in poll_in(part, "operation-poll").attributes


def test_a_log_of_what_is_settled_polls_nothing(as_viewer: Client) -> None:
    assert "operation-poll" not in shown(as_viewer, "/activity/")


@pytest.mark.parametrize("sending", ["", "x", "1.²", "9" * 30, "999999999999"])
def test_invalid_operations_are_ignored(sending: str, as_viewer: Client) -> None:
    at = f"/activity/?{urlencode({'sending': sending})}"
    assert "<summary" not in shown(as_viewer, at, part="operation-poll")
