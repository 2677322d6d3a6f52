"""Events of versions. They are planned by a publish, and announced when they have occurred.

A publish plans its events in the same transaction as its dates. The life cycle is computed from the
dates and doesn't depend on events. A worker announces an event, however late, by creating a
delivery for each subscription that selects it. Only the first worker does. Source: our choice; the
spec doesn't show which operation emits which event.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from dashboard.contract.webhooks import EventName
from dashboard.contract.wire import read_date
from dashboard.embedded_api.ids import last_uuid7_of
from dashboard.embedded_api.lifecycle import Dates
from dashboard.embedded_api.models import Page, Subscription, Version, WebhookDelivery, WebhookEvent
from dashboard.work.claims import back_off
from dashboard.work.tasks import attempt_each

RETRIED_FOR = timedelta(days=1)
AT_ONCE = 100
"""How many events are announced before deliveries have their turn."""


def record_created(
    instance: Version, *, created: bool = False, raw: bool = False, **_: object
) -> None:
    """Record that a version was created. Receiver of the signal `post_save`.

    Rows that are inserted in bulk or from a fixture, such as sample data, have no events.
    """
    if created and not raw and settings.EMBEDDED_API:
        page_id = instance.audience.page_id
        _new_event(instance, page_id, EventName.PAGE_VERSION_CREATED, instance.created_at).save()


def plan_events(
    page: Page, changed: Collection[Version], *, before: Mapping[str, Dates], now: datetime
) -> None:
    """Plan the events of a publish. Call this in the publish's transaction with the page locked.

    `before` holds the previous dates of the changed versions. Processing ends when the version goes
    live, so both events have that date. The events of a canceled publish are deleted.
    """
    canceled = [version for version in changed if not version.published_at]
    if canceled:
        planned = WebhookEvent.objects.filter(occurred_at__gt=last_uuid7_of(now))
        planned.filter(version__in=canceled, announced_at=None).delete()
    WebhookEvent.objects.bulk_create(
        _new_event(version, page.id, name, version.published_at)
        for version in changed
        for name in (EventName.PAGE_VERSION_PROCESSED, EventName.PAGE_VERSION_PUBLISHED)
        if version.published_at and version.published_at != before[version.id].published_at
    )


def announce_due(now: datetime) -> int:
    """Announce events that have occurred; return how many. Makes two queries if there are none.

    If an event fails, it is announced later and delays no other.
    """
    waiting = WebhookEvent.objects.filter(announced_at=None).values_list("id", "page_id")
    new = waiting.filter(retry_at=None, occurred_at__lte=last_uuid7_of(now))
    failed = waiting.filter(retry_at__lte=now)
    rows = [*new.order_by("occurred_at", "id")[:AT_ONCE], *failed.order_by("retry_at")[:AT_ONCE]]
    attempt_each(rows, partial(_announce, now=now), partial(_record_failure, now=now))
    return len(rows)


@transaction.atomic
def _announce(row: tuple[int, str], *, now: datetime) -> None:
    """Create an event's deliveries, unless another worker did or a publish canceled the event."""
    number, page_id = row
    # A publish also locks the page.
    locked = Page.objects.select_for_update(no_key=True).filter(pk=page_id)
    if not locked.values_list("pk").first():
        return
    event = WebhookEvent.objects.filter(pk=number, announced_at=None).first()
    if not event:
        return
    add_deliveries(event, now)
    event.announced_at = now
    event.save(update_fields=["announced_at"])


def _record_failure(row: tuple[int, str], *, now: datetime) -> None:
    """Schedule another announcement, or give up if the event failed for a day."""
    events = WebhookEvent.objects.filter(pk=row[0], announced_at=None)
    events.update(failures=F("failures") + 1)
    for failures in events.values_list("failures", flat=True):
        is_over = sum(map(back_off, range(1, failures + 1)), timedelta()) > RETRIED_FOR
        events.update(retry_at=now + back_off(failures), announced_at=now if is_over else None)


def add_deliveries(event: WebhookEvent, now: datetime) -> int:
    """Create a delivery for each active subscription that lists the event; return how many.

    A subscription whose events are null gets none. If a subscription has a failing delivery, new
    ones wait for its next attempt, so that a dead receiver doesn't delay others.
    """
    active = Subscription.objects.filter(tenant=event.tenant_id, active=True).order_by("created_at")
    selected = [
        subscription for subscription in active if event.name in (subscription.events or ())
    ]
    failing = WebhookDelivery.objects.filter(
        subscription__in=selected, wake_at__gt=now, attempt_count__gt=0
    )
    blocked_until = dict(failing.order_by("-wake_at").values_list("subscription", "wake_at"))
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            event=event,
            subscription=subscription,
            url=subscription.url,
            created_at=now,
            wake_at=blocked_until.get(subscription.pk, now),
            retry_until=now + RETRIED_FOR,
        )
        for subscription in selected
    )
    return len(selected)


def payload_of(event: WebhookEvent) -> dict[str, Any]:
    occurred_at = read_date(event.occurred_at) or datetime.fromtimestamp(0, UTC)
    return {
        "type": event.name,
        "timestamp": occurred_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "id": event.event_id,
        "data": event.data,
    }


def _new_event(version: Version, page_id: str, name: EventName, mark: str) -> WebhookEvent:
    return WebhookEvent(
        tenant_id=version.tenant_id,
        page_id=page_id,
        version=version,
        name=name.value,
        occurred_at=mark,
        data={
            "tenantId": version.tenant_id,
            "pageId": page_id,
            "audienceId": version.audience_id,
            "versionId": version.id,
            "versionNumber": version.version_number,
        },
    )


def earliest_event() -> "QuerySet[WebhookEvent, Any]":
    """Return a query for the date of the earliest event that isn't announced yet."""
    planned = WebhookEvent.objects.filter(announced_at__isnull=True, retry_at__isnull=True)
    return planned.order_by("occurred_at", "id").values_list("occurred_at", named=True)[:1]


def earliest_retry() -> "QuerySet[WebhookEvent, Any]":
    """Return a query for the earliest time of another try to announce a failed event."""
    failed = WebhookEvent.objects.filter(announced_at__isnull=True, retry_at__isnull=False)
    return failed.order_by("retry_at").values_list("retry_at", named=True)[:1]
