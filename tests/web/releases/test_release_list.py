"""The agenda: releases by their next step, and whether a worker runs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.releases import decisions
from dashboard.releases.models import Release, ReleaseState, WorkerHeartbeat
from dashboard.releases.schedules import ScheduledMoment
from dashboard.web.releases.markup import local_text, planned_moment
from dashboard.web.releases.summary import ReleaseSummary
from tests.support.clock import stopped
from tests.support.html import elements, page_text, text
from tests.support.live_page import Region
from tests.web.releases.conftest import Draft

LIST = "/releases/"


def state(release: Release, **columns: Any) -> None:
    Release.objects.filter(pk=release.pk).update(**columns)


def test_an_empty_release_list_says_where_to_begin(as_viewer: Client) -> None:
    html = as_viewer.get(LIST).text
    assert "No releases yet" in text(html)
    assert "/audiences/" in [element.attributes.get("href") for element in elements(html, "a")]


def test_releases_are_grouped_by_what_is_to_be_done(draft: Draft, as_viewer: Client) -> None:
    now = timezone.now()
    groups = {
        "Needs attention": {"state": ReleaseState.HELD, "held_at": now, "hold_reason": "Changed."},
        "Publishing": {"state": ReleaseState.RUNNING, "started_at": now},
        "Scheduled": {"state": ReleaseState.SCHEDULED, "due_at": now + timedelta(days=1)},
        "Drafts": {},
        "Past": {"state": ReleaseState.FINISHED, "finished_at": now},
    }
    for name, columns in groups.items():
        state(draft(1, name=f"One of {name.lower()}"), **columns)
    page = page_text(as_viewer, LIST)
    places = [page.index(f"{name} 1") for name in groups]
    inside = [page.rindex(f"One of {name.lower()}") for name in groups]
    in_order = [place for pair in zip(places, inside, strict=True) for place in pair]
    assert in_order == sorted(in_order)


def test_a_planned_moment_says_when_in_any_time_zone() -> None:
    value = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    for zone, words in (("UTC", "1 Mar"), ("Europe/Oslo", "2 Mar")):
        with timezone.override(zone):
            moment = str(planned_moment(value))
        [time] = elements(moment, "time")
        assert time.attributes["datetime"] == "2026-03-01T23:30:00+00:00"
        assert words in text(moment)
        assert moment.startswith("<time "), "the day is a part of the time"


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (datetime(2026, 11, 28, 22, 30, tzinfo=UTC), "tomorrow, 22:00"),
        (datetime(2026, 11, 28, 23, 30, tzinfo=UTC), "29 Nov, 22:00"),
    ],
)
def test_a_day_of_another_zone_has_a_name_only_if_it_is_the_same_day_here(
    monkeypatch: pytest.MonkeyPatch, now: datetime, words: str
) -> None:
    stopped(monkeypatch, at=now)
    due = datetime(2026, 11, 29, 21, 0, tzinfo=UTC)
    assert text(local_text(ScheduledMoment(due, "Europe/Oslo", ""))) == words
    assert text(planned_moment(due)) == "tomorrow, 21:00"


@pytest.mark.parametrize("words", ["prices", "PRICES november", "herbst", "Über"])
def test_the_search_finds_words_of_name_and_note(
    draft: Draft, as_viewer: Client, words: str
) -> None:
    state(draft(1), note="Für den Herbst, uber alles")
    draft(1, name="Another")
    page = page_text(as_viewer, f"{LIST}?q={words}")
    assert "November prices" in page
    assert "Another" not in page


def test_a_search_without_results_offers_to_clear_it(draft: Draft, as_viewer: Client) -> None:
    draft(1)
    assert "No releases match" in page_text(as_viewer, f"{LIST}?q=nothing-like-this")


def test_one_state_can_be_shown_alone(draft: Draft, as_viewer: Client) -> None:
    draft(1, name="A draft")
    state(draft(1, name="An old one"), state=ReleaseState.CANCELED)
    page = page_text(as_viewer, f"{LIST}?state=past")
    assert "An old one" in page
    assert "A draft" not in page


def test_releases_are_filtered_by_owner(draft: Draft, as_viewer: Client) -> None:
    draft(1, name="Of Paula")
    assert "Everyone" not in page_text(as_viewer, LIST)
    state(draft(1, name="Of Ada"), owner_name="ada & co")
    html = as_viewer.get(LIST).text
    owners = [element.attributes for element in elements(html, "select")][1]
    assert owners["name"] == "owner"
    page = page_text(as_viewer, f"{LIST}?owner=ada+%26+co&state=drafts")
    assert "Of Ada" in page
    assert "Of Paula" not in page
    assert "No releases match" in page_text(as_viewer, f"{LIST}?owner=nobody")


def test_the_sixtieth_past_release_is_on_the_second_page(draft: Draft, as_viewer: Client) -> None:
    release = draft(1, name="Past 0")
    state(release, state=ReleaseState.CANCELED)
    now = timezone.now()
    Release.objects.bulk_create(
        Release(
            name=f"Past {number}",
            state=ReleaseState.CANCELED,
            created_at=now - timedelta(hours=number),
        )
        for number in range(1, 61)
    )
    first = page_text(as_viewer, f"{LIST}?state=past")
    assert "1 to 50 of 61" in first
    second = page_text(as_viewer, f"{LIST}?state=past&start=50")
    assert "Past 60" in second
    assert "51 to 61 of 61" in second


def test_a_worker_is_named_with_its_last_activity(worker: None, as_viewer: Client) -> None:
    page = page_text(as_viewer, LIST)
    assert "Scheduler last active" in page
    assert "aren’t being checked or sent" not in page


def test_without_a_worker_a_banner_explains_schedules(db: None, as_viewer: Client) -> None:
    long_ago = timezone.now() - timedelta(seconds=61)
    WorkerHeartbeat.objects.create(worker_id="w", started_at=long_ago, active_at=long_ago)
    page = page_text(as_viewer, LIST)
    assert "Releases aren’t being checked or sent." in page
    assert "up to 15 min late" in page


def test_a_running_release_is_followed_every_few_seconds(draft: Draft, as_viewer: Client) -> None:
    release = draft(1)
    state(release, needs_check=False)
    page = Region(as_viewer, LIST, "results")
    assert "release" in page.topics
    assert not page.is_moving
    state(release, state=ReleaseState.RUNNING, started_at=timezone.now())
    assert page.refresh().is_moving
    release.items.update(state="live")
    assert "1 of 1 went live" in page.refresh().text


def test_times_are_in_the_viewers_zone(draft: Draft, as_viewer: Client) -> None:
    due_at = timezone.now().replace(year=2031, month=1, day=5, hour=12, minute=0)
    state(draft(1), state=ReleaseState.SCHEDULED, due_at=due_at, time_zone="UTC")
    as_viewer.cookies["pressroom_timezone"] = "Asia/Tokyo"
    page = page_text(as_viewer, LIST)
    assert "21:00" in page
    assert "Times in Asia/Tokyo" in page


def test_a_viewer_is_not_offered_to_make_one(draft: Draft, as_viewer: Client) -> None:
    assert "New release" not in page_text(as_viewer, LIST)


def test_the_list_makes_constant_queries(
    draft: Draft, as_viewer: Client, django_assert_max_num_queries: Any
) -> None:
    release = draft(1)
    now = timezone.now()
    Release.objects.bulk_create(Release(name=f"Draft {n}", created_at=now) for n in range(49))
    as_viewer.get(LIST)
    with django_assert_max_num_queries(24):
        assert release.name in page_text(as_viewer, LIST)


def test_the_sidebar_counts_the_open_ones(draft: Draft, as_viewer: Client, paula: User) -> None:
    draft(1)
    decisions.cancel(draft(1), paula)
    html = as_viewer.get("/activity/").text
    assert "Releases 1" in text(html)


@pytest.mark.parametrize(("viewer", "is_named"), [("Europe/Berlin", False), ("UTC", True)])
def test_a_zone_is_named_if_its_time_differs(viewer: str, is_named: bool) -> None:
    due_at = datetime(2030, 3, 12, 13, 30, tzinfo=UTC)
    scheduled = Release(due_at=due_at, time_zone="Europe/Oslo")
    with timezone.override(viewer):
        assert ReleaseSummary(scheduled, {}).is_scheduled_elsewhere is is_named
