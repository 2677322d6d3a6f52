"""The intervals at which a page polls."""

WAITS_S = (2, 3, 5, 5, 10, 20, 40, 60)
MAX_POLLS = 40
"""Polls in a row without a change, after which the page stops: about half an hour."""


def wait_s(polls: int) -> int | None:
    """Return the seconds until the next poll, after that many polls without a change.

    None after MAX_POLLS: then the user has to reload.
    """
    return WAITS_S[min(polls, len(WAITS_S) - 1)] if polls < MAX_POLLS else None
