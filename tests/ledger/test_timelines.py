"""The timeline of an audience: what was live when, and what was rolled back."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord, PageRecord, Publication
from dashboard.ledger.models.objects import LiveStatus
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.operations import AttemptResult, Clearance, Target, begin, end
from dashboard.ledger.queries.audiences import (
    list_publications,
    live_publication,
    live_publications,
    publication_at,
    rollback_target,
    rolled_back_by,
    rolled_back_versions,
)
from tests.support.clock import Clock
from tests.support.many_audiences import ManyAudiences

KEY = ("page_1", "aud_1")
MINUTE = timedelta(minutes=1)


class Story:
    """An audience at the service whose versions go live, and its records in the ledger."""

    def __init__(self, clock: Clock, *, live: int = 4, latest: int = 6) -> None:
        self.clock, self.service = clock, ManyAudiences()
        self.start = timezone.now()
        self.dates: dict[int, dict[str, Any]] = {}
        self.latest = latest
        self.service.add(1, latestVersion=None, publishedVersion=None)
        AudienceRecord.objects.all().delete()
        self.go_live(live)

    def go_live(self, number: int | None, **differs: Any) -> datetime:
        """A minute later, make a version live at the service, or none; return when."""
        self.clock.advance(60)
        now = timezone.now()
        for dates in self.dates.values():
            if dates["status"] == "published":
                dates |= {"status": "archived", "obsoleteAt": now.isoformat()}
        if number is not None:
            self.dates[number] = {"status": "published", "publishedAt": now.isoformat()} | differs
        live = number and self.service.version(KEY, number, **self.dates[number])
        latest = self.service.version(KEY, self.latest, **self.dates.get(self.latest, {}))
        self.service.change(KEY, publishedVersion=live, latestVersion=latest)
        return now

    def read(self) -> datetime:
        """Half a minute later, read the audience; return when."""
        self.clock.advance(30)
        self.service.record()
        return timezone.now()

    def publish(self, actor: User, number: int, **values: Any) -> datetime:
        """Publish a version through Pressroom; return when it was live."""
        version_id = self.service.version(KEY, number)["versionId"]
        _, attempt = begin(
            operation_key=f"key-{timezone.now():%M%S}",
            kind=OperationKind.PUBLISH_VERSION,
            actor=actor,
            target=Target(*KEY, version_id, number),
            body={},
            **values,
        )
        assert attempt
        end(attempt, AttemptResult(Outcome.ACCEPTED))
        return self.go_live(number)

    @property
    def timeline(self) -> list[tuple[int, datetime, datetime | None]]:
        """The recorded publications, oldest first: number, start and end."""
        rows = Publication.objects.values_list("version_number", "started_at", "ended_at")
        return list(rows)

    @property
    def live(self) -> Publication:
        """The recorded publication of the live version."""
        publication = live_publication(*KEY)
        assert publication
        return publication

    @property
    def live_status(self) -> str:
        """The recorded live status of the audience."""
        return AudienceRecord.objects.get().live_status


@pytest.fixture
def story(clock: Clock, db: None) -> Story:
    """Version 4 was live when the audience was first read; 6 is a draft."""
    story = Story(clock)
    story.read()
    return story


def test_a_publication_ends_when_the_next_begins(story: Story) -> None:
    began = story.go_live(5)
    story.read()
    assert story.timeline == [(4, story.start + MINUTE, began), (5, began, None)]
    assert (story.live.version_number, story.live.is_start_seen) == (5, False)
    assert live_publications([KEY, ("page_2", "aud_1")]) == {KEY: story.live}


def test_a_version_that_goes_live_twice_has_two(story: Story) -> None:
    """The service overwrites the dates of the first time."""
    times = [story.start + MINUTE]
    for number in (5, 4):
        times.append(story.go_live(number))
        story.read()
    assert story.timeline == [(4, times[0], times[1]), (5, times[1], times[2]), (4, times[2], None)]


def test_a_version_published_again_between_two_reads_has_two(story: Story) -> None:
    story.go_live(5)
    began = story.go_live(4)
    story.read()
    assert story.timeline == [(4, story.start + MINUTE, began), (4, began, None)]


def test_a_version_live_between_two_reads_is_recorded(story: Story) -> None:
    began, ended = story.go_live(6), story.go_live(4)
    story.read()
    assert story.timeline == [(4, story.start + MINUTE, began), (6, began, ended), (4, ended, None)]
    assert story.live_status == LiveStatus.ROLLED_BACK


def test_a_version_about_to_go_live_has_a_publication(story: Story) -> None:
    """The response to its publish, or a lagging list, may come first."""
    story.go_live(None)
    story.read()
    began = story.go_live(6)
    live = story.service.audiences[KEY]["publishedVersion"]
    story.service.change(KEY, publishedVersion=None)
    story.read()
    assert live_publication(*KEY) is None
    story.service.change(KEY, publishedVersion=live)
    story.read()
    assert story.timeline[-1] == (6, began, None)
    assert [start for _, start, _ in story.timeline] == [story.start + MINUTE, began]


def test_without_a_date_it_began_when_it_was_seen(story: Story) -> None:
    story.go_live(5, publishedAt=None)
    seen_at = story.read()
    assert story.timeline == [(4, story.start + MINUTE, seen_at), (5, seen_at, None)]
    assert story.live.is_start_seen
    assert Publication.objects.earliest("started_at").is_end_seen


@pytest.mark.parametrize("minutes", [-60, 60])
def test_a_contradicting_date_is_not_used_as_start(story: Story, minutes: int) -> None:
    date = timezone.now() + minutes * MINUTE
    story.clock.advance(300)
    story.read()
    story.go_live(5, publishedAt=date.isoformat())
    seen_at = story.read()
    live = story.live
    assert (live.started_at, live.is_start_seen, live.published_at) == (seen_at, True, date)


def test_a_corrected_date_changes_nothing_on_record(story: Story) -> None:
    started_at = story.start + MINUTE
    story.dates[4]["publishedAt"] = (started_at - MINUTE).isoformat()
    story.service.audiences[KEY]["publishedVersion"] |= story.dates[4]
    story.read()
    assert story.timeline == [(4, started_at, None)]


def test_an_older_read_neither_ends_nor_begins_a_publication(story: Story) -> None:
    older = dict(story.service.audiences[KEY])
    read_at = timezone.now()
    began = story.go_live(5)
    story.read()
    timeline = story.timeline
    story.service.audiences[KEY] = older
    story.clock.advance((read_at - timezone.now()).total_seconds())
    story.service.record()
    assert story.timeline == timeline
    assert timeline[-1] == (5, began, None)


def test_an_obsolete_version_without_a_successor_leaves_nothing_live(story: Story) -> None:
    story.go_live(6)
    story.read()
    ended = story.go_live(None)
    story.read()
    assert story.timeline[-1][2] == ended
    assert live_publication(*KEY) is None
    assert story.live_status == LiveStatus.NOT_LIVE


def test_what_was_live_at_a_moment_is_on_record(story: Story) -> None:
    began = story.go_live(5)
    story.read()
    moments = (story.start, began - MINUTE / 2, began, began + MINUTE)
    publications = [publication_at(*KEY, moment) for moment in moments]
    numbers = [publication and publication.version_number for publication in publications]
    assert numbers == [None, 4, 5, 5]


# Rolled back


def roll_back(story: Story, *numbers: int) -> None:
    """Make versions live in turn, and read each."""
    for number in numbers:
        story.go_live(number)
        story.read()


def is_rolled_back(number: int) -> bool:
    return rolled_back_by(*KEY, f"ver_aud_1_{number}") is not None


def test_a_rollback_makes_the_newer_version_rolled_back(story: Story) -> None:
    roll_back(story, 5, 6, 5)
    assert story.live_status == LiveStatus.ROLLED_BACK
    assert [number for number in (4, 5, 6) if is_rolled_back(number)] == [6]
    [(key, publication)] = rolled_back_versions([KEY, ("page_2", "aud_1")]).items()
    assert key == (*KEY, "ver_aud_1_6")
    assert publication == live_publication(*KEY)
    page = PageRecord.objects.get()
    assert (page.any_live, page.any_changed) == (True, False)


def test_an_audience_is_rolled_back_until_a_newer_version(story: Story) -> None:
    roll_back(story, 6, 4)
    newer = story.service.version(KEY, 7)
    story.service.change(KEY, latestVersion=newer)
    story.read()
    assert story.live_status == LiveStatus.CHANGED
    assert is_rolled_back(6)


def test_a_version_published_again_is_not_rolled_back(story: Story) -> None:
    roll_back(story, 6, 4, 6)
    assert story.live_status == LiveStatus.UP_TO_DATE
    assert not is_rolled_back(6)


def test_a_first_publish_is_never_a_rollback(story: Story) -> None:
    roll_back(story, 6, 5)
    assert story.live_status == LiveStatus.CHANGED


def test_a_rolled_back_version_stays_so_after_edits(story: Story) -> None:
    roll_back(story, 6, 4)
    story.service.audiences[KEY]["latestVersion"]["supplementaryContext"] = "Runs 3 trucks."
    story.read()
    assert story.live_status == LiveStatus.ROLLED_BACK


@pytest.mark.parametrize(
    ("numbers", "target"),
    [((), None), ((5,), 4), ((5, 6), 5), ((5, 6, 5), 4), ((6, 4), None), ((5, 4, 6), 4)],
)
def test_the_rollback_target_was_live_and_never_rolled_back(
    story: Story, numbers: tuple[int, ...], target: int | None
) -> None:
    roll_back(story, *numbers)
    publication = rollback_target(*KEY)
    assert (publication and publication.version_number) == target


# By whom, and why


def test_a_publish_explains_what_it_made_live(story: Story, paula: User) -> None:
    story.publish(paula, 5, reason=PublicationReason.RELEASE, note="Spring prices")
    story.read()
    live = story.live
    assert (live.reason, live.actor_name, live.note) == ("release", "paula", "Spring prices")
    assert live.operation
    assert live.operation.version_number == 5


def test_publishing_a_formerly_live_version_is_a_rollback(story: Story, paula: User) -> None:
    for number in (6, 4):
        story.publish(paula, number, reason=PublicationReason.PUBLISH)
        story.read()
    reasons = [publication.reason for publication in list_publications(*KEY, limit=2)]
    assert reasons == ["rollback", "publish"]


def test_an_emergency_publish_has_its_reason(story: Story, paula: User) -> None:
    story.publish(paula, 5, clearance=Clearance(emergency_reason="Wrong price"))
    story.read()
    assert (story.live.reason, story.live.note) == ("emergency", "Wrong price")


def test_the_first_read_marks_a_version_first_seen(story: Story) -> None:
    [first] = list_publications(*KEY, limit=9)
    assert (first.reason, first.actor_name) == ("first_seen", "")


def test_after_a_restore_the_gap_is_marked(story: Story) -> None:
    story.go_live(5)
    call_command("after_restore", verbosity=0)
    story.read()
    assert story.live.reason == PublicationReason.AFTER_RESTORE
