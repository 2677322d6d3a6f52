"""`manage.py prune`: delete old operations and notifications."""

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from dashboard import clock
from dashboard.ledger.feed import prune_feed
from dashboard.ledger.operations import mark_interrupted_unknown
from dashboard.ledger.pruning import prunable, prune
from dashboard.live.presence import remove_gone
from dashboard.notifications.pruning import prunable_events, prune_events
from dashboard.page_drafts.drafts import delete_old_drafts
from dashboard.webhooks.receiver import delete_old_deliveries

SHORTEST_DAYS = 30
"""The overview counts operations of 14 days, and drafts and open forms may be as old."""
LONGEST_DAYS = 36_500
"""A hundred years. Above about two thousand, the date would be out of range."""


class Command(BaseCommand):
    """Delete settled operations, and notifications. Open ones stay, as do records of objects."""

    help = (
        "Delete operations completed long ago, and notifications of that time. "
        "Records of pages and audiences stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--older-than",
            type=_days,
            required=True,
            metavar="DAYS",
            help=f"minimum age in days, {SHORTEST_DAYS} to {LONGEST_DAYS}",
        )
        parser.add_argument("--dry-run", action="store_true", help="report what would be deleted")

    def handle(self, *, older_than: int, dry_run: bool, **options: Any) -> None:
        before = clock.now() - timedelta(days=older_than)
        if not dry_run:
            mark_interrupted_unknown()
            delete_old_deliveries()
            delete_old_drafts()
            remove_gone()
            prune_feed()
        counts = prunable(before) if dry_run else prune(before)
        events = prunable_events(before) if dry_run else prune_events(before)
        verb = "Would delete" if dry_run else "Deleted"
        self.stdout.write(
            f"{verb}, from before {before:%Y-%m-%d %H:%M} UTC: "
            f"operations with their attempts: {counts.operations}; "
            f"response bodies of publishes that stay on record: {counts.response_bodies}; "
            f"events with their notifications: {events}."
        )


def _days(text: str) -> int:
    days = int(text)
    if not SHORTEST_DAYS <= days <= LONGEST_DAYS:
        raise ArgumentTypeError(f"must be {SHORTEST_DAYS} to {LONGEST_DAYS} days")
    return days
