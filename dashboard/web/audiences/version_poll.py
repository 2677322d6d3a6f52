"""Polling of an audience while one of its versions is in progress."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.http import urlencode

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.queries.audiences import IN_FLIGHT, in_progress_since, versions_seen
from dashboard.operations.publish_progress import POLLING_PERIOD, version_poll_interval_s
from dashboard.web.audiences.state import AudienceHead


@dataclass(frozen=True)
class VersionPoll:
    """The version in progress, if any, and when to poll again."""

    version: AudienceVersion | None
    lasted: timedelta | None
    """How long it has been in progress; None if no date says so."""
    wait_s: int | None
    """Seconds until the next poll; None if nothing is in progress, or for too long."""
    state: str
    """A text that changes when the history has something new to show."""
    polls: int = 0
    """The number of polls after the usual polling period."""

    @property
    def query(self) -> str:
        """The query string of the next poll."""
        return urlencode({"was": self.state} | ({"polls": self.polls} if self.polls else {}))


def version_poll(head: AudienceHead, *, now: datetime, polls: int = 0) -> VersionPoll:
    """Return the poll of an audience after `polls` polls. One query at most."""
    version = head.in_flight or _older_in_flight(head, now)
    since = in_progress_since(version)
    lasted = max(now - since, timedelta()) if since else None
    return VersionPoll(
        version,
        lasted,
        wait_s=version_poll_interval_s(lasted, polls) if version else None,
        state=_state(head, version),
        polls=polls + 1 if version and (lasted is None or lasted > POLLING_PERIOD) else 0,
    )


def _older_in_flight(head: AudienceHead, now: datetime) -> AudienceVersion | None:
    """Return an older version in flight: the service shows it again only once it is live."""
    seen = versions_seen(head.page_id, head.audience_id).filter(status__in=IN_FLIGHT)
    record = seen.filter(last_seen_at__gt=now - POLLING_PERIOD).first()
    return record.version if record and not head.is_live(record.version) else None


def _state(head: AudienceHead, in_flight: AudienceVersion | None) -> str:
    named = (head.latest, head.live, in_flight)
    return " ".join(f"{v.version_id}:{v.status}" if v else "-" for v in named)
