"""A fake service with any number of audiences, and releases of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest
from django.contrib.auth.models import User

from dashboard.releases.models import HoldKind, ItemState, Release, ReleaseState
from tests.support.clock import Clock
from tests.support.many_audiences import ManyAudiences
from tests.support.release_service import PublishingAudiences, checked_release, decide, work

LOSSES: dict[str, Callable[[User], object]] = {
    "paula may no longer publish.": lambda user: user.groups.clear(),
    "The account of paula is turned off.": (
        lambda user: User.objects.filter(pk=user.pk).update(is_active=False)
    ),
    "The account of paula no longer exists.": lambda user: user.delete(),
}
"""How Paula loses the right to publish, by the reason that is shown."""

Draft: TypeAlias = Callable[..., Release]
Publish: TypeAlias = Callable[..., Release]


@pytest.fixture
def draft(service: ManyAudiences, paula: User) -> Draft:
    """Makes a checked draft of `count` new audiences, or of the audiences `keys`."""

    def make(count: int = 1, *, keys: list[tuple[str, str]] | None = None) -> Release:
        audiences = keys or service.add(count)
        return checked_release(audiences, paula)

    return make


@pytest.fixture
def publish(service: PublishingAudiences, paula: User) -> Publish:
    """Makes a checked release of `count` new audiences, and publishes it as Paula."""

    def make(count: int = 1, *, publishes_others: bool = False, pages: int = 1) -> Release:
        keys = [key for page in range(pages) for key in service.add(count, page_id=f"page_{page}")]
        release = checked_release(keys, paula)
        decide(release, paula, publishes_others=publishes_others)
        return release

    return make


@dataclass
class Story:
    """Paula publishes releases to the test's service, with a stopped clock."""

    publish: Publish
    service: PublishingAudiences
    clock: Clock

    def work(self, release: Release, minutes: float = 5, *, worker_id: str = "worker-1") -> None:
        """Run a worker for so many minutes."""
        work(release, self.clock, minutes=minutes, worker_id=worker_id)


@pytest.fixture
def story(publish: Publish, service: PublishingAudiences, clock: Clock) -> Story:
    """A story with the module's service."""
    return Story(publish, service, clock)


def held(release: Release, **states: ItemState) -> Release:
    """Hold a release; `states` sets the states of items by audience."""
    for audience_id, state in states.items():
        release.items.filter(audience_id=audience_id).update(state=state)
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.HELD, hold_kind=HoldKind.STOPPED, hold_reason="Stopped by Ada."
    )
    release.refresh_from_db()
    return release
