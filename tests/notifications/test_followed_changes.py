"""Followers are notified once of each change to their pages and audiences that the ledger sees."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.contract.audiences import Audience
from dashboard.ledger.recording import record_audiences
from dashboard.notifications.digests import events_for
from dashboard.notifications.models import Event, Preference
from dashboard.notifications.preferences import follow, is_followed, unfollow
from dashboard.notifications.recipients import notify_pending
from tests.notifications.conftest import notices_of
from tests.support import wire
from tests.support.clock import Clock
from tests.support.operations import operation
from tests.support.queries import queries_of
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db
THIRD = wire.version(versionId="ver_3", versionNumber=3)


@pytest.fixture(autouse=True)
def _on_record(db: None, clock: Clock) -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience())
    clock.advance(3600)


def numbered(number: int, **differs: Any) -> dict[str, Any]:
    """Return an audience with its own id and name."""
    return wire.audience(audienceId=f"aud_{number}", effectiveName=f"A{number}", **differs)


@pytest.mark.parametrize("audience_id", ["", "aud_1"])
def test_a_new_version_is_reported_once(vera: User, clock: Clock, audience_id: str) -> None:
    follow(vera, "page_1", audience_id)
    for _ in range(3):
        seed_audiences(wire.audience(latestVersion=THIRD))
        clock.advance(60)
    assert notices_of(vera) == ["Brightwater Foods: version 3 is the latest."]
    assert Event.objects.get().path == "/pages/page_1/audiences/aud_1/"


@pytest.mark.parametrize(
    ("differs", "words"),
    [
        ({"archivedAt": "2026-03-01T09:00:00Z"}, "is archived"),
        (
            {"latestVersion": THIRD, "publishedVersion": None},
            "version 3 is the latest, nothing is live",
        ),
        ({"latestVersion": None}, ""),
        ({"domain": "brightwater.example"}, ""),
    ],
)
def test_changes_are_reported_in_words_or_not_at_all(
    vera: User, differs: dict[str, Any], words: str
) -> None:
    follow(vera, "page_1")
    seed_audiences(wire.audience(**differs))
    assert notices_of(vera) == ([f"Brightwater Foods: {words}."] if words else [])


def test_a_live_version_is_reported_except_to_its_publisher(
    vera: User, paula: User, clock: Clock
) -> None:
    for user in (vera, paula):
        follow(user, "page_1", "aud_1")
    operation(paula, "pr-1")
    live = wire.version(status="published", publishedAt=timezone.now().isoformat())
    clock.advance(60)
    seed_audiences(wire.audience(latestVersion=live, publishedVersion=live))
    assert notices_of(vera) == [
        "paula published version 2 of Brightwater Foods: accepted, not live yet.",
        "Brightwater Foods: version 2 is live.",
    ]
    assert notices_of(paula) == []


def test_a_status_on_its_way_is_no_news(vera: User) -> None:
    follow(vera, "page_1")
    for status in ("queued", "processing"):
        seed_audiences(wire.audience(latestVersion=wire.version(status=status)))
    assert notices_of(vera) == []


def test_a_first_read_reports_no_old_audiences(vera: User, clock: Clock) -> None:
    follow(vera, "page_1")
    now = timezone.now().isoformat()
    old = wire.audience(audienceId="aud_2", createdAt="2020-01-01T00:00:00Z")
    seed_audiences(old, wire.audience(audienceId="aud_3", createdAt=now, effectiveName="Newcomer"))
    assert notices_of(vera) == ["Newcomer: is new."]


def test_simultaneous_changes_are_one_event(vera: User, paula: User, clock: Clock) -> None:
    numbers = range(2, 8)
    seed_audiences(*[numbered(number) for number in numbers])
    follow(vera, "page_1")
    follow(paula, "page_1", "aud_3")
    clock.advance(60)
    seed_audiences(*[numbered(number, latestVersion=THIRD) for number in numbers])
    [words] = notices_of(vera)
    assert words.endswith(": 6 changes: A2, A3, A4 and 3 more.")
    assert notices_of(paula) == ["A3: version 3 is the latest."]


def test_another_name_or_status_of_a_page_is_reported(vera: User, paula: User) -> None:
    follow(vera, "page_1")
    follow(paula, "page_1", "aud_1")
    seed_pages(wire.page(name="Route planning", status="archived"))
    assert notices_of(vera) == ["Route planning: was Fleet telematics, is archived."]
    assert notices_of(paula) == []


def test_an_undone_change_is_reported_when_repeated(vera: User, clock: Clock) -> None:
    follow(vera, "page_1")
    for name in ("Route planning", "Fleet telematics", "Route planning"):
        seed_pages(wire.page(name=name))
        clock.advance(60)
    assert len(notices_of(vera)) == 3


def test_a_change_from_a_slow_read_is_not_missed(vera: User, clock: Clock, settings: Any) -> None:
    settings.SERVICE_TIMEOUT_S = 120
    began_at: datetime = timezone.now()
    clock.advance(60)
    follow(vera, "page_1")
    clock.advance(60)
    new = Audience.model_validate(wire.audience(latestVersion=THIRD))
    record_audiences("page_1", [new], read_at=began_at)
    assert notices_of(vera) == ["Brightwater Foods: version 3 is the latest."]


def test_nothing_is_reported_of_the_time_without_followers(vera: User, clock: Clock) -> None:
    follow(vera, "page_1")
    unfollow(vera, "page_1")
    assert not is_followed(vera, "page_1")
    seed_audiences(wire.audience(latestVersion=THIRD))
    follow(vera, "page_1")
    clock.advance(60)
    seed_audiences(wire.audience(latestVersion=THIRD))
    assert notices_of(vera) == []
    assert not Event.objects.exists()


def test_the_digest_has_it_although_the_bell_is_off(vera: User, paula: User) -> None:
    seed_audiences(numbered(2))
    for user, audience_id in ((vera, ""), (paula, "aud_2")):
        follow(user, "page_1", audience_id)
        Preference.objects.create(user=user, kind="followed_changed", channel="in_app", is_on=False)
    both = [numbered(2, latestVersion=THIRD), wire.audience(latestVersion=THIRD)]
    seed_audiences(*both)
    notify_pending("worker-1")
    since = timezone.now() - timedelta(hours=1)
    ids = [[event.audience_id for event in events_for(user.pk, since)] for user in (vera, paula)]
    assert ids == [[""], ["aud_2"]]


def test_followers_are_queried_only_after_a_change(vera: User) -> None:
    follow(vera, "page_1")
    queued = wire.audience(latestVersion=wire.version(status="queued"))
    queries = queries_of(lambda: seed_audiences(queued))
    assert not [sql for sql in queries if "notifications_follow" in sql]
