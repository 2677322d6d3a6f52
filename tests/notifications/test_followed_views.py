"""Who follows a saved view is notified of what enters it, leaves it or changes in it."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.ledger.models import SavedView
from dashboard.notifications.followed_changes import compare_followed
from dashboard.notifications.following import follow, is_followed, list_follows
from dashboard.notifications.models import Event, Followed, Notification
from tests.support import wire
from tests.support.clock import Clock
from tests.support.seeding import seed_audiences, seed_pages, seed_view

pytestmark = pytest.mark.django_db
LIVE = wire.version(versionId="ver_1", versionNumber=1, status="published")
DRAFT = wire.version(versionId="ver_2", versionNumber=2)


@pytest.fixture
def changed_audiences(clock: Clock) -> SavedView:
    """The team's view of audiences with unpublished changes; there is none yet."""
    seed_pages(wire.page(status="draft"))
    seed_audiences(wire.audience(latestVersion=LIVE, publishedVersion=LIVE))
    clock.advance(3600)
    return seed_view(None, name="Unpublished changes")


def time_passes(clock: Clock) -> None:
    """Let a worker look once, later than a view is compared again."""
    clock.advance(600)
    compare_followed(timezone.now())


def notices() -> list[str]:
    return [f"{event.facts['name']}: {event.facts['changes']}" for event in Event.objects.all()]


def test_what_enters_and_leaves_is_reported(
    vera: User, changed_audiences: SavedView, clock: Clock
) -> None:
    follow(vera, view=changed_audiences)
    time_passes(clock)
    seed_audiences(wire.audience(latestVersion=DRAFT, publishedVersion=LIVE))
    time_passes(clock)
    seed_audiences(wire.audience(latestVersion=LIVE, publishedVersion=LIVE))
    time_passes(clock)
    assert sorted(notices()) == [
        "Brightwater Foods: is in this view now",
        "Brightwater Foods: is no longer in this view",
    ]


def test_a_page_that_enters_a_view_of_pages_is_reported(
    vera: User, changed_audiences: SavedView, clock: Clock
) -> None:
    drafts = seed_view(None, 2, list_name="pages", query="status=published")
    follow(vera, view=drafts)
    time_passes(clock)
    seed_pages(wire.page(status="published", name="Fleet telematics"))
    time_passes(clock)
    assert notices() == ["Fleet telematics: is in this view now"]
    assert Event.objects.get().path == "/pages/page_1/"


def test_other_filters_are_no_change_of_what_is_in_it(
    vera: User, changed_audiences: SavedView, clock: Clock
) -> None:
    follow(vera, view=changed_audiences)
    SavedView.objects.update(query="live=live")
    seed_audiences(wire.audience(latestVersion=LIVE, publishedVersion=LIVE, archived=True))
    time_passes(clock)
    assert notices() == []
    assert Followed.objects.get().view_query == "live=live"


def test_a_change_after_its_filters_were_saved_is_reported(
    vera: User, changed_audiences: SavedView, clock: Clock
) -> None:
    follow(vera, view=changed_audiences)
    SavedView.objects.update(query="status=draft")
    time_passes(clock)
    seed_audiences(wire.audience(latestVersion=DRAFT, publishedVersion=LIVE))
    time_passes(clock)
    assert notices() == ["Brightwater Foods: is in this view now"]


@pytest.mark.parametrize("display", ["density=compact", "columns=name,latest", "sort=name"])
def test_another_display_does_not_hide_a_change_of_what_is_in_it(
    vera: User, changed_audiences: SavedView, clock: Clock, display: str
) -> None:
    follow(vera, view=changed_audiences)
    time_passes(clock)
    SavedView.objects.update(query=f"live=changed&{display}")
    seed_audiences(wire.audience(latestVersion=DRAFT, publishedVersion=LIVE))
    time_passes(clock)
    assert notices() == ["Brightwater Foods: is in this view now"]


def test_another_display_is_no_change_of_what_is_in_it(
    vera: User, changed_audiences: SavedView, clock: Clock
) -> None:
    follow(vera, view=changed_audiences)
    SavedView.objects.update(query="live=changed&density=compact")
    time_passes(clock)
    time_passes(clock)
    assert notices() == []


def test_whoever_can_open_it_no_longer_is_not_notified(
    vera: User, paula: User, changed_audiences: SavedView, clock: Clock
) -> None:
    follow(vera, view=changed_audiences)
    SavedView.objects.update(owner=paula)
    clock.advance(600)
    seed_audiences(wire.audience(latestVersion=DRAFT, publishedVersion=LIVE))
    time_passes(clock)
    assert not Notification.objects.filter(user=vera).exists()
    assert not list_follows(vera).exists()


def test_a_view_that_is_deleted_is_followed_no_more(
    vera: User, changed_audiences: SavedView
) -> None:
    follow(vera, view=changed_audiences)
    changed_audiences.delete()
    assert not is_followed(vera, view_id=1)
    assert not Followed.objects.exists()
