"""`manage.py after_restore`: prepare a restored database for use."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connection
from django.utils.module_loading import import_string

from dashboard.approvals.changes import void_restored
from dashboard.ledger.operations import note_restore
from dashboard.live.models import Presence
from dashboard.notifications.pruning import drop_restored
from dashboard.releases.holding import hold_restored

SKIPPED = 1_000_000
"""More rows than a table gets between a backup and a restore. Source: our choice."""


def skip_ids() -> None:
    """Continue the ids of all tables above those that were given since the backup."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT setval(format('%%I.%%I', schemaname, sequencename)::regclass, "
                "coalesce(last_value, 0) + %s) FROM pg_sequences "
                "WHERE schemaname = current_schema()",
                [SKIPPED],
            )
            return
        # A table has no row here before its first insert. Source: https://sqlite.org/autoinc.html
        cursor.execute(
            "INSERT INTO sqlite_sequence (name, seq) SELECT name, 0 FROM sqlite_master "
            "WHERE sql LIKE '%%AUTOINCREMENT%%' AND name NOT IN (SELECT name FROM sqlite_sequence)",
            [],
        )
        cursor.execute("UPDATE sqlite_sequence SET seq = seq + %s", [SKIPPED])


class Command(BaseCommand):
    """Make new operation keys differ from all earlier ones, void requests, and hold releases.

    The key of a publish counts the recorded publishes. A restored database lacks the latest ones,
    so their keys would repeat, and the service would take a new publish for an earlier one. The
    database also lacks what releases have sent since the backup, so a person decides how they
    continue. Nobody knows who published the versions that went live since then: the next read marks
    them as first seen after a restore. Deliveries that were due at the time of the backup are
    dropped, because they may have been sent. Claims in reviews end. Comments, decisions, verdicts
    and assignees stay as they were at the time of the backup. Open pages and e-mails still have the
    ids of rows that are missing, so no other row gets these ids.
    """

    help = (
        "After a restore: make sure that operation keys used after the backup are not reused, and "
        "hold releases that were scheduled or running; void requests for an approval; drop "
        "notifications and webhook events that were still to be sent."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        note_restore()
        skip_ids()
        Presence.objects.all().delete()
        # Drop before holding releases: the notices to their owners must not be dropped.
        dropped = drop_restored()
        dropped_events = import_string(settings.DROPPED_AFTER_RESTORE)()
        held, void = hold_restored(), void_restored()
        self.stdout.write("New operation keys will differ from all earlier ones.")
        if held:
            self.stdout.write(
                f"Releases held: {held}. Review each one, then continue or cancel it."
            )
        if void:
            self.stdout.write(f"Requests for an approval now void: {void}. Request them again.")
        if dropped:
            self.stdout.write(
                f"Messages dropped: {dropped}. Send them again from the delivery log."
            )
        if dropped_events:
            self.stdout.write(
                f"Deliveries of webhook events not sent: {dropped_events}. Send them again from "
                "/admin/, Webhook deliveries."
            )
