"""Notifications of what is in the history, read and unread, and some that left by webhook."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

from django.contrib.auth.models import User

from dashboard.ledger.models import ApprovalRequest, Operation, OutsidePublish
from dashboard.ledger.models.operations import OperationKind, Outcome, actor_name
from dashboard.notifications import receivers
from dashboard.notifications.kinds import TEAM_KINDS
from dashboard.notifications.models import (
    Channel,
    Delivery,
    DeliveryAttempt,
    DeliveryItem,
    DeliveryState,
    Event,
    Notification,
    WebhookFormat,
    WebhookTarget,
)
from dashboard.notifications.outbox import RETRIED_FOR
from dashboard.releases.models import Release, ReleaseState

SINCE = timedelta(days=10)
READ_AFTER = timedelta(hours=30)
TARGET = "Publishing channel"
URL = "https://hooks.example.com/services/publishing"
GONE = "The receiver responded 410: it no longer exists."

Recording = tuple[datetime, Callable[[], None]]
"""When something happened, and what records it."""


def add_notifications(now: datetime, accounts: dict[str, User]) -> None:
    """Record the events of the last days in their order, each at its time."""
    Event.objects.all().delete()  # those of the requests, which were made just now
    for at, record in sorted(_recordings(now, list(accounts.values())), key=lambda each: each[0]):
        last = Event.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        record()
        new = Event.objects.filter(pk__gt=last)
        Notification.objects.filter(event__in=new).update(created_at=at)
        new.update(at=at)
    old = Notification.objects.filter(created_at__lt=now - READ_AFTER)
    old.update(read_at=now - READ_AFTER)
    _add_deliveries(now, accounts["demo"])


def _recordings(now: datetime, users: list[User]) -> Iterator[Recording]:
    recent = Operation.objects.filter(actor__in=users, requested_at__gt=now - SINCE)
    failed = recent.filter(outcome__in=(Outcome.REJECTED, Outcome.NOT_SENT, Outcome.UNKNOWN))
    for operation in failed.filter(kind=OperationKind.PUBLISH_VERSION):
        at = operation.settled_at or operation.requested_at
        yield at, partial(receivers.on_operation_ended, operation)
    for release in Release.objects.filter(state=ReleaseState.HELD):
        yield release.held_at or now, partial(receivers.on_release_held, release)
    for release in Release.objects.filter(state=ReleaseState.FINISHED):
        yield release.finished_at or now, partial(receivers.on_release_finished, release)
    for request in ApprovalRequest.objects.all():
        yield request.requested_at, partial(receivers.on_approval_requested, request)
    for outside in OutsidePublish.objects.filter(noticed_at__gt=now - SINCE):
        yield outside.noticed_at, partial(receivers.on_outside_publishes, [outside])


def _add_deliveries(now: datetime, added_by: User) -> None:
    """Save a team's webhook that is gone by now, with what was sent to it."""
    target = WebhookTarget.objects.create(
        name=TARGET,
        url=URL,
        format=WebhookFormat.SLACK,
        kinds=TEAM_KINDS,
        is_active=False,
        off_reason=GONE,
        created_at=now - SINCE,
        created_by_name=actor_name(added_by),
    )
    events = list(Event.objects.order_by("-pk")[:4])[::-1]
    for event in events:
        is_last = event is events[-1]
        delivery = Delivery.objects.create(
            channel=Channel.WEBHOOK,
            target=target,
            message_id=f"msg_{event.pk:032x}",
            created_at=event.at,
            state=DeliveryState.GIVEN_UP if is_last else DeliveryState.SENT,
            attempts=1,
            retry_until=event.at + RETRIED_FOR,
            attempted_at=event.at,
            status_code=410 if is_last else 200,
            problem=GONE if is_last else "",
            sent_at=None if is_last else event.at,
        )
        DeliveryAttempt.objects.create(
            delivery=delivery,
            at=event.at,
            status_code=delivery.status_code,
            problem=delivery.problem,
        )
        item = {"event": event, "channel": Channel.WEBHOOK, "target": target}
        DeliveryItem.objects.create(delivery=delivery, due_at=event.at, **item)
