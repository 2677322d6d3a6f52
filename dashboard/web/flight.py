"""Versions on their way to live: where each stands, and a look at the service for news."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.client import APIError
from dashboard.contract.audiences import Audience
from dashboard.contract.dates import read_date
from dashboard.ledger.models import AudienceRecord
from dashboard.web.readings import read_audiences

PAGES_A_LOOK = 3
"""How many pages one poll reads at most, one after another. Our choice."""
FRESH = timedelta(seconds=4)
"""What was seen this recently, for another reader perhaps, is not asked for again."""

WAITS_S = (2, 3, 5, 5, 10, 20, 40, 60)
LOOKS = 40
"""How many looks in a row may bring nothing new: a good half hour of them."""


@dataclass(frozen=True)
class Flight:
    """One version on its way."""

    record: AudienceRecord
    lasted: timedelta
    """How long it has been in its status."""
    is_dated: bool
    """Whether the service named the time; otherwise it counts from when it was seen here."""


@dataclass(frozen=True)
class Look:
    """What a look at the service brought."""

    changes: tuple[str, ...] = ()
    """One sentence for each version whose status is another now."""
    error: APIError | None = None


def flight_of(record: AudienceRecord, now: datetime) -> Flight:
    """Return the flight of an audience's latest version."""
    version = record.audience.latest_version
    queued_at = read_date(version.queued_at) if version else None
    is_dated = record.latest_status == "queued" and queued_at is not None
    since = queued_at if is_dated and queued_at else record.changed_at
    return Flight(record, max(timedelta(), now - since), is_dated)


def wait_s(looks: int) -> int | None:
    """Return in how many seconds to look again after so many looks that brought nothing new.

    None after the last one: then a person has to ask.
    """
    if looks >= LOOKS:
        return None
    return WAITS_S[min(looks, len(WAITS_S) - 1)]


def look_again(records: Sequence[AudienceRecord]) -> Look:
    """Read some of the pages of these audiences anew; stop where the service does not answer."""
    changes: list[str] = []
    for page_id in _pages_to_read(records):
        try:
            reading = read_audiences(page_id)
        except APIError:
            continue
        if reading.error:
            return Look(tuple(changes), reading.error)
        before = {r.audience_id: r.latest_status for r in records if r.page_id == page_id}
        changes += [_change(a) for a in reading.value.items if _has_moved(a, before)]
    return Look(tuple(changes))


def _pages_to_read(records: Sequence[AudienceRecord]) -> list[str]:
    """Return the pages whose turn it is: first those with more than what is pending."""
    due = [r for r in records if r.last_seen_at < timezone.now() - FRESH]
    moving = {r.page_id for r in due if r.latest_status != "pending"}
    # Drawn by lot, so that a page that is gone never keeps the others from their turn.
    drawn = random.sample(pages := sorted({r.page_id for r in due}), len(pages))
    return sorted(drawn, key=lambda page_id: page_id not in moving)[:PAGES_A_LOOK]


def _has_moved(audience: Audience, before: dict[str, str]) -> bool:
    latest, was = audience.latest_version, before.get(audience.audience_id or "")
    return bool(latest and was and latest.status != was)


def _change(audience: Audience) -> str:
    version = audience.latest_version
    name = audience.name or audience.audience_id
    return f"Version {version.version_number} of {name}: {version.status}." if version else ""
