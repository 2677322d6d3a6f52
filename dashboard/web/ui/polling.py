"""The intervals at which a page polls."""

from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.objects import IN_FLIGHT

WAITS_S = (2, 3, 5, 5, 10, 20, 40, 60)
MAX_POLLS = 40
"""Polls in a row without a change, after which the page stops: about half an hour."""


def wait_s(polls: int) -> int | None:
    """Return the seconds until the next poll, after that many polls without a change.

    None after MAX_POLLS: then the user has to reload.
    """
    return WAITS_S[min(polls, len(WAITS_S) - 1)] if polls < MAX_POLLS else None


def badge_wait_s(audience: AudienceRecord, polls: int = 0) -> int | None:
    """Return the seconds until the badge of an audience is polled again.

    None if no version of it is in progress, or after MAX_POLLS.
    """
    is_live = audience.latest_version_id == audience.live_version_id
    is_in_progress = audience.latest_status in IN_FLIGHT and not is_live
    return wait_s(polls) if is_in_progress else None
