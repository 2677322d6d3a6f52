"""`manage.py prune`: delete old operations from the ledger."""

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from dashboard.ledger.pruning import prunable, prune
from dashboard.ledger.receiver import delete_old_deliveries
from dashboard.operations.execution import expire_stale_attempts

SHORTEST_DAYS = 30
"""The overview counts operations of 14 days, and drafts and open forms may be as old."""
LONGEST_DAYS = 36_500
"""A hundred years. Above about two thousand, the date would be out of range."""


class Command(BaseCommand):
    """Delete settled operations. Open ones stay, and so do records of objects."""

    help = "Let operations go that were settled long ago. What was seen of the service stays."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the age and the dry run."""
        parser.add_argument(
            "--older-than",
            type=_days,
            required=True,
            metavar="DAYS",
            help=f"how long ago they were settled, {SHORTEST_DAYS} to {LONGEST_DAYS}",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would go")

    def handle(self, *, older_than: int, dry_run: bool, **options: Any) -> None:
        """Prune, or count what would be deleted."""
        before = timezone.now() - timedelta(days=older_than)
        if not dry_run:
            expire_stale_attempts()
            delete_old_deliveries()
        found = prunable(before) if dry_run else prune(before)
        verb = "Would go" if dry_run else "Gone"
        self.stdout.write(
            f"{verb}, of what was settled before {before:%Y-%m-%d %H:%M} UTC: "
            f"operations with all their attempts: {found.operations}; "
            f"answers to publishes, which stay on record: {found.response_bodies}."
        )


def _days(text: str) -> int:
    days = int(text)
    if not SHORTEST_DAYS <= days <= LONGEST_DAYS:
        raise ArgumentTypeError(f"must be {SHORTEST_DAYS} to {LONGEST_DAYS} days")
    return days
