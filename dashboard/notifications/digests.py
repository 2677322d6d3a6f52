"""The daily digest: an e-mail with what a user follows or hasn't read."""

from datetime import date, datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from dashboard.notifications.email import is_email_on
from dashboard.notifications.followed_changes import KIND as FOLLOWED_CHANGED
from dashboard.notifications.models import (
    DEFAULT_DIGEST_HOUR,
    Channel,
    DeliveryItem,
    Event,
    Follow,
    Notification,
    NotificationSettings,
)
from dashboard.notifications.outbox import new_delivery
from dashboard.notifications.quiet_hours import zone_of
from dashboard.work.tasks import attempt_each

LATEST = timedelta(hours=4)
"""How long after its hour a digest is still made; then it waits for the next day. Our choice."""
FIRST_PERIOD = timedelta(days=1)
OVERLAP = timedelta(hours=1)
"""Overlap with the period of the last digest. No transaction takes as long."""
MAX_EVENTS = 500


def make_digests(now: datetime) -> int:
    """Make the digests that are due; return how many. One query if none is due."""
    if not is_email_on():
        return 0
    chosen = NotificationSettings.objects.filter(user=OuterRef("pk"))
    users = User.objects.filter(is_active=True).filter(~Q(email="") | Q(preferences__email__gt=""))
    users = users.exclude(Exists(chosen.filter(has_digest=False)))
    # Null means the default.
    names = ("time_zone", "digest_hour", "digested_on")
    columns = {f"chosen_{name}": Subquery(chosen.values(name)[:1]) for name in names}
    rows = users.annotate(**columns).values_list("pk", *columns)
    due = [(pk, day) for pk, *row in rows if (day := due_day(now, *row))]
    return sum(attempt_each(due, lambda row: _make_digest(*row, now)))


def due_day(
    now: datetime, time_zone: str | None, hour: int | None, digested_on: date | None
) -> date | None:
    """Return the user's date if a digest is due now, else None. Pure."""
    local = now.astimezone(zone_of(time_zone or ""))
    hour = DEFAULT_DIGEST_HOUR if hour is None else hour
    is_hour = hour <= local.hour < hour + LATEST // timedelta(hours=1)
    return local.date() if is_hour and digested_on != local.date() else None


@transaction.atomic
def _make_digest(user_id: int, day: date, now: datetime) -> bool:
    """Make a user's digest unless the day has one; return whether it has any events."""
    NotificationSettings.objects.get_or_create(user_id=user_id)
    chosen = NotificationSettings.objects.select_for_update().get(user_id=user_id)
    if chosen.digested_on == day:
        return False
    # An event may be committed after a digest, but with an earlier time.
    since = chosen.digested_at - OVERLAP if chosen.digested_at else now - FIRST_PERIOD
    events = list(events_for(user_id, since)[:MAX_EVENTS])
    chosen.digested_on, chosen.digested_at = day, now
    chosen.save(update_fields=["digested_on", "digested_at"])
    if not events:
        return False
    delivery = new_delivery(Channel.EMAIL, user_id=user_id, now=now)
    delivery.digest_on = day
    delivery.save()
    DeliveryItem.objects.bulk_create(
        DeliveryItem(
            event=event, channel=Channel.EMAIL, user_id=user_id, due_at=now, delivery=delivery
        )
        for event in events
    )
    return True


def events_for(user_id: int, since: datetime) -> QuerySet[Event]:
    """Return events since a time that a user follows, or was notified of and hasn't read.

    Events of an earlier digest are left out.
    """
    in_digests = DeliveryItem.objects.filter(
        event=OuterRef("pk"), user=user_id, delivery__digest_on__isnull=False
    )
    unread = Notification.objects.filter(user=user_id, event=OuterRef("pk"), read_at=None)
    follows = Follow.objects.filter(user=user_id, page_id=OuterRef("page_id"))
    exact = Exists(follows.filter(audience_id=OuterRef("audience_id")))
    of_page = Exists(follows.filter(audience_id="")) & ~Q(kind=FOLLOWED_CHANGED)
    read = Notification.objects.filter(user=user_id, event=OuterRef("pk"), read_at__isnull=False)
    events = Event.objects.filter(at__gt=since).filter(Exists(unread) | exact | of_page)
    own = Q(actor_id=user_id) & ~Exists(unread)
    events = events.exclude(Exists(read)).exclude(own).exclude(Exists(in_digests))
    return events.order_by(F("at").desc(), "-pk")
