"""`manage.py prune`: delete old operations and notifications."""

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from dashboard import clock
from dashboard.comments.models import TargetKind
from dashboard.comments.queries import commented, delete_orphans
from dashboard.ledger.feed import prune_feed
from dashboard.ledger.models import Operation
from dashboard.ledger.operations import mark_interrupted_unknown
from dashboard.ledger.pruning import prunable, prune
from dashboard.live.presence import remove_gone
from dashboard.notifications.pruning import prunable_events, prune_events
from dashboard.page_drafts.drafts import delete_old_drafts
from dashboard.releases.models import Release
from dashboard.review.runs import prunable_reviews, prune_reviews
from dashboard.webhooks.receiver import delete_old_deliveries

SHORTEST_DAYS = 30
"""Minimum age: the overview counts operations of 14 days, and drafts and forms may be as old."""
LONGEST_DAYS = 36_500
"""A hundred years. After about two thousand years, the date would be out of range."""


class Command(BaseCommand):
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
        if not dry_run:
            _delete_orphaned_threads()
        events = prunable_events(before) if dry_run else prune_events(before)
        reviews = prunable_reviews(before) if dry_run else prune_reviews(before)
        verb = "Would delete" if dry_run else "Deleted"
        self.stdout.write(
            f"{verb}, from before {before:%Y-%m-%d %H:%M} UTC: "
            f"operations with their attempts: {counts.operations}; "
            f"response bodies of publishes that stay on record: {counts.response_bodies}; "
            f"events with their notifications: {events}; "
            f"reviews and their skips: {reviews}."
        )


def _delete_orphaned_threads() -> None:
    """Delete comments on deleted operations and releases."""
    keys = commented(TargetKind.OPERATION)
    operations = Operation.objects.filter(operation_key__in=keys)
    delete_orphans(TargetKind.OPERATION, {*operations.values_list("operation_key", flat=True)})
    pks = [int(pk) for pk in commented(TargetKind.RELEASE)]
    releases = Release.objects.filter(pk__in=pks).values_list("pk", flat=True)
    delete_orphans(TargetKind.RELEASE, {str(pk) for pk in releases})


def _days(text: str) -> int:
    days = int(text)
    if not SHORTEST_DAYS <= days <= LONGEST_DAYS:
        raise ArgumentTypeError(f"must be {SHORTEST_DAYS} to {LONGEST_DAYS} days")
    return days
