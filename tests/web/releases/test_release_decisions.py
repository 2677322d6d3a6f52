"""Publishing, scheduling, stopping, continuing, canceling and rolling back without scripts."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard.accounts.preferences import save_preferences
from dashboard.approvals.models import ApprovalKind, ApprovalRequest
from dashboard.ledger.models import AudienceRecord
from dashboard.releases.checking import check_release
from dashboard.releases.drafting import request_check
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.worker import run_pending
from dashboard.web.releases.progress import MAX_EXCERPTS
from tests.support.approval_page import approval_url
from tests.support.csv_files import csv_rows
from tests.support.html import page_text
from tests.support.many_audiences import ManyAudiences
from tests.support.release_page import Board, ReleasePage
from tests.support.seeding import seed_rule
from tests.web.releases.conftest import Draft, live_release

AMERICAN = {"date_order": "month", "hours": "12"}


def test_a_repeated_press_says_it_is_being_published(board: Board) -> None:
    page = board(2)
    digest = page.open().value("shown")
    page.post("publish", shown=digest)
    assert page.post("publish", shown=digest).location == page.url()
    assert "This release is being published." in page.open().text


@pytest.mark.parametrize("entered", ["", "25", "twenty-six"])
def test_a_wrong_number_is_refused_beside_its_field(board: Board, entered: str) -> None:
    page = board(26)
    page.decide("publish", typed=entered, publishes_others="on")
    assert page.status == 422
    field = page.field("typed")
    assert (field["value"], field["aria-describedby"]) == (entered, "typed-problem")
    assert "then type 26." in page.text
    assert "checked" in page.field("publishes_others")
    assert page.state == ReleaseState.DRAFT


def test_a_change_since_opening_prevents_publishing(service: ManyAudiences, board: Board) -> None:
    page = board(1)
    seen = page.open().value("shown")
    changed = service.version(("page_1", "aud_1"), 2, supplementaryContext="Other words")
    service.change(("page_1", "aud_1"), latestVersion=changed)
    request_check(page.release)
    check_release(page.release)
    assert page.post("publish", shown=seen).status == 422
    assert "Something changed since you opened this page." in page.text
    assert page.state == ReleaseState.DRAFT


@pytest.mark.parametrize("step", ["publish", "request-approval", "cancel", "schedule", "edit"])
def test_a_decision_on_a_removed_release_is_404(board: Board, step: str) -> None:
    page = board(1)
    body = {"date": "2030-01-01", "time": "10:00", "zone": "UTC"}

    def remove(execute: Any, sql: str, *arguments: Any) -> Any:
        # The view has read the release and begins a transaction.
        if sql.startswith("SAVEPOINT"):
            connection.execute_wrappers.remove(remove)
            Release.objects.filter(pk=page.pk).delete()
        return execute(sql, *arguments)

    connection.execute_wrappers.append(remove)
    assert page.post(step, **body).status == 404


@pytest.mark.parametrize(
    "step",
    ["publish", "schedule", "stop", "continue", "cancel", "roll-back", "retry", "check", "edit"],
)
def test_a_viewer_decides_nothing(draft: Draft, as_viewer: Client, step: str) -> None:
    page = ReleasePage(as_viewer, draft(1))
    assert page.post(step).status == 403
    assert "You need the Publisher role to publish." in page.text
    assert page.state == ReleaseState.DRAFT


def test_the_same_schedule_again_leads_to_the_release(board: Board) -> None:
    page = board(2)
    due = page.open("schedule").value("due")
    assert page.schedule(due=due).location == page.schedule(due=due).location == page.url()
    page.schedule(due=due, time="15:00")
    assert "The schedule was changed since you opened this page." in page.text


def test_a_release_is_scheduled_in_a_zone(board: Board) -> None:
    page = board(2)
    assert page.schedule().location == page.url()
    assert page.release.due_at == datetime(2030, 3, 12, 13, 30, tzinfo=UTC)
    assert (page.release.state, page.release.time_zone) == (ReleaseState.SCHEDULED, "Europe/Oslo")
    assert "(12 Mar 2030, 14:30 CET, Europe/Oslo)" in page.open().text


@pytest.mark.parametrize("zone", ["Mars/Base", "Etc", "../../etc/passwd"])
def test_an_unknown_zone_is_shown_in_utc(board: Board, as_publisher: Client, zone: str) -> None:
    page = board(2).schedule()
    Release.objects.update(time_zone=zone)
    item = page.release.items.all()[0]
    audience = f"/pages/{item.page_id}/audiences/{item.audience_id}/"
    dialog = f"{audience}versions/{item.version_id}/publish/"
    lists = ["/", "/releases/", f"/pages/{item.page_id}/", "/audiences/", "/find/?q=November"]
    for address in (*lists, audience, dialog, f"{dialog}scheduled/{page.pk}/"):
        assert as_publisher.get(address).status_code == 200, address
    sentence = f"This machine doesn’t know the time zone {zone}, so the time is shown in UTC."
    assert sentence in page.open().text
    assert sentence in page.open("schedule").text
    assert f"12 Mar 2030, 13:30 UTC, {zone} (unknown here)" in page_text(as_publisher, "/releases/")
    page.open("schedule")
    assert (page.value("date"), page.value("time")) == ("2030-03-12", "13:30")
    assert '<option value="UTC" selected>' in page.html
    page.schedule(time="15:00", zone="UTC")
    assert sentence not in page.open().text
    Release.objects.update(time_zone=zone)
    page.post("cancel")
    assert page.state == ReleaseState.CANCELED
    assert as_publisher.get("/releases/").status_code == 200


def test_an_hour_that_occurs_twice_is_asked_for(board: Board) -> None:
    page = board(1)
    entered = {"date": "2030-10-27", "time": "02:30"}
    assert page.schedule(**entered).status == 422
    assert "02:30 occurs twice on 27 Oct 2030." in page.text
    assert "First 02:30 Before clocks go back, 00:30 UTC" in page.text
    assert {name: page.value(name) for name in entered} == entered
    page.schedule(**entered, fold="second")
    assert page.release.due_at == datetime(2030, 10, 27, 1, 30, tzinfo=UTC)
    assert re.search(r'value="second"[^>]* checked', page.open("schedule").html)


def test_a_schedule_says_what_its_time_means(board: Board) -> None:
    page = board(1).open("schedule")
    assert "No scheduler is running." in page.text
    page.schedule()
    assert "12 Mar 2030, 14:30 in Oslo" in page.open("schedule").text


def test_a_day_within_a_sentence_is_not_capitalized(board: Board) -> None:
    page = board(1)
    tomorrow = timezone.now() + timedelta(days=1)
    page.schedule(date=f"{tomorrow:%Y-%m-%d}", zone="UTC")
    assert "now scheduled for tomorrow, 14:30" in page.open("schedule").text
    assert "Tomorrow, 14:30 in UTC" in page.text


def test_the_meaning_of_a_time_is_no_page(as_publisher: Client) -> None:
    assert as_publisher.get("/releases/moment/")["Location"] == "/releases/"


@pytest.mark.parametrize(
    ("formats", "sentence"),
    [
        ({}, "02:30 doesn’t exist on 31 Mar 2030, as clocks go forward. The next valid time is 03"),
        (
            AMERICAN,
            "2:30 AM doesn’t exist on Mar 31, 2030, as clocks go forward. The next valid time is 3",
        ),
    ],
)
def test_a_planned_release_names_its_moved_hour(
    board: Board, paula: User, formats: dict[str, str], sentence: str
) -> None:
    page = board(1)
    page.schedule(date="2030-03-31", time="02:30")
    save_preferences(paula, **formats)
    for _ in range(2):
        assert sentence in page.open().text
    page.schedule(date="2030-03-31", time="03:30")
    assert "doesn’t exist" not in page.open().text


@pytest.mark.parametrize(
    ("formats", "sentence"),
    [({}, "02:30 occurs twice on 27 Oct"), (AMERICAN, "2:30 AM occurs twice on Oct 27, 2030")],
)
def test_a_repeated_hour_follows_the_viewer_s_format(
    board: Board, paula: User, formats: dict[str, str], sentence: str
) -> None:
    page = board(1)
    save_preferences(paula, **formats)
    page.schedule(date="2030-10-27", time="02:30")
    assert sentence in page.text


@pytest.mark.parametrize(
    ("field", "entered", "sentence"),
    [
        ("date", "2030-02-30", "Enter a valid date"),
        ("time", "25:00", "Enter a valid time"),
        ("zone", "Europe/Atlantis", "Choose a time zone from the list."),
        ("date", "2020-01-01", "This time is in the past."),
    ],
)
def test_a_bad_moment_is_explained_and_kept(
    board: Board, field: str, entered: str, sentence: str
) -> None:
    page = board(1)
    page.schedule(**{field: entered, "publishes_others": "on"})
    assert page.status == 422
    assert sentence in page.text
    assert f'value="{entered}"' in page.html
    assert page.state == ReleaseState.DRAFT


def test_a_schedule_is_changed_and_canceled(board: Board) -> None:
    page = board(1)
    page.schedule()
    assert page.open("schedule").value("time") == "14:30"
    page.schedule(time="15:00", zone="UTC")
    assert page.release.due_at == datetime(2030, 3, 12, 15, 0, tzinfo=UTC)
    page.post("schedule", "cancel")
    assert page.state == ReleaseState.DRAFT


def test_a_foreign_schedule_is_not_replaced_unseen(board: Board) -> None:
    page = board(1).schedule()
    of_draft, first = "", page.open("schedule").value("due")
    for due in (of_draft, first):
        page.schedule(time="15:00")
        assert page.schedule(time="16:00", due=due).status == 422
        assert "The schedule was changed since you opened this page." in page.text
        assert 'value="16:00"' in page.html
    assert page.release.due_at == datetime(2030, 3, 12, 14, 0, tzinfo=UTC)


def test_a_canceled_schedule_is_not_made_again(board: Board) -> None:
    page = board(1)
    page.schedule()
    due = page.open("schedule").value("due")
    page.post("schedule", "cancel")
    assert page.schedule(due=due).status == 422
    assert page.state == ReleaseState.DRAFT


def test_a_scheduled_release_without_a_worker_has_a_banner(board: Board) -> None:
    assert "The scheduler isn’t running" in board(1).schedule().open().text


def test_with_a_worker_it_has_none(board: Board, worker: None) -> None:
    page = board(1).schedule()
    assert "The scheduler isn’t running" not in page.open().text


def test_a_running_release_is_stopped(board: Board) -> None:
    page = board(2)
    page.decide("publish")
    assert "Stop after this one" in page.open().text
    page.post("stop")
    assert "Stopping" in page.open().text
    assert "Stop after this one" not in page.text


def test_a_draft_is_canceled(board: Board) -> None:
    page = board(1)
    page.post("cancel")
    assert page.state == ReleaseState.CANCELED
    assert "Nothing was sent" in page.open().text


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (1, "The version already sent stays as it is; nothing more is sent."),
        (2, "The 2 already sent stay as they are; nothing more is sent."),
    ],
)
def test_canceling_the_rest_says_what_stays(
    draft: Draft, as_publisher: Client, sent: int, sentence: str
) -> None:
    release = live_release(draft, 3, live=sent)
    release.items.filter(position__gt=sent).update(state=ItemState.HELD, sent_at=None)
    Release.objects.filter(pk=release.pk).update(state=ReleaseState.HELD, finished_at=None)
    assert sentence in ReleasePage(as_publisher, release).open().text


def test_progress_is_grouped_with_the_reasons(draft: Draft, as_viewer: Client) -> None:
    release = draft(6)
    states = [ItemState.LIVE, ItemState.IN_PROGRESS, ItemState.FAILED, ItemState.UNKNOWN]
    now = timezone.now()
    for position, state in enumerate(states, start=1):
        release.items.filter(position=position).update(
            state=state, sent_at=now, settled_at=now, reason="It was rejected (409)."
        )
    Release.objects.update(state=ReleaseState.RUNNING, started_at=now)
    page = ReleasePage(as_viewer, release).open().text
    assert "4 of 6 sent, 1 went live" in page
    heads = ["Needs attention 2", "In progress 1", "Not sent yet 2", "Went live 1"]
    places = [page.index(head) for head in heads]
    assert places == sorted(places)
    assert "It was rejected (409)." in page


def live_at(service: ManyAudiences, *numbers: int, version: int = 2) -> None:
    """Make a version of some audiences live at the service, and read them."""
    for number in numbers:
        key = ("page_1", f"aud_{number}")
        published = service.live(key, version)
        service.change(key, publishedVersion=published, latestVersion=published)
    service.record()


def test_a_replaced_version_is_not_shown_as_live(
    service: ManyAudiences, draft: Draft, as_viewer: Client
) -> None:
    page = ReleasePage(as_viewer, live_release(draft, 1, live=1))
    live_at(service, 1, version=3)
    assert "Superseded" in page.open().text
    assert "Live now" not in page.text


def test_an_open_page_shows_the_result_once_it_has_ended(draft: Draft, as_viewer: Client) -> None:
    release = draft(1)
    now = timezone.now()
    Release.objects.update(state=ReleaseState.RUNNING, started_at=now)
    page = ReleasePage(as_viewer, release).watch()
    assert page.is_moving
    assert "Updates automatically." in page.refresh().text
    release.items.update(state=ItemState.LIVE, sent_at=now, settled_at=now)
    Release.objects.update(state=ReleaseState.FINISHED, finished_at=now)
    assert "1 of 1 went live" in page.refresh().text
    assert not page.is_moving


@pytest.fixture
def half_rolled_back(service: ManyAudiences, draft: Draft, as_publisher: Client) -> ReleasePage:
    """A release of three items, two of them live, one of these by a first publish."""
    release = live_release(draft, 3, live=2)
    live_at(service, 1, 2)
    release.items.filter(position=1).update(live_version_id="", live_body="")
    return ReleasePage(as_publisher, release)


def test_a_rollback_runs_at_once_without_changed_items(half_rolled_back: ReleasePage) -> None:
    page = half_rolled_back
    assert "1 of 2 live versions can be rolled back." in page.open().text
    assert "Name of aud_1 First publish. The API can’t unpublish." in page.open("roll-back").text
    assert "Type " not in page.text
    page.post("roll-back", item=page.item_ids, note="Wrong price", follow=True)
    assert "Roll back: November prices" in page.text
    assert "Name of aud_1: First publish. The API can’t unpublish." in page.text
    rollback = Release.objects.latest("pk")
    assert (rollback.state, rollback.note) == (ReleaseState.RUNNING, "Wrong price")
    assert [item.version_number for item in rollback.items.all()] == [1]


def test_a_rollback_of_nothing_sends_nothing(half_rolled_back: ReleasePage) -> None:
    assert half_rolled_back.post("roll-back", note="Kept").status == 422
    assert "Select at least one version." in half_rolled_back.text
    assert half_rolled_back.value("note") == "Kept"
    assert Release.objects.count() == 1


def test_one_press_requests_approval_of_a_rollback(half_rolled_back: ReleasePage) -> None:
    page = half_rolled_back
    seed_rule(covers_rollbacks=True)
    again = {"item": page.item_ids, "note": "Wrong price"}
    form = again | {"form_key": page.open("roll-back").value("form_key")}
    locations = {page.post("roll-back", **fields).location for fields in (form, form, again)}
    rollback = ReleasePage(page.client, Release.objects.get(rolls_back=page.release))
    assert locations == {rollback.url()}
    run_pending("worker-1")
    [approval] = ApprovalRequest.objects.all()
    assert (approval.kind, approval.note) == (ApprovalKind.ROLL_BACK, "Wrong price")
    assert page.post("roll-back", **form).location == approval_url(approval)


def test_a_rollback_says_how_many_of_its_versions_are_read(half_rolled_back: ReleasePage) -> None:
    page = half_rolled_back
    seed_rule(covers_rollbacks=True)
    page.post("roll-back", item=page.item_ids)
    rollback = ReleasePage(page.client, Release.objects.get(rolls_back=page.release))
    reading = "Reading 0 of 1 version. The approval is requested once all are read."
    assert "not requested yet" in page_text(page.client, "/releases/")
    region = rollback.watch()
    assert reading in region.text
    assert reading in region.refresh().text
    assert region.is_moving
    run_pending("worker-1")
    assert "View approval request" in region.refresh().text
    assert not region.is_moving


def test_the_dialog_shows_the_first_text_to_return(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    count = MAX_EXCERPTS + 1
    page = ReleasePage(as_publisher, live_release(draft, count, live=count))
    live_at(service, *range(1, count + 1))
    dialog = page.open("roll-back").text
    assert dialog.count("Runs removed: 20 inserted: 10 trucks.") == MAX_EXCERPTS


def test_a_release_that_cannot_be_rolled_back_says_so(draft: Draft, as_publisher: Client) -> None:
    page = ReleasePage(as_publisher, live_release(draft, 1, live=0))
    assert page.post("roll-back").status == 422
    assert "No version of this release can be rolled back." in page.text


def test_what_is_as_before_is_counted_and_not_listed(draft: Draft, as_publisher: Client) -> None:
    page = ReleasePage(as_publisher, live_release(draft, 3, live=3))
    AudienceRecord.objects.filter(audience_id="aud_3").update(live_version_id="ver_aud_3_2")
    assert "The version before is live again for 2 of 3." in page.open().text
    assert "Version 1 is live again." not in page.text
    assert "1 of 3 live versions can be rolled back." in page.text


def test_a_release_names_its_rollback_and_whether_partial(draft: Draft, as_viewer: Client) -> None:
    page = ReleasePage(as_viewer, live_release(draft, 2, live=2))
    assert "olled back by" not in page.open().text
    for name, word in [("First", "Partly rolled back by"), ("Second", "Rolled back by")]:
        rollback = live_release(draft, 2, live=1)
        Release.objects.filter(pk=rollback.pk).update(name=name, rolls_back=page.release)
        assert f"{word} First" in page.open().text
    assert "Rolled back by First, Second" in page.text


def test_failed_versions_are_retried_as_a_new_draft(draft: Draft, as_publisher: Client) -> None:
    page = ReleasePage(as_publisher, live_release(draft, 4, live=1))
    page.release.items.filter(position=4).update(state=ItemState.UNKNOWN)
    assert "2 of 2 failed versions can be retried." in page.open().text
    assert "Name of aud_4 Its outcome is unknown. Check it first." in page.text
    page.post("retry", follow=True)
    assert "Retry: November prices" in page.text
    assert "Not included: Name of aud_4: Its outcome is unknown. Check it first." in page.text
    retry = Release.objects.latest("pk")
    assert list(retry.items.values_list("audience_id", flat=True)) == ["aud_2", "aud_3"]


def test_a_second_press_shows_the_draft_of_the_first(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    page = ReleasePage(as_publisher, live_release(draft, 2, live=1))
    live_at(service, 1)
    first = page.post("retry").location
    assert page.url("retry") in page.open().html
    Release.objects.update(is_provisional=False)  # As after any decision on it.
    assert f'<a href="{first}"' in page.open().html
    assert page.url("retry") not in page.html
    assert page.post("retry").location == first
    assert Release.objects.count() == 2
    assert "Name of aud_" in page_text(as_publisher, first)


def test_a_repeated_form_leads_to_its_rollback(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    page = ReleasePage(as_publisher, live_release(draft, 2, live=1))
    live_at(service, 1)
    form = {"form_key": page.open("roll-back").value("form_key"), "item": page.item_ids[0]}
    first = page.post("roll-back", **form).location
    page.release.rollbacks.update(state=ReleaseState.FINISHED)
    assert page.post("roll-back", **form).location == first
    assert page.release.rollbacks.count() == 1


def test_a_release_in_which_nothing_failed_offers_no_retry(
    draft: Draft, as_publisher: Client
) -> None:
    page = ReleasePage(as_publisher, live_release(draft, 1, live=1))
    assert "Retry failed" not in page.open().text
    assert page.post("retry").status == 422
    assert "No version of this release can be retried." in page.text


def test_a_viewer_is_not_offered_to_retry(draft: Draft, as_viewer: Client) -> None:
    page = ReleasePage(as_viewer, live_release(draft, 2, live=1)).open().text
    assert "1 of 1 failed version can be retried." in page
    assert "Retry failed" not in page


def test_the_export_has_each_item_with_its_reason(draft: Draft, as_viewer: Client) -> None:
    page = ReleasePage(as_viewer, live_release(draft, 2, live=1))
    rows = csv_rows(as_viewer, f"{page.url()}export.csv")
    assert [row["state"] for row in rows] == ["Live", "Failed"]
    assert rows[1]["reason"] == "The service rejected the request (409)."
