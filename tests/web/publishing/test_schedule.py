"""A version can be scheduled from the publish dialog: a release of one, as it was reviewed."""

import re
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
from tests.support.html import elements, response_text, text
from tests.support.publishing_service import PublishingService
from tests.support.schedule_form import ACTS, ADDRESS, DIALOG, TOMORROW, form, send, tomorrow

PREVIEW = {"HX-Request": "true", "HX-Target": "when-said"}
NEXT_YEAR = timezone.now().year + 1


pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def service(fake_service: FakeService) -> PublishingService:
    fake_service.answer = service = PublishingService()
    return service


def schedule(client: Client, **changes: str) -> str:
    """Open the dialog, schedule the version and return the resulting page."""
    html: str = send(client, form(client, **changes), follow=True).text
    return html


def typed_fields(html: str) -> dict[str, str]:
    """Return what the fields of the schedule hold."""
    inputs = [element.attributes for element in elements(html, "input")]
    matching = {
        box["name"]: box.get("value", "")
        for box in inputs
        if box.get("name") in ("date", "time") or (box.get("name") == "when" and "checked" in box)
    }
    zone = re.search(r'<option value="([^"]*)" selected>', html)
    note = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", html, re.S)
    assert zone
    assert note
    return matching | {"zone": zone[1], "note": note[1]}


def sunday_of_the_clocks(month: int) -> str:
    """Return the last Sunday of that month of next year, on which clocks change in Europe."""
    last = datetime(NEXT_YEAR, month, 31, tzinfo=UTC).date()
    return (last - timedelta(days=(last.weekday() + 1) % 7)).isoformat()


SPRING, AUTUMN = sunday_of_the_clocks(3), sunday_of_the_clocks(10)


def test_a_version_is_scheduled_and_nothing_is_sent(
    as_publisher: Client, service: PublishingService
) -> None:
    page = text(schedule(as_publisher, note="New prices from finance."))
    release = Release.objects.get()
    assert release.state == ReleaseState.SCHEDULED
    assert (release.time_zone, release.due_as_typed) == ("Europe/Oslo", f"{TOMORROW} 14:00")
    assert release.note == "New prices from finance."
    assert "Version 2 is scheduled" in page
    assert "14:00 in Oslo" in page
    assert service.keys == []
    assert not Operation.objects.exists()


@pytest.mark.parametrize("zone", ["Etc/GMT+3", "Etc/GMT-10", "Etc/GMT+12"])
def test_the_zone_that_the_form_offers_is_accepted(as_publisher: Client, zone: str) -> None:
    as_publisher.cookies[settings.TIME_ZONE_COOKIE] = zone
    offered = typed_fields(as_publisher.get(ADDRESS).text)["zone"]
    later = (timezone.localdate() + timedelta(days=3)).isoformat()
    schedule(as_publisher, date=later, zone=offered)
    release = Release.objects.get()
    assert (release.time_zone, release.state) == (zone, ReleaseState.SCHEDULED)
    html = as_publisher.get(f"/releases/{release.pk}/schedule/").text
    assert f'<option value="{zone}" selected>' in html


def test_the_schedule_is_what_the_dialog_reviewed(as_publisher: Client) -> None:
    schedule(as_publisher)
    item = Release.objects.get().items.get()
    assert (item.version_number, item.live_version_number) == (2, 1)
    assert item.digest
    assert item.reviewed_by_name == Release.objects.get().owner_name
    assert item.state == ItemState.WAITING


def test_the_confirmation_links_to_the_release(as_publisher: Client) -> None:
    html = schedule(as_publisher)
    links = [element.attributes.get("href") for element in elements(html, "a")]
    assert f"/releases/{Release.objects.get().pk}/" in links


def test_with_htmx_the_confirmation_has_its_own_url(as_publisher: Client) -> None:
    response = send(as_publisher, form(as_publisher), headers=DIALOG)
    url = response["HX-Replace-Url"]
    assert "Version 2 is scheduled" in response_text(response)
    assert "<dialog" not in response.text
    assert "Version 2 is scheduled" in response_text(as_publisher.get(url))


def test_a_second_press_schedules_nothing_again(as_publisher: Client) -> None:
    sent = form(as_publisher)
    for _ in range(2):
        page = send(as_publisher, sent, follow=True).text
    assert "Version 2 is scheduled" in text(page)
    assert Release.objects.count() == 1


def test_an_audience_is_not_scheduled_twice(as_publisher: Client) -> None:
    schedule(as_publisher)
    page = text(schedule(as_publisher, time="15:00"))
    assert "Version 2 of this audience is already scheduled in the release" in page
    assert Release.objects.count() == 1


def test_the_dialog_says_that_the_version_is_scheduled(as_publisher: Client) -> None:
    schedule(as_publisher)
    page = response_text(as_publisher.get(ADDRESS))
    assert "This version is scheduled for" in page


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
    as_publisher: Client, changes: dict[str, str], sentence: str
) -> None:
    values = {"when": "schedule", "date": TOMORROW, "time": "14:00", "zone": "Europe/Oslo"}
    values |= {"note": "For Callum."} | changes
    response = send(as_publisher, form(as_publisher, **values))
    html = response.text
    assert response.status_code == 422
    assert sentence in text(html)
    assert typed_fields(html) == values
    assert not Release.objects.exists()


def test_an_invalid_field_names_its_sentence(as_publisher: Client) -> None:
    html = send(as_publisher, form(as_publisher, time="25:00")).text
    fields = [element.attributes for element in elements(html, "input")]
    time = next(field for field in fields if field.get("name") == "time")
    assert time["aria-invalid"] == "true"
    sentence = next(e for e in elements(html, "p") if e.attributes.get("id") == "pub-time-error")
    assert sentence.attributes["id"] in time["aria-describedby"]


