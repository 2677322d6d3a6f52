"""`manage.py crawl`: read every page and its audiences once into the ledger."""

import os
import socket
from argparse import ArgumentTypeError
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dashboard import clock
from dashboard.ledger.crawls import RETRY_AFTER, release_crawl, save_crawl, take_crawl
from dashboard.ledger.models import Crawl
from dashboard.observability.log import suppress_call_reports
from dashboard.service.crawl_task import end_crawl
from dashboard.service.crawling import Crawler
from dashboard.work.claims import Claim, ClaimLostError


class Command(BaseCommand):
    """Read everything once. Safe to run from cron and while the dashboard runs.

    It takes over from a worker or another command that is crawling.
    """

    help = "Load every page and its audiences once, so that search covers them all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--rate",
            type=_rate,
            default=settings.CRAWL_RATE or 5.0,
            help="maximum calls per second (default: CRAWL_RATE); so many are in progress at a "
            "time, up to 64",
        )

    def handle(self, *, rate: float, verbosity: int, **options: Any) -> None:
        """Crawl. Raises CommandError if something was not read, so that the exit code is 1."""
        clock.measure()
        process_id = f"{socket.gethostname()[:40]}-{os.getpid()}"
        claim = take_crawl(process_id, clock.now())
        crawl = claim.row
        try:
            with suppress_call_reports():
                crawler = self._crawl(claim, rate, is_quiet=verbosity == 0)
        except KeyboardInterrupt:
            release_crawl(claim, clock.now() + RETRY_AFTER)
            message = "Stopped. What was loaded is saved; the next crawl starts over."
            raise CommandError(message, returncode=130) from None
        except ClaimLostError:
            raise CommandError("Stopped: another process has begun a crawl.") from None
        for sentence in (*crawler.limits, *crawler.problems):
            self.stderr.write(sentence)
        read = f"{crawl.pages} pages and {crawl.audiences} audiences"
        if crawler.problems:
            count = len(crawler.problems)
            raise CommandError(f"Loaded {read}. Problems (listed above): {count}. {crawl.speed}")
        if verbosity:
            self.stdout.write(f"Loaded {read}. {crawl.speed}")

    def _crawl(self, claim: Claim[Crawl], rate: float, *, is_quiet: bool) -> Crawler:
        columns = (TextColumn("Pages"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        is_hidden = is_quiet or not console.is_terminal
        with Progress(*columns, console=console, disable=is_hidden) as bar:
            task = bar.add_task("pages", total=None)

            def save(crawl: Crawl) -> None:
                save_crawl(claim)
                paused = f", paused: {crawl.pause_reason}" if crawl.pause_reason else ""
                bar.update(
                    task,
                    completed=crawl.pages,
                    total=crawl.pages_in_all,
                    description=f"Pages{paused}",
                )

            crawler = Crawler(claim.row, rate=rate, stop=Event(), save=save)
            with claim.renewed():
                crawler.run()
        end_crawl(claim, crawler)
        return crawler


def _rate(text: str) -> float:
    rate = float(text)
    if not 0 < rate <= 1000:
        raise ArgumentTypeError("must be more than 0 and at most 1000")
    return rate
