"""When to retry a call: pure decisions. Source: our choice; the spec shows no rate limits."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from dashboard.client.errors import APIError, NoResponseError, StatusError

MAX_ATTEMPTS = 3
FIRST_DELAY_S = 0.2
_RETRIED = {502, 504}
_RETRIED_WITH_RETRY_AFTER = {429, 503}


def wait_before_retry_s(
    error: APIError, *, method: str, attempt: int, remaining_s: float, jitter: float
) -> float | None:
    """Return the seconds to wait before a retry, or None to give up.

    Only a GET is ever retried: a write may have been executed even if no response was received.
    `attempt` counts from 1. The wait doubles from 0.2 s, and `jitter` (0 to 1) reduces it by up to
    half. A Retry-After is waited in full; if it exceeds `remaining_s`, there is no retry.
    """
    if method != "GET" or attempt >= MAX_ATTEMPTS or not _is_retried(error):
        return None
    wait_s = FIRST_DELAY_S * 2 ** (attempt - 1) * (1 - jitter / 2)
    if isinstance(error, StatusError) and error.retry_after_s is not None:
        wait_s = max(wait_s, error.retry_after_s)
    return wait_s if wait_s < remaining_s else None


def read_retry_after_s(value: str | None, *, now: datetime) -> float | None:
    """Return a Retry-After header in seconds from now; None if it is absent or can't be read.

    Source: RFC 9110, 10.2.3: seconds, or a date.
    """
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _is_retried(error: APIError) -> bool:
    if isinstance(error, NoResponseError):
        return error.is_transient
    if not isinstance(error, StatusError):
        return False
    may_wait = error.retry_after_s is not None and error.status_code in _RETRIED_WITH_RETRY_AFTER
    return may_wait or error.status_code in _RETRIED
