"""Random histories: a few in each run, as many as HISTORIES names, or one by its seed, HISTORY."""

import os
from collections.abc import Callable

import pytest


def tell_histories(tell: Callable[[int], None], *, count: int) -> None:
    """Tell histories by the seeds from 0 on, all of them; raise their errors at the end."""
    if seed := os.environ.get("HISTORY"):
        tell(int(seed))
        return
    errors: dict[int, Exception] = {}
    for seed in range(int(os.environ.get("HISTORIES", count))):
        try:
            tell(seed)
        except Exception as error:  # noqa: BLE001  # raised below
            errors[seed] = error
    if errors:
        raise ExceptionGroup(f"HISTORY={', '.join(map(str, errors))}", [*errors.values()])


def raise_what_a_worker_caught(log: pytest.LogCaptureFixture) -> None:
    """Raise the first error in a step of a worker, which logs each: also those of the service."""
    for record in log.records:
        if record.name == "dashboard.worker" and record.exc_info and record.exc_info[1]:
            raise record.exc_info[1]
