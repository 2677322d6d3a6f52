"""The webhook receiver: its state and secret, and the log of deliveries."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.crypto import constant_time_compare

from dashboard import clock
from dashboard.encryption import DecryptionError, decrypt, encrypt
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.webhooks.models import ReceivedDelivery, Receiver, new_secret
from dashboard.work.tasks import WorkerTask

MAX_DELIVERIES = 10_000
DELIVERY_LIFETIME = timedelta(days=30)
PUBLISHED = "page.version.published"


def get_receiver() -> Receiver:
    """Return the receiver. It is off until a user switches it on."""
    return Receiver.objects.filter(pk=1).first() or Receiver(pk=1)


def receiver_at(secret: str) -> Receiver | None:
    """Return the receiver if it is on and the secret matches; else None."""
    receiver = get_receiver()
    return receiver if receiver.is_on and constant_time_compare(receiver.secret, secret) else None


def switch_receiver(*, is_on: bool, by: str) -> Receiver:
    return _change(by=by, is_on=is_on)


@transaction.atomic
def replace_secret(*, by: str, form_key: str | None = None) -> Receiver:
    """Give the receiver a new URL, once per form. The old URL stops working."""
    receiver, _ = Receiver.objects.select_for_update().get_or_create(pk=1)
    if form_key and receiver.form_key == form_key:
        return receiver
    return _change(by=by, secret=new_secret(), form_key=form_key or "")


def set_signing_secret(secret: str, *, by: str) -> Receiver:
    """Require signatures by this secret; "" requires none."""
    encrypted = encrypt(secret) if secret else ""
    return _change(by=by, signing_secret=encrypted, rejected_at=None)


def can_verify(receiver: Receiver) -> bool:
    """Return whether no secret is set, or it can be decrypted with the present SECRET_KEY."""
    try:
        return not receiver.signing_secret or bool(decrypt(receiver.signing_secret))
    except DecryptionError:
        return False


def record_rejection(now: datetime) -> None:
    """Record a delivery without a valid signature, at most once a minute to keep a flood cheap."""
    is_old = Q(rejected_at=None) | Q(rejected_at__lt=now - timedelta(minutes=1))
    with transaction.atomic():
        if Receiver.objects.filter(is_old, pk=1).update(rejected_at=now):
            feed.add(FeedEntry(kind=FeedKind.RECEIVER))


def record_delivery(delivery: ReceivedDelivery) -> ReceivedDelivery:
    with transaction.atomic():
        delivery.save()
        feed.add(FeedEntry(kind=FeedKind.RECEIVER, object_id=str(delivery.pk)))
        # Primary keys rise by one or more, so this leaves MAX_DELIVERIES or fewer.
        ReceivedDelivery.objects.filter(pk__lte=delivery.pk - MAX_DELIVERIES).delete()
        delete_old_deliveries()
    return delivery


def delete_old_deliveries() -> None:
    """Delete deliveries older than 30 days: on each write, by a worker and by `prune`."""
    ReceivedDelivery.objects.filter(received_at__lt=clock.now() - DELIVERY_LIFETIME).delete()


def is_stored(event_digest: str) -> bool:
    return ReceivedDelivery.objects.filter(event_digest=event_digest).exists()


def recent_deliveries() -> QuerySet[ReceivedDelivery]:
    """Return the deliveries of the last 30 days, newest first."""
    return ReceivedDelivery.objects.filter(received_at__gte=clock.now() - DELIVERY_LIFETIME)


def list_deliveries() -> QuerySet[ReceivedDelivery]:
    return recent_deliveries().defer("headers", "body")


def last_publish_delivery(audience_id: str) -> ReceivedDelivery | None:
    if not audience_id or "\0" in audience_id:
        return None
    reports = ReceivedDelivery.objects.filter(audience_id=audience_id, event=PUBLISHED)
    return reports.defer("headers", "body").order_by("-received_at").first()


def _change(*, by: str, **fields: object) -> Receiver:
    # Update only these columns: a concurrent change may be replacing a leaked URL.
    changes = {**fields, "changed_at": clock.now(), "changed_by": by}
    with transaction.atomic():
        receiver, _ = Receiver.objects.update_or_create(pk=1, defaults=changes)
        feed.add(FeedEntry(kind=FeedKind.RECEIVER))
    delete_old_deliveries()
    return receiver


DELETE_OLD_DELIVERIES = WorkerTask(lambda *_: delete_old_deliveries(), every_s=3_600.0)
"""Deletes old deliveries even if nothing is written."""
