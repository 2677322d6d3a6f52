"""`manage.py after_restore`: prepare a restored database for use."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.module_loading import import_string

from dashboard.approvals.changes import void_restored
from dashboard.ledger.operations import note_restore
from dashboard.live.models import Presence
from dashboard.notifications.pruning import drop_restored
from dashboard.releases.holding import hold_restored


class Command(BaseCommand):
    """Make new operation keys differ from all earlier ones, void requests, and hold releases.

    The key of a publish counts the recorded publishes. A restored database lacks the latest ones,
    so their keys would repeat, and the service would take a new publish for an earlier one. The
    database also lacks what releases have sent since the backup, so a person decides how they
    continue. Nobody knows who published the versions that went live since then: the next read marks
    them as first seen after a restore. Deliveries that were due at the time of the backup are
    dropped, because they may have been sent.
    """

    help = (
        "After a restore: make sure that operation keys used after the backup are not reused, and "
        "hold releases that were scheduled or running; void requests for an approval; drop "
        "notifications and webhook events that were still to be sent."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        note_restore()
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
