"""Random histories. HISTORIES sets their number; HISTORY runs one by its seed."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from dashboard.releases.models import Release
from tests.support.clock import Clock
from tests.support.fake_service import FakeService


class ReleaseHistory:
    """A random history of releases."""

    service: Callable[[httpx.Request], httpx.Response]

    def __init__(self, seed: int, clock: Clock, user: User) -> None:
        self.random, self.clock, self.user = Random(seed), clock, user
        self.events: list[str] = []
        """What happened, for the failure message."""

    def run(self) -> None:
        raise NotImplementedError

    def end_all(self) -> None:
        """Stop what still runs after a failure."""


@dataclass
class ReleaseHistories:
    """Runs histories of releases, each with a service of its own and an empty cache."""

    user: User
    clock: Clock
    fake_service: FakeService
    log: pytest.LogCaptureFixture
    is_exhaustive: bool

    def run(
        self, begin: Callable[[int, Clock, User], ReleaseHistory], *, exhaustive_count: int
    ) -> None:
        """Run twelve histories, or `exhaustive_count` with --exhaustive."""

        def run_history(seed: int) -> None:
            Release.objects.all().delete()
            cache.clear()
            self.log.clear()
            history = begin(seed, self.clock, self.user)
            self.fake_service.answer = history.service
            try:
                history.run()
                raise_worker_errors(self.log)
            except BaseException as error:
                error.add_note("\n".join(history.events))
                raise
            finally:
                history.end_all()

        run_histories(run_history, count=exhaustive_count if self.is_exhaustive else 12)


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
