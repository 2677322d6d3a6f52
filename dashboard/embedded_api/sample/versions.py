"""The versions of one audience, with their texts and dates."""

from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Audience, Version
from dashboard.embedded_api.sample.randomness import mark, random_moment, sample_id, weighted_choice
from dashboard.embedded_api.sample.texts import Facts, context, next_facts

LIVE, PAST, DRAFT, PENDING = "live", "past", "draft", "pending"
CANCELLED, DROPPED = "cancelled", "dropped"
QUEUED, PROCESSING, STUCK_QUEUED, STUCK_PROCESSING = "queued", "processing", "stuck 1", "stuck 2"

_NEVER = timedelta(days=365)
_MIN_INTERVAL = timedelta(minutes=11)
_EARLIER_WEIGHTS = {PAST: 8.0, DROPPED: 1.2, CANCELLED: 0.8}
_ENDING_WEIGHTS: dict[tuple[str, ...], float] = {
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
_LENGTH_WEIGHTS = {1: 16, 2: 26, 3: 22, 4: 14, 5: 9, 6: 6, 7: 4, 9: 2, 12: 0.8, 31: 0.2}
FIRST_OUTCOMES: tuple[tuple[str, ...], ...] = (
    (DROPPED, DROPPED, PAST, PAST, LIVE, CANCELLED, DRAFT),
    (PAST, LIVE, PROCESSING),
    (PAST, PAST, LIVE, STUCK_QUEUED),
    (PAST, LIVE),
    (*(PAST,) * 7, LIVE, DRAFT),
    (DRAFT,),
    (DROPPED, PAST, PAST, LIVE, CANCELLED),
    (*(PAST,) * 5, LIVE),
    (DROPPED, DROPPED),
    (PAST, LIVE, STUCK_PROCESSING),
    (LIVE, QUEUED),
    (PENDING,),
)
"""The first audiences of the first page together show every status."""


def random_outcomes(rng: Random, *, ever_published: bool) -> tuple[str, ...]:
    """Return the outcomes of an audience's versions, oldest first.

    None is live unless the page was ever published.
    """
    ending = weighted_choice(rng, _ENDING_WEIGHTS)
    if not ever_published:
        ending = tuple(outcome for outcome in ending if outcome != LIVE) or (DRAFT,)
    earlier = _EARLIER_WEIGHTS if LIVE in ending else {DROPPED: 1.0}
    length = weighted_choice(rng, _LENGTH_WEIGHTS) if LIVE in ending else rng.randint(1, 3)
    before = (weighted_choice(rng, earlier) for _ in range(max(0, length - len(ending))))
    return (*before, *ending)


def make_versions(
    rng: Random,
    audience: Audience,
    outcomes: tuple[str, ...],
    facts: Facts,
    *,
    start: datetime,
    end: datetime,
    now: datetime,
) -> list[Version]:
    """Build versions created between `start` and `end`; each differs from the previous one."""
    starts = _creation_times(rng, len(outcomes), start, end)
    versions = []
    for index, (outcome, created) in enumerate(zip(outcomes, starts, strict=True)):
        facts = next_facts(rng, facts) if index else facts
        is_empty = index == 1 and rng.random() < 0.05
        version = Version(
            id=sample_id("ver", audience.pk, index),
            tenant_id=DEFAULT_TENANT_ID,
            audience=audience,
            version_number=index + 1,
            is_new_page_agent=audience.is_new_page_agent,
            supplementary_context=None if is_empty else context(facts),
            created_at=mark(created, rng),
        )
        room = (starts[index + 1] if index + 1 < len(starts) else now) - created
        _set_dates(rng, version, outcome, start=created, room=room, now=now)
        versions.append(version)
    published = [version for version in versions if version.published_at]
    for old, new in pairwise(published):
        old.obsolete_at = old.archived_at = new.published_at
    return versions


def _creation_times(rng: Random, count: int, start: datetime, end: datetime) -> list[datetime]:
    """Return the sorted creation times, at least some minutes apart."""
    start += (count + 1) * _MIN_INTERVAL
    times = sorted(random_moment(rng, start, max(start, end)) for _ in range(count))
    return [moment - (count - index) * _MIN_INTERVAL for index, moment in enumerate(times)]


def _set_dates(
    rng: Random, version: Version, outcome: str, *, start: datetime, room: timedelta, now: datetime
) -> None:
    """Set the dates of a version, all before the next version is created."""
    if outcome == PENDING:
        return
    draft = start + min(timedelta(seconds=rng.uniform(15, 400)), room * 0.2)
    version.became_draft_at = mark(draft, rng)
    if outcome in {QUEUED, PROCESSING, STUCK_QUEUED, STUCK_PROCESSING}:
        _set_dates_in_flight(rng, version, outcome, now)
    elif outcome == DROPPED:
        version.archived_at = mark(
            draft + min(timedelta(hours=rng.uniform(2, 40)), room * 0.5), rng
        )
    elif outcome in {LIVE, PAST, CANCELLED}:
        queued = draft + min(timedelta(minutes=rng.lognormvariate(3, 1.6)), room * 0.4)
        version.queued_at = mark(queued, rng)
        left = queued + min(timedelta(seconds=rng.lognormvariate(3.7, 0.5)), room * 0.1)
        if outcome == CANCELLED:
            version.cancelled_at = mark(left, rng)
        else:
            version.processing_at = mark(left, rng)
            live = left + min(timedelta(seconds=rng.uniform(4, 30)), room * 0.1)
            version.published_at = mark(live, rng)


def _set_dates_in_flight(rng: Random, version: Version, outcome: str, now: datetime) -> None:
    """Leave a version queued or processing, for some minutes or permanently.

    The embedded API publishes within seconds, so only a stuck version stays visible.
    """
    queued, left, live = {
        QUEUED: (-timedelta(seconds=40), timedelta(minutes=2), timedelta(minutes=4)),
        PROCESSING: (-timedelta(seconds=95), -timedelta(seconds=30), timedelta(minutes=3)),
        STUCK_QUEUED: (-timedelta(minutes=18), _NEVER, _NEVER + timedelta(minutes=1)),
        STUCK_PROCESSING: (-timedelta(minutes=7), -timedelta(minutes=5), _NEVER),
    }[outcome]
    version.queued_at = mark(now + queued, rng)
    version.processing_at = mark(now + left, rng)
    version.published_at = mark(now + live, rng)
