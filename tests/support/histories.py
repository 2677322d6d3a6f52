"""Random histories. HISTORIES sets their number; HISTORY runs one by its seed."""

import os
from collections.abc import Callable

import pytest


def run_histories(run_history: Callable[[int], None], *, count: int) -> None:
    """Run `count` histories with the seeds from 0 on; raise all their errors at the end."""
    if seed := os.environ.get("HISTORY"):
        run_history(int(seed))
        return
    errors: dict[int, Exception] = {}
    for seed in range(int(os.environ.get("HISTORIES", count))):
        try:
            run_history(seed)
        except Exception as error:  # noqa: BLE001  # raised below
            errors[seed] = error
    if errors:
        raise ExceptionGroup(f"HISTORY={', '.join(map(str, errors))}", [*errors.values()])


def raise_worker_errors(log: pytest.LogCaptureFixture) -> None:
    """Raise the first error that a worker logged, including failed asserts of the service."""
    for record in log.records:
        if record.name == "dashboard.worker" and record.exc_info and record.exc_info[1]:
            raise record.exc_info[1]
