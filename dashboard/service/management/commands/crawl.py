"""`manage.py crawl`: read every page and its audiences once into the ledger."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dashboard.ledger.operations import mark_interrupted_unknown
from dashboard.service.crawling import Crawl, RateLimiter, crawl, suppress_call_reports


class Command(BaseCommand):
    """Read everything once. Safe beside the dashboard, beside another crawl, and from cron."""

    help = "Load every page and its audiences once, so that search covers them all."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the rate."""
        parser.add_argument(
            "--rate", type=_rate, default=5.0, help="maximum calls per second (default: 5)"
        )

    def handle(self, *, rate: float, verbosity: int, **options: Any) -> None:
        """Crawl; raises CommandError, so that the exit code is 1, if something was not read."""
        mark_interrupted_unknown()
        try:
            with suppress_call_reports():
                done = _crawl(rate, is_quiet=verbosity == 0)
        except KeyboardInterrupt:
            message = "Stopped. What was loaded is saved; the next crawl starts over."
            raise CommandError(message, returncode=130) from None
        for sentence in (*done.limits, *done.problems):
            self.stderr.write(sentence)
        read = f"{done.pages} pages and {done.audiences} audiences"
        if done.problems:
            raise CommandError(f"Loaded {read}. Problems (listed above): {len(done.problems)}.")
        if verbosity:
            self.stdout.write(f"Loaded {read}.")


def _crawl(rate: float, *, is_quiet: bool) -> Crawl:
    columns = (TextColumn("Pages"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=is_quiet or not console.is_terminal) as bar:
        task = bar.add_task("pages", total=None)
        return crawl(
            RateLimiter(rate),
            on_page=lambda done: bar.update(task, completed=done.pages, total=done.pages_in_all),
        )


def _rate(text: str) -> float:
    rate = float(text)
    if not 0 < rate <= 1000:
        raise ArgumentTypeError("must be more than 0 and at most 1000")
    return rate
