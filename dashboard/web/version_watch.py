"""Watching the history while a version is on its way: what is watched, and when to look again."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.dates import read_date
from dashboard.ledger.queries.audiences import IN_FLIGHT, versions_seen
from dashboard.web.audience_head import AudienceHead
from dashboard.web.progress import LONGEST_WAIT_S, WATCHED, next_look_s


@dataclass(frozen=True)
class Watch:
    """A version on its way, or none; and what would be another state of the history."""

    version: AudienceVersion | None
    lasted: timedelta | None
    """Since it was queued; None where no date says so."""
    wait_s: int | None
    """When to look again; None where nothing is on its way, or nobody looks any more."""
    state: str
    """Changes when the history has something new to show."""


def watch_of(head: AudienceHead, *, now: datetime) -> Watch:
    """Return what is on its way to live. One query at most."""
    version = head.in_flight or _out_of_sight(head, now)
    queued_at = read_date(version.queued_at) if version else None
    lasted = max(now - queued_at, timedelta()) if queued_at else None
    wait_s = (LONGEST_WAIT_S if lasted is None else next_look_s(lasted)) if version else None
    return Watch(version, lasted, wait_s, state=_state(head, version))


def _out_of_sight(head: AudienceHead, now: datetime) -> AudienceVersion | None:
    """Return an earlier version asked for from here: the service names it only once it is live."""
    seen = versions_seen(head.page_id, head.audience_id).filter(status__in=IN_FLIGHT)
    record = seen.filter(last_seen_at__gt=now - WATCHED).first()
    return record.version if record and not head.is_live(record.version) else None


def _state(head: AudienceHead, on_its_way: AudienceVersion | None) -> str:
    named = (head.latest, head.live, on_its_way)
    return " ".join(f"{v.version_id}:{v.status}" if v else "-" for v in named)
