"""The webhook receiver: its state and secret, and the log of deliveries."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from dashboard.ledger.models import Delivery, Receiver
from dashboard.ledger.models.receiver import new_secret

MAX_DELIVERIES = 10_000
DELIVERY_LIFETIME = timedelta(days=30)
PUBLISHED = "page.version.published"


def get_receiver() -> Receiver:
    """Return the state of the receiver; it is off until a user switches it on."""
    return Receiver.objects.filter(pk=1).first() or Receiver(pk=1)


def receiver_at(secret: str) -> Receiver | None:
    """Return the receiver if the secret in a URL is the receiver's, and it is on."""
    found = get_receiver()
    return found if found.is_on and constant_time_compare(found.secret, secret) else None


def switch_receiver(*, is_on: bool, by: str) -> Receiver:
    """Switch the receiver on or off; its URL stays the same."""
    return _change(by=by, is_on=is_on)


def replace_secret(*, by: str) -> Receiver:
    """Give the receiver a new URL; deliveries to the old one are refused from now on."""
    return _change(by=by, secret=new_secret())


def set_signing_secret(encrypted: str, *, by: str) -> Receiver:
    """Require signatures by this secret from now on; with "", none."""
    return _change(by=by, signing_secret=encrypted, rejected_at=None)


def record_rejection(now: datetime) -> None:
    """Record that a delivery had no valid signature; once a minute, so that a flood is cheap."""
    is_old = Q(rejected_at=None) | Q(rejected_at__lt=now - timedelta(minutes=1))
    Receiver.objects.filter(is_old, pk=1).update(rejected_at=now)


def record_delivery(delivery: Delivery) -> Delivery:
    """Save a delivery, and delete those that are too old or too many."""
    with transaction.atomic():
        delivery.save()
        # Primary keys rise by one or more, so this leaves MAX_DELIVERIES or fewer.
        Delivery.objects.filter(pk__lte=delivery.pk - MAX_DELIVERIES).delete()
        delete_old_deliveries()
    return delivery


def delete_old_deliveries() -> None:
    """Delete deliveries older than 30 days: on each write, by a worker and by `prune`."""
    Delivery.objects.filter(received_at__lt=timezone.now() - DELIVERY_LIFETIME).delete()


def is_stored(event_digest: str) -> bool:
    """Return whether the event with this digest is stored."""
    return Delivery.objects.filter(event_digest=event_digest).exists()


def list_deliveries(*, event: str = "", before: int | None = None) -> QuerySet[Delivery]:
    """Return deliveries, newest first, without headers and bodies."""
    found = _recent().defer("headers", "body")
    if event:
        found = found.filter(event=event)
    return found.filter(pk__lt=before) if before else found


def get_delivery(number: int) -> Delivery | None:
    """Return one delivery, unless it is older than 30 days."""
    return _recent().filter(pk=number).first()


def last_publish_delivery(audience_id: str) -> Delivery | None:
    """Return the latest delivery that reports a published version of this audience."""
    if not audience_id or "\0" in audience_id:
        return None
    reports = Delivery.objects.filter(audience_id=audience_id, event=PUBLISHED)
    return reports.defer("headers", "body").order_by("-received_at").first()


def _recent() -> QuerySet[Delivery]:
    """Return deliveries that may still be shown: older ones are deleted on the next write."""
    return Delivery.objects.filter(received_at__gte=timezone.now() - DELIVERY_LIFETIME)


def _change(*, by: str, **fields: object) -> Receiver:
    found = get_receiver()
    for name, value in fields.items():
        setattr(found, name, value)
    found.changed_at, found.changed_by = timezone.now(), by
    found.save()
    delete_old_deliveries()
    return found
