"""The versions of one audience: how each was written, published, replaced or given up."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Audience, Version
from dashboard.embedded_api.sample.chance import between, mark, sample_id, weighted
from dashboard.embedded_api.sample.texts import Facts, context, next_facts

LIVE, PAST, DRAFT, PENDING = "live", "past", "draft", "pending"
CANCELLED, DROPPED = "cancelled", "dropped"
QUEUED, PROCESSING, STUCK_QUEUED, STUCK_PROCESSING = "queued", "processing", "stuck 1", "stuck 2"

_NEVER = timedelta(days=365)
_APART = timedelta(minutes=11)
_EARLIER = {PAST: 8.0, DROPPED: 1.2, CANCELLED: 0.8}
_ENDINGS: dict[tuple[str, ...], float] = {
    (LIVE,): 60,
    (LIVE, DRAFT): 21,
    (LIVE, DROPPED, DRAFT): 2,
    (LIVE, CANCELLED): 3,
    (LIVE, CANCELLED, DRAFT): 2,
    (LIVE, PENDING): 1,
    (DRAFT,): 7,
    (DROPPED,): 2,
    (PENDING,): 1,
    (CANCELLED, DRAFT): 1,
}
_LENGTHS = {1: 16, 2: 26, 3: 22, 4: 14, 5: 9, 6: 6, 7: 4, 9: 2, 12: 0.8, 31: 0.2}
_PUBLISHED = {LIVE, PAST}


@dataclass(frozen=True)
class Plot:
    """What becomes of an audience's versions, the oldest first, and the time they have for it."""

    fates: tuple[str, ...]
    start: datetime
    end: datetime


def plot(dice: Random, start: datetime, end: datetime, *, ever_published: bool) -> Plot:
    """Return a plot; on a page that was never published, no version ever was."""
    ending = weighted(dice, _ENDINGS)
    if not ever_published:
        ending = tuple(fate for fate in ending if fate != LIVE) or (DRAFT,)
    earlier = dict(_EARLIER) if LIVE in ending else {DROPPED: 1.0}
    length = weighted(dice, _LENGTHS) if LIVE in ending else dice.randint(1, 3)
    before = (weighted(dice, earlier) for _ in range(max(0, length - len(ending))))
    return Plot((*before, *ending), start, end)


def versions_of(
    dice: Random, audience: Audience, plot: Plot, facts: Facts, now: datetime
) -> list[Version]:
    """Make the versions; each differs from the one before by some words."""
    starts = _moments(dice, plot)
    versions = []
    for index, (fate, start) in enumerate(zip(plot.fates, starts, strict=True)):
        facts = next_facts(dice, facts) if index else facts
        says_nothing = index == 1 and dice.random() < 0.05
        version = Version(
            id=sample_id("ver", audience.pk, index),
            tenant_id=DEFAULT_TENANT_ID,
            audience=audience,
            version_number=index + 1,
            is_new_page_agent=audience.is_new_page_agent,
            supplementary_context=None if says_nothing else context(facts),
            created_at=mark(start, dice),
        )
        room = (starts[index + 1] if index + 1 < len(starts) else now) - start
        _live_through(dice, version, fate, start=start, room=room, now=now)
        versions.append(version)
    _retire(versions)
    return versions


def _moments(dice: Random, plot: Plot) -> list[datetime]:
    """Return when each version was created, in order, at least some minutes apart."""
    count = len(plot.fates)
    start = plot.start + (count + 1) * _APART
    drawn = sorted(between(dice, start, max(start, plot.end)) for _ in range(count))
    return [moment - (count - index) * _APART for index, moment in enumerate(drawn)]


def _live_through(
    dice: Random, version: Version, fate: str, *, start: datetime, room: timedelta, now: datetime
) -> None:
    """Set the dates of one version, all of them before the next version is created."""
    if fate == PENDING:
        return
    draft = start + min(timedelta(seconds=dice.uniform(15, 400)), room * 0.2)
    version.became_draft_at = mark(draft, dice)
    if fate in {QUEUED, PROCESSING, STUCK_QUEUED, STUCK_PROCESSING}:
        _under_way(dice, version, fate, now)
    elif fate == DROPPED:
        version.archived_at = mark(
            draft + min(timedelta(hours=dice.uniform(2, 40)), room * 0.5), dice
        )
    elif fate in _PUBLISHED or fate == CANCELLED:
        queued = draft + min(timedelta(minutes=dice.lognormvariate(3, 1.6)), room * 0.4)
        version.queued_at = mark(queued, dice)
        left = queued + min(timedelta(seconds=dice.lognormvariate(3.7, 0.5)), room * 0.1)
        if fate == CANCELLED:
            version.cancelled_at = mark(left, dice)
        else:
            version.processing_at = mark(left, dice)
            live = left + min(timedelta(seconds=dice.uniform(4, 30)), room * 0.1)
            version.published_at = mark(live, dice)


def _under_way(dice: Random, version: Version, fate: str, now: datetime) -> None:
    """Leave a version in the queue or in processing: for some minutes, or stuck there for good.

    The embedded API publishes within seconds, so only a stuck one can be seen at leisure.
    """
    queued, left, live = {
        QUEUED: (-timedelta(seconds=40), timedelta(minutes=2), timedelta(minutes=4)),
        PROCESSING: (-timedelta(seconds=95), -timedelta(seconds=30), timedelta(minutes=3)),
        STUCK_QUEUED: (-timedelta(minutes=18), _NEVER, _NEVER + timedelta(minutes=1)),
        STUCK_PROCESSING: (-timedelta(minutes=7), -timedelta(minutes=5), _NEVER),
    }[fate]
    version.queued_at = mark(now + queued, dice)
    version.processing_at = mark(now + left, dice)
    version.published_at = mark(now + live, dice)


def _retire(versions: list[Version]) -> None:
    """Retire each published version at the mark at which the next one went or goes live."""
    published = [version for version in versions if version.published_at]
    for old, new in pairwise(published):
        old.obsolete_at = old.archived_at = new.published_at
