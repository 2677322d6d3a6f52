"""A version can be scheduled in the publish dialog, as a release of one reviewed version."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import Operation
from dashboard.releases.models import ItemState, Release, ReleaseState, WorkerHeartbeat
from tests.support.fake_service import FakeService
from tests.support.html import elements, page_text
from tests.support.publish_dialog import ADDRESS
from tests.support.schedule_form import ACTS, CHOSEN, TOMORROW, WITHIN, ScheduleForm, tomorrow

NEXT_YEAR = timezone.now().year + 1


pytestmark = pytest.mark.django_db


def sunday_of_the_clocks(month: int) -> str:
    """Return the last Sunday of that month of next year, when clocks change in Europe."""
    last = datetime(NEXT_YEAR, month, 31, tzinfo=UTC).date()
    return (last - timedelta(days=(last.weekday() + 1) % 7)).isoformat()


SPRING, AUTUMN = sunday_of_the_clocks(3), sunday_of_the_clocks(10)


def test_a_version_is_scheduled_and_nothing_is_sent(schedule: ScheduleForm) -> None:
    page = schedule.submit(note="New prices from finance.")
    release = Release.objects.get()
    assert release.state == ReleaseState.SCHEDULED
    assert (release.time_zone, release.due_as_typed) == ("Europe/Oslo", f"{TOMORROW} 14:00")
    assert release.note == "New prices from finance."
    assert "Version 2 is scheduled" in page
    assert "14:00 in Oslo" in page
    assert schedule.service.keys == []
    assert not Operation.objects.exists()


@pytest.mark.parametrize("zone", ["Etc/GMT+3", "Etc/GMT-10", "Etc/GMT+12"])
def test_the_zone_that_the_form_offers_is_accepted(schedule: ScheduleForm, zone: str) -> None:
    schedule.client.cookies[settings.TIME_ZONE_COOKIE] = zone
    offered = schedule.open().typed["zone"]
    later = (timezone.localdate() + timedelta(days=3)).isoformat()
    schedule.submit(date=later, zone=offered)
    release = Release.objects.get()
    assert (release.time_zone, release.state) == (zone, ReleaseState.SCHEDULED)
    html = schedule.client.get(f"/releases/{release.pk}/schedule/").text
    assert f'<option value="{zone}" selected>' in html


def test_the_schedule_is_what_the_dialog_reviewed(schedule: ScheduleForm) -> None:
    schedule.submit()
    item = Release.objects.get().items.get()
    assert (item.version_number, item.live_version_number) == (2, 1)
    assert item.digest
    assert item.reviewed_by_name == Release.objects.get().owner_name
    assert item.state == ItemState.WAITING


def test_the_confirmation_links_to_the_release(schedule: ScheduleForm) -> None:
    schedule.submit()
    links = [element.attributes.get("href") for element in elements(schedule.html, "a")]
    assert f"/releases/{Release.objects.get().pk}/" in links


def test_with_htmx_the_confirmation_has_its_own_url(schedule: ScheduleForm) -> None:
    url = schedule.send(schedule.fill(), headers=WITHIN)["HX-Replace-Url"]
    assert schedule.state == "Version 2 is scheduled"
    assert "<dialog" not in schedule.html
    assert "Version 2 is scheduled" in page_text(schedule.client, url)


def test_a_second_press_schedules_nothing_again(schedule: ScheduleForm) -> None:
    sent = schedule.fill()
    for _ in range(2):
        schedule.send(sent, follow=True)
    assert schedule.state == "Version 2 is scheduled"
    assert Release.objects.count() == 1


def test_an_audience_is_not_scheduled_twice(schedule: ScheduleForm) -> None:
    schedule.submit()
    page = schedule.submit(time="15:00")
    assert "Version 2 of this audience is already scheduled in the release" in page
    assert Release.objects.count() == 1


def test_the_dialog_says_that_the_version_is_scheduled(schedule: ScheduleForm) -> None:
    schedule.submit()
    assert "This version is scheduled for" in schedule.open().text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"date": "2020-01-01"}, "This time is in the past."),
        ({"date": f"{NEXT_YEAR}-02-30"}, "Enter a valid date"),
        ({"date": ""}, "Enter a valid date"),
        ({"time": "25:00"}, "Enter a valid time"),
        ({"zone": "Europe/Atlantis"}, "Choose a time zone from the list."),
        ({"note": "x" * 2001}, "The note has 2,001 characters. The maximum is 2,000."),
    ],
)
def test_invalid_input_gets_its_sentence_and_is_kept(
    schedule: ScheduleForm, changes: dict[str, str], sentence: str
) -> None:
    values = CHOSEN | {"note": "For Callum."} | changes
    assert sentence in schedule.submit(**values)
    assert schedule.status == 422
    assert schedule.typed == values
    assert not Release.objects.exists()


def test_an_invalid_field_names_its_sentence(schedule: ScheduleForm) -> None:
    schedule.submit(time="25:00")
    inputs = [element.attributes for element in elements(schedule.html, "input")]
    time = next(field for field in inputs if field.get("name") == "time")
    assert time["aria-invalid"] == "true"
    assert "schedule-time-error" in time["aria-describedby"]
    assert "schedule-time-error" in [e.attributes.get("id") for e in elements(schedule.html, "p")]


def test_an_hour_that_occurs_twice_is_asked_for(schedule: ScheduleForm) -> None:
    page = schedule.submit(date=AUTUMN, time="02:30")
    assert "02:30 occurs twice" in page
    assert "First 02:30 Before clocks go back, 00:30 UTC" in page
    assert not Release.objects.exists()


@pytest.mark.parametrize(("fold", "hour"), [("first", 0), ("second", 1)])
def test_the_chosen_one_of_two_equal_hours_counts(
    schedule: ScheduleForm, fold: str, hour: int
) -> None:
    schedule.submit(date=AUTUMN, time="02:30", fold=fold)
    due_at = Release.objects.get().due_at
    assert due_at is not None
    assert (due_at.hour, due_at.minute) == (hour, 30)


def test_a_missing_hour_is_moved_and_named(schedule: ScheduleForm) -> None:
    page = schedule.submit(date=SPRING, time="02:30")
    due_at = Release.objects.get().due_at
    assert due_at is not None
    assert (due_at.hour, due_at.minute) == (1, 0)
    assert "02:30 doesn’t exist" in page
    assert "03:00 in Oslo" in page


def test_what_the_chosen_time_means_is_shown_before(
    schedule: ScheduleForm, fake_service: FakeService
) -> None:
    assert ", 14:00 in Oslo" in schedule.preview(date=tomorrow())
    assert "02:30 doesn’t exist" in schedule.preview(date=SPRING, time="02:30")
    assert "occurs twice" in schedule.preview(date=AUTUMN, time="02:30")
    assert "This time is in the past." in schedule.preview(date="2020-01-01")
    assert "valid time" not in schedule.preview(time="")
    assert fake_service.sent == []


def test_a_change_since_the_review_schedules_nothing(schedule: ScheduleForm) -> None:
    sent = schedule.fill(note="For Callum.")
    assert schedule.service.latest is not None
    schedule.service.latest = schedule.service.latest | {"supplementaryContext": "Other words."}
    schedule.send(sent)
    assert "Something changed since you opened this form." in schedule.text
    assert schedule.typed["note"] == "For Callum."
    assert not Release.objects.exists()


def test_a_warning_must_be_confirmed_for_a_schedule(schedule: ScheduleForm) -> None:
    assert schedule.service.latest is not None
    schedule.service.latest = schedule.service.latest | {"status": "queued"}
    assert "then type 2" in schedule.submit()
    assert not Release.objects.exists()
    assert "Version 2 is scheduled" in schedule.submit(number="2")


def test_a_service_that_does_not_respond_schedules_nothing(
    schedule: ScheduleForm, fake_service: FakeService
) -> None:
    sent = schedule.fill()
    fake_service.fails(httpx.ConnectError)
    schedule.send(sent)
    assert "Nothing was scheduled" in schedule.text
    assert not Release.objects.exists()
    assert not Operation.objects.exists()


def test_the_dialog_says_if_no_scheduler_runs(schedule: ScheduleForm) -> None:
    assert "No scheduler is running." in schedule.open().text
    now = timezone.now()
    WorkerHeartbeat.objects.create(worker_id="worker", started_at=now, active_at=now)
    page = schedule.open().text
    assert "No scheduler is running." not in page
    assert "Scheduler last active" in page


def test_viewers_cannot_schedule(schedule: ScheduleForm, as_viewer: Client) -> None:
    fields = schedule.fill()
    schedule.client = as_viewer
    schedule.send(fields)
    assert schedule.status == 403
    assert not Release.objects.exists()


@pytest.mark.parametrize("pressed", ACTS)
@pytest.mark.parametrize("when", ACTS)
def test_a_form_goes_to_the_url_of_its_choice(
    schedule: ScheduleForm, pressed: str, when: str
) -> None:
    sent = schedule.fill(when=when)
    response = schedule.client.post(ACTS[pressed], sent)
    if when != pressed:
        assert (response.status_code, response["Location"]) == (307, ACTS[when])
    publishes = when == pressed == "now"
    assert (len(schedule.service.keys), Release.objects.count()) == (
        int(publishes),
        int(when == pressed != "now"),
    )


@pytest.mark.parametrize("act", ["schedule", "request"])
def test_the_url_of_an_act_leads_to_its_form(schedule: ScheduleForm, act: str) -> None:
    assert schedule.client.get(f"{ADDRESS}{act}/")["Location"] == ADDRESS


def test_each_button_has_the_url_of_its_act(schedule: ScheduleForm) -> None:
    html = schedule.open().html
    [dialog] = [e for e in elements(html, "form") if e.attributes.get("id") == "publish-form"]
    buttons = [e.attributes for e in elements(html, "button") if "data-when" in e.attributes]
    acts = {e["data-when"]: e.get("formaction", dialog.attributes["action"]) for e in buttons}
    assert acts == ACTS


def test_what_was_typed_survives_a_sign_in(schedule: ScheduleForm, paula: User) -> None:
    sent = schedule.fill(note="For Callum.")
    schedule.client.logout()
    schedule.send(sent)
    schedule.client.force_login(paula)
    schedule.show(schedule.client.get(f"{ADDRESS}?resume=1"))
    assert schedule.typed == CHOSEN | {"note": "For Callum."}
    assert not Release.objects.exists()
