"""Polling of the audience rows that a page shows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.http import urlencode

from dashboard.operations.publish_progress import version_poll_interval_s
from dashboard.web.audiences.table import AudienceRowContext, short_hash

MAX_ROWS = 200
"""Rows whose state fits into the URL of a poll; those in progress come first."""


@dataclass(frozen=True)
class RowPoll:
    """The state of the rows shown, and when to poll again."""

    marks: tuple[str, ...]
    """`key-state` of each row; the state changes when the row has something new to show."""
    is_in_progress: bool
    wait_s: int | None
    """Seconds until the next poll; None if nothing is in progress, or for too long."""
    polls: int
    """The number of polls in a row without a change."""
    changed: tuple[AudienceRowContext, ...] = ()

    @property
    def query(self) -> str:
        """The query string of the next poll."""
        return urlencode({"rows": ".".join(self.marks), "polls": str(self.polls)})


def first_poll(
    rows: Iterable[AudienceRowContext],
    in_progress: Mapping[str, datetime],
    *,
    now: datetime,
) -> RowPoll:
    """Return the first poll of rows; `in_progress` are the audiences with a version in progress."""
    return _poll(list(rows), in_progress, now=now, polls=0, changed=())


def next_poll(
    rows: Iterable[AudienceRowContext],
    in_progress: Mapping[str, datetime],
    *,
    shown: str,
    polls: int,
    now: datetime,
) -> RowPoll:
    """Return the poll after one of the rows `shown`, with those that have changed."""
    before = dict(mark.split("-", 1) for mark in shown.split(".") if "-" in mark)
    found = [row for row in rows if row.key in before]
    changed = tuple(row for row in found if before[row.key] != _state(row))
    return _poll(found, in_progress, now=now, polls=0 if changed else polls + 1, changed=changed)


def _poll(
    rows: list[AudienceRowContext],
    in_progress: Mapping[str, datetime],
    *,
    now: datetime,
    polls: int,
    changed: tuple[AudienceRowContext, ...],
) -> RowPoll:
    elapsed = [
        max(now - since, timedelta()) if since else None
        for since in (
            row.in_progress_since if row.is_in_progress else in_progress[row.audience_id]
            for row in rows
            if row.is_in_progress or row.audience_id in in_progress
        )
    ]
    waits = [wait for each in elapsed if (wait := version_poll_interval_s(each, polls))]
    with_id = [row for row in rows if row.audience_id]
    first = sorted(with_id, key=lambda row: not row.is_in_progress)[:MAX_ROWS]
    return RowPoll(
        marks=tuple(f"{row.key}-{_state(row)}" for row in first),
        is_in_progress=bool(elapsed),
        wait_s=min(waits, default=None),
        polls=polls,
        changed=changed,
    )


def _state(row: AudienceRowContext) -> str:
    shown = (row.latest_id, row.latest_status, row.live_number, row.live_since, row.step)
    return short_hash(*shown, size=3)
