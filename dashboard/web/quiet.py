"""Commands that make many calls while a person watches one line."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def calls_unheard() -> Iterator[None]:
    """Keep the calls to the service out of the log."""
    logger = logging.getLogger("dashboard.client")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)
