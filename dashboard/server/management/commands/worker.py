"""`manage.py worker`: run releases, deliver notifications, crawl, and follow events until stopped.

If the embedded API is the service, the worker also sends its events.
"""

import os
import signal
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.module_loading import import_string

from dashboard import clock
from dashboard.ledger.crawls import schedule_first_crawl
from dashboard.ledger.feed import PRUNE_FEED
from dashboard.ledger.operations import MARK_INTERRUPTED
from dashboard.live.presence import REMOVE_GONE
from dashboard.machine.tokens import WATCH_TOKENS
from dashboard.notifications.recipients import NOTIFY
from dashboard.notifications.sending import DELIVER_EMAILS, DELIVER_WEBHOOKS
from dashboard.notifications.watches import WATCH, WATCH_SERVICE
from dashboard.page_drafts.drafts import DELETE_OLD_DRAFTS
from dashboard.releases.hinted_reads import FOLLOW_HINTS
from dashboard.releases.worker import new_worker_id, run_worker
from dashboard.server.checks import start_errors
from dashboard.service.crawl_task import CRAWL
from dashboard.webhooks.receiver import DELETE_OLD_DELIVERIES
from dashboard.work.tasks import WorkerTask


class Command(BaseCommand):
    """Run releases, deliver notifications, and refresh the pages that events are about.

    After SIGTERM or SIGINT, the current step with its call, the current delivery and the current
    reads still finish.
    """

    help = (
        "Run releases: check, publish and schedule them. Deliver notifications. "
        "Read every page once an hour. Refresh pages that webhook events are about. "
        "Any number of workers may run."
    )
    # `handle` runs the checks, and reports each finding in one sentence.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--parent",
            type=int,
            metavar="PID",
            help="the process that starts this one: the worker ends with it, however that ends",
        )

    def handle(self, *, parent: int | None, **options: Any) -> None:
        if errors := start_errors():
            raise CommandError(" ".join(errors))
        stop = stop_on_signals()
        worker_id = new_worker_id()
        clock.measure()
        if settings.CRAWL_RATE:
            schedule_first_crawl(clock.now())
        if parent is None:
            self.stdout.write("The worker is running. Press Ctrl+C to stop.")
            self.stdout.flush()
        run_worker(
            worker_id,
            stop,
            is_orphaned=lambda: parent not in (None, os.getppid()),
            tasks=tasks_beside_releases(),
        )


def stop_on_signals() -> Event:
    """Return an event that SIGTERM and SIGINT set.

    Call in the main thread. A handler interrupts it, perhaps while it holds the event's lock, so a
    handler that set the event would wait for ever. `SimpleQueue.put` is safe there. Source: the
    documentation of Python's `queue`.
    """
    stop, signals = Event(), SimpleQueue[int]()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: signals.put(number))

    def wait_for_signal() -> None:
        signals.get()
        stop.set()

    Thread(target=wait_for_signal, daemon=True).start()
    return stop


def tasks_beside_releases() -> tuple[WorkerTask, ...]:
    return (
        *(NOTIFY, DELIVER_EMAILS, DELIVER_WEBHOOKS, FOLLOW_HINTS),
        *(WATCH, WATCH_SERVICE, MARK_INTERRUPTED, DELETE_OLD_DRAFTS, DELETE_OLD_DELIVERIES),
        *(PRUNE_FEED, WATCH_TOKENS),
        *((CRAWL,) if settings.CRAWL_RATE else ()),
        *((REMOVE_GONE,) if settings.PRESENCE else ()),
        *map(import_string, settings.WORKER_TASKS),
    )