def test_an_hour_that_occurs_twice_is_asked_for(as_publisher: Client) -> None:
    page = schedule(as_publisher, date=AUTUMN, time="02:30")
    assert "02:30 occurs twice" in text(page)
    assert "First 02:30 Before clocks go back, 00:30 UTC" in text(page)
    assert not Release.objects.exists()


@pytest.mark.parametrize(("fold", "hour"), [("first", 0), ("second", 1)])
def test_the_chosen_one_of_two_equal_hours_counts(
    as_publisher: Client, fold: str, hour: int
) -> None:
    schedule(as_publisher, date=AUTUMN, time="02:30", fold=fold)
    due_at = Release.objects.get().due_at
    assert due_at is not None
    assert (due_at.hour, due_at.minute) == (hour, 30)


def test_a_missing_hour_is_moved_and_named(as_publisher: Client) -> None:
    page = text(schedule(as_publisher, date=SPRING, time="02:30"))
    due_at = Release.objects.get().due_at
    assert due_at is not None
    assert (due_at.hour, due_at.minute) == (1, 0)
    assert "02:30 doesn’t exist" in page
    assert "03:00 in Oslo" in page


def preview(client: Client, **changes: str) -> str:
    chosen = {"when": "schedule", "date": TOMORROW, "time": "14:00", "zone": "Europe/Oslo"}
    return response_text(client.get(f"{ADDRESS}moment/", chosen | changes, headers=PREVIEW))


def test_what_the_chosen_time_means_is_shown_before(
    as_publisher: Client, fake_service: FakeService
) -> None:
    assert "Tomorrow, 14:00 in Oslo" in preview(as_publisher, date=tomorrow())
    assert "02:30 doesn’t exist" in preview(as_publisher, date=SPRING, time="02:30")
    assert "occurs twice" in preview(as_publisher, date=AUTUMN, time="02:30")
    assert "This time is in the past." in preview(as_publisher, date="2020-01-01")
    assert "valid time" not in preview(as_publisher, time="")
    assert fake_service.sent == []


def test_a_change_since_the_review_schedules_nothing(
    as_publisher: Client, service: PublishingService
) -> None:
    sent = form(as_publisher, note="For Callum.")
    assert service.latest is not None
    service.latest = service.latest | {"supplementaryContext": "Other words."}
    html = send(as_publisher, sent).text
    assert "Something changed since you opened this form." in text(html)
    assert typed_fields(html)["note"] == "For Callum."
    assert not Release.objects.exists()


def test_a_warning_must_be_confirmed_for_a_schedule(
    as_publisher: Client, service: PublishingService
) -> None:
    assert service.latest is not None
    service.latest = service.latest | {"status": "queued"}
    assert "then type 2" in text(schedule(as_publisher))
    assert not Release.objects.exists()
    assert "Version 2 is scheduled" in text(schedule(as_publisher, number="2"))


def test_a_service_that_does_not_respond_schedules_nothing(
    as_publisher: Client, fake_service: FakeService
) -> None:
    sent = form(as_publisher)
    fake_service.fails(httpx.ConnectError)
    html = send(as_publisher, sent).text
    assert "Nothing was scheduled" in text(html)
    assert not Release.objects.exists()
    assert not Operation.objects.exists()


def test_the_dialog_says_if_no_scheduler_runs(as_publisher: Client) -> None:
    assert "No scheduler is running." in response_text(as_publisher.get(ADDRESS))
    now = timezone.now()
    WorkerHeartbeat.objects.create(worker_id="worker", started_at=now, active_at=now)
    page = response_text(as_publisher.get(ADDRESS))
    assert "No scheduler is running." not in page
    assert "Scheduler last active" in page


def test_whoever_may_not_publish_may_not_schedule(as_viewer: Client, as_publisher: Client) -> None:
    response = send(as_viewer, form(as_publisher))
    assert response.status_code == 403
    assert not Release.objects.exists()


@pytest.mark.parametrize("pressed", ACTS)
@pytest.mark.parametrize("when", ACTS)
def test_a_form_goes_to_the_url_of_its_choice(
    as_publisher: Client, service: PublishingService, pressed: str, when: str
) -> None:
    sent = form(as_publisher, when=when)
    response = as_publisher.post(ACTS[pressed], sent)
    if when != pressed:
        assert (response.status_code, response["Location"]) == (307, ACTS[when])
    publishes = when == pressed == "now"
    assert (len(service.keys), Release.objects.count()) == (
        int(publishes),
        int(when == pressed != "now"),
    )


@pytest.mark.parametrize("act", ["schedule", "request", "moment"])
def test_the_url_of_an_act_leads_to_its_form(as_publisher: Client, act: str) -> None:
    assert as_publisher.get(f"{ADDRESS}{act}/")["Location"] == ADDRESS


def test_each_button_has_the_url_of_its_act(as_publisher: Client) -> None:
    html = as_publisher.get(ADDRESS).text
    [dialog] = [e for e in elements(html, "form") if e.attributes.get("id") == "publish-form"]
    buttons = [e.attributes for e in elements(html, "button") if "data-when" in e.attributes]
    acts = {e["data-when"]: e.get("formaction", dialog.attributes["action"]) for e in buttons}
    assert acts == ACTS


def test_what_was_typed_survives_a_sign_in(as_publisher: Client, paula: User) -> None:
    sent = form(as_publisher, note="For Callum.")
    as_publisher.logout()
    send(as_publisher, sent)
    as_publisher.force_login(paula)
    html = as_publisher.get(f"{ADDRESS}?resume=1").text
    values = {"when": "schedule", "date": TOMORROW, "time": "14:00", "zone": "Europe/Oslo"}
    assert typed_fields(html) == values | {"note": "For Callum."}
    assert not Release.objects.exists()
