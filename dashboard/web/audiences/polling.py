"""Polling while a version is in progress: of one audience, and of the rows of a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.http import urlencode

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.queries.audiences import (
    first_seen_in_progress,
    in_progress_since,
    versions_seen,
)
from dashboard.operations.publish_progress import POLLING_PERIOD, version_poll_interval_s
from dashboard.service.health import CLOCK_TOLERANCE_S, service_time
from dashboard.web.audiences.state import AudienceHead
from dashboard.web.audiences.table import AudienceRow, short_hash


@dataclass(frozen=True)
class VersionPoll:
    version: AudienceVersion | None
    lasted: timedelta | None
    """How long it has been in progress; None without a date."""
    wait_s: int | None
    """Seconds until the next poll; None if nothing is in progress, or for too long."""
    state: str
    """A text that changes when the history has something new to show."""
    polls: int = 0
    """The number of polls after the usual polling period."""

    @property
    def query(self) -> str:
        return urlencode({"was": self.state} | ({"polls": self.polls} if self.polls else {}))


def version_poll(head: AudienceHead, *, now: datetime, polls: int = 0) -> VersionPoll:
    """Return the poll of an audience after `polls` polls. One query at most."""
    version = head.in_flight or _older_in_flight(head, now)
    date = in_progress_since(version)
    lasted = _lasted(date, now)
    if date and lasted is None:  # The date lies ahead.
        since = first_seen_in_progress(head.page_id, head.audience_id)
        lasted = max(now - since, timedelta()) if since else None
    return VersionPoll(
        version,
        lasted,
        wait_s=version_poll_interval_s(lasted, polls) if version else None,
        state=" ".join(
            f"{v.version_id}:{v.status}" if v else "-" for v in (head.latest, head.live, version)
        ),
        polls=polls + 1 if version and (lasted is None or lasted > POLLING_PERIOD) else 0,
    )


def _lasted(since: datetime | None, now: datetime) -> timedelta | None:
    """Return the time since a date of the service; None if there is none, or it lies ahead."""
    lasted = service_time(now) - since if since else None
    if lasted is None or lasted < -timedelta(seconds=CLOCK_TOLERANCE_S):
        return None
    return max(lasted, timedelta())


def _older_in_flight(head: AudienceHead, now: datetime) -> AudienceVersion | None:
    """Return an older version in flight: the service shows it again only once it is live."""
    if not head.has_version_in_flight:
        return None
    seen = versions_seen(head.page_id, head.audience_id).filter(status__in=IN_FLIGHT)
    record = seen.filter(last_seen_at__gt=now - POLLING_PERIOD).first()
    return record.version if record and not head.is_live(record.version) else None


MAX_ROWS = 200
"""Rows whose state fits into the URL of a poll; those in progress come first."""


@dataclass(frozen=True)
class RowPoll:
    marks: list[str]
    """`key-state` of each row; the state changes when the row has something new to show."""
    is_in_progress: bool
    wait_s: int | None
    """Seconds until the next poll; None if nothing is in progress, or for too long."""
    polls: int
    """The number of polls in a row without a change."""
    changed: Sequence[AudienceRow]

    @property
    def query(self) -> str:
        return urlencode({"rows": ".".join(self.marks), "polls": str(self.polls)})


def parse_marks(marks: str) -> dict[str, str]:
    """Return the state of each row by its key, from `RowPoll.marks` in the URL of a poll."""
    return dict(mark.split("-", 1) for mark in marks.split(".") if "-" in mark)


def next_poll(rows: Iterable[AudienceRow], *, marks: str, polls: int, now: datetime) -> RowPoll:
    """Return the poll after one of the rows in `marks`, with those that have changed."""
    before = parse_marks(marks)
    present = [row for row in rows if row.key in before]
    changed = [row for row in present if before[row.key] != _row_state(row)]
    polls = 0 if changed else polls + 1
    return row_poll(present, now=now, polls=polls, changed=changed)


def poll_of_list(rows: Iterable[AudienceRow], *, now: datetime) -> RowPoll:
    """Return the poll of the rows in progress; the others are not polled."""
    return row_poll([row for row in rows if _is_polled(row, now)], now=now)


def row_poll(
    rows: Sequence[AudienceRow],
    *,
    now: datetime,
    polls: int = 0,
    changed: Sequence[AudienceRow] = (),
) -> RowPoll:
    starts = [
        in_progress_since(row.in_flight) if row.is_in_progress else row.seen_in_flight_at
        for row in rows
        if _is_polled(row, now)
    ]
    elapsed = [_lasted(since, now) for since in starts]
    waits = [wait for waited in elapsed if (wait := version_poll_interval_s(waited, polls))]
    with_id = [row for row in rows if row.audience_id]
    first = sorted(with_id, key=lambda row: not row.is_in_progress)[:MAX_ROWS]
    return RowPoll(
        marks=[f"{row.key}-{_row_state(row)}" for row in first],
        is_in_progress=bool(elapsed),
        wait_s=min(waits, default=None),
        polls=polls,
        changed=changed,
    )


def _is_polled(row: AudienceRow, now: datetime) -> bool:
    """Return whether a version is in progress, or an older one was lately."""
    seen_at = row.seen_in_flight_at
    return row.is_in_progress or (seen_at is not None and seen_at > now - POLLING_PERIOD)


def _row_state(row: AudienceRow) -> str:
    latest, live = row.latest, row.live
    parts = (
        latest.version_id if latest else "",
        row.latest_state,
        live.version_number if live else None,
        live.published_at if live else None,
        row.step,
        [(planned.release_id, planned.release_state) for planned in row.planned],
    )
    return short_hash(*parts, size=3)
