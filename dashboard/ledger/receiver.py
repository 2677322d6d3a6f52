"""The receiver's log: switched by a person, written by whoever knows the address, read by us."""

from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from dashboard.ledger.models import Delivery, Receiver
from dashboard.ledger.models.receiver import new_secret

KEPT_DELIVERIES = 10_000
KEPT_FOR = timedelta(days=30)
PUBLISHED = "page.version.published"


def receiver() -> Receiver:
    """Return the receiver as it stands; off until somebody switches it on."""
    return Receiver.objects.filter(pk=1).first() or Receiver(pk=1)


def is_the_secret(secret: str) -> bool:
    """Tell whether an address is the receiver's, and the receiver is on."""
    found = receiver()
    return found.is_on and constant_time_compare(found.secret, secret)


def switch_receiver(*, is_on: bool, by: str) -> Receiver:
    """Switch the receiver on or off; its address stays the same."""
    return _change(receiver(), by=by, is_on=is_on)


def replace_secret(*, by: str) -> Receiver:
    """Give the receiver another address; what knows the old one is refused from now on."""
    return _change(receiver(), by=by, secret=new_secret())


def record_delivery(delivery: Delivery) -> Delivery:
    """Write down what arrived, and drop what is too old or too much by it."""
    with transaction.atomic():
        delivery.save()
        # Numbers rise by one or more, so this leaves 10,000 or fewer, by the primary key alone.
        Delivery.objects.filter(pk__lte=delivery.pk - KEPT_DELIVERIES).delete()
        forget_old_deliveries()
    return delivery


def forget_old_deliveries() -> None:
    """Drop what arrived more than 30 days ago."""
    Delivery.objects.filter(received_at__lt=timezone.now() - KEPT_FOR).delete()


def deliveries(*, event: str = "", before: int | None = None) -> QuerySet[Delivery]:
    """Return what arrived, newest first, without headers and bodies."""
    found = Delivery.objects.defer("headers", "body")
    if event:
        found = found.filter(event=event)
    return found.filter(pk__lt=before) if before else found


def last_reported_publish(audience_id: str) -> Delivery | None:
    """Return the last delivery that says that a version of this audience was published."""
    if not audience_id or "\0" in audience_id:
        return None
    said = Delivery.objects.filter(audience_id=audience_id, event=PUBLISHED)
    return said.defer("headers", "body").order_by("-received_at").first()


def _change(found: Receiver, *, by: str, **fields: object) -> Receiver:
    for name, value in fields.items():
        setattr(found, name, value)
    found.changed_at, found.changed_by = timezone.now(), by
    found.save()
    return found
