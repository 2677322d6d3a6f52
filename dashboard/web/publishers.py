"""Who brought what is live: the publish on record that a version's dates belong to. Pure.

The same version may be published again, from here or elsewhere; its dates are then others. Source:
our choice; the service does not say who published.
"""

from collections.abc import Iterable
from typing import TypeVar

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.dates import read_date
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.web.evidence import CLOCKS_DIFFER

PublishT = TypeVar("PublishT", bound=Operation)


def publish_behind(version: AudienceVersion, publishes: Iterable[PublishT]) -> PublishT | None:
    """Return the publish by which a version was queued last; None where none on record is it.

    `publishes` are of its audience, newest first. Where no readable date says when it was queued,
    the last one before it went live counts.
    """
    is_behind = _queued if read_date(version.queued_at) else _came_before
    return next((one for one in publishes if _took(one, version) and is_behind(one, version)), None)


def _took(publish: Operation, version: AudienceVersion) -> bool:
    return publish.version_id == version.version_id and publish.outcome == Outcome.ACCEPTED


def _queued(publish: Operation, version: AudienceVersion) -> bool:
    """Tell whether a version was queued between the asking and the answer, and was not before."""
    queued_at, known_at = read_date(version.queued_at), publish.settled_at or publish.requested_at
    if queued_at is None or (publish.before or {}).get("queuedAt") == version.queued_at:
        return False
    return publish.requested_at - CLOCKS_DIFFER <= queued_at <= known_at + CLOCKS_DIFFER


def _came_before(publish: Operation, version: AudienceVersion) -> bool:
    live_at = read_date(version.published_at)
    if live_at is None or (publish.before or {}).get("publishedAt") == version.published_at:
        return False
    return publish.requested_at - CLOCKS_DIFFER <= live_at
