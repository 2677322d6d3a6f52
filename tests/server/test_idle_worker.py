"""A worker with nothing to do costs almost nothing: all queries of a minute are counted.

The counts leave out that a process wakes up between its queries. A real `manage.py worker` took 9
to 10 ms a minute on SQLite, and 15 to 17 on PostgreSQL (CPU time of the process, three minutes
each, on two busy cores). With a query for each kind of work, it took 100 to 200 and 160 to 220.
That is with the built-in API. A service elsewhere is called once a minute: it took 15 on SQLite,
and 22 on PostgreSQL.
"""

from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.ledger.crawls import schedule_first_crawl
from dashboard.notifications.preferences import follow
from dashboard.releases.models import Release, ReleaseState
from dashboard.releases.worker import (
    CHECK_RELEASES,
    CHECK_S,
    IDLE_AFTER_S,
    IDLE_CHECK_S,
    RELEASE_TASKS,
    Schedule,
)
from dashboard.server.management.commands.worker import tasks_beside_releases
from tests.support import wire
from tests.support.clock import Clock
from tests.support.seeding import seed_audiences, seed_pages


class Worker:
    """A worker whose waits take no time and whose tasks run one after another."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        tasks = (*RELEASE_TASKS, *tasks_beside_releases())
        self.schedule = Schedule("idle", tasks)
        self.every_minute = [task for task in tasks if task.every_s and task.every_s <= 60]

    def check(self) -> float:
        """Do what is due and wait; return the wait in seconds."""
        tasks, pause_s = self.schedule.check()
        for task in tasks:
            task.run("idle", Event())
        self.clock.advance(pause_s)
        return pause_s

    def minute(self) -> None:
        seconds = 0.0
        while seconds < 60:
            seconds += self.check()
        for task in self.every_minute:
            assert task.every_s == 60
            task.run("idle", Event())


@pytest.fixture
def worker(settings: Any, vera: User, clock: Clock) -> Worker:
    """A worker that has nothing left to do, with a thousand scheduled releases."""
    settings.EMAIL_IS_ON = True
    seed_pages(wire.page())
    seed_audiences(*[wire.audience(audienceId=f"aud_{number}") for number in range(200)])
    due_at = timezone.now() + timedelta(days=1)
    Release.objects.bulk_create(
        Release(
            name=f"Release {number}",
            state=ReleaseState.SCHEDULED,
            created_at=timezone.now(),
            due_at=due_at,
            wake_at=due_at,
        )
        for number in range(1_000)
    )
    schedule_first_crawl(due_at)
    follow(vera, "page_1")
    worker = Worker(clock)
    for _ in range(2):
        worker.minute()
    return worker


def test_an_idle_minute_takes_23_queries(worker: Worker) -> None:
    """A check every 4 seconds, a heartbeat every 20, and 5 queries for tasks of every minute.

    On PostgreSQL, each heartbeat also reads the database's clock.
    """
    heartbeat = 2 if connection.vendor == "postgresql" else 1
    with CaptureQueriesContext(connection) as queries:
        worker.minute()
    assert len(queries) == 15 + 3 * heartbeat + 5


def test_a_busy_worker_checks_every_second(worker: Worker) -> None:
    assert worker.check() == IDLE_CHECK_S
    Release.objects.filter(name="Release 1").update(wake_at=timezone.now(), state="held")
    assert worker.check() == CHECK_S
    for _ in range(round(IDLE_AFTER_S / CHECK_S) - 1):
        assert worker.check() == CHECK_S
    assert worker.check() == IDLE_CHECK_S


def test_what_has_a_time_is_started_at_that_time(worker: Worker) -> None:
    Release.objects.filter(name="Release 1").update(
        wake_at=timezone.now() + timedelta(seconds=2.5), state="held"
    )
    assert worker.check() == 2.5
    tasks, _ = worker.schedule.check()
    assert tasks == [CHECK_RELEASES]
