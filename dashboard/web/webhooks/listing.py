"""Rows and filters of the list of known webhook subscriptions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from django.db.models import Q

from dashboard.contract.webhooks import EventName, WebhookSubscription
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.queries.subscriptions import list_subscriptions, troubled_subscriptions
from dashboard.saved_views.models import ListName
from dashboard.service.subscriptions import parse_subscription
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import Choice, choice_among
from dashboard.web.lists.state import ListState

NULL, NONE = "null", "none"
"""Values of the event filter for null and for an empty list."""
EVENT_NAMES = {NULL: "null (undocumented)", NONE: "No events"}


STATE = choice_among(
    "state",
    "State",
    [("on", "On"), ("off", "Off")],
    all_label="All states",
    where=lambda state: Q(active=state == "on"),
)
EVENT = Choice(
    "event",
    "Event",
    values=(*EventName, NULL, NONE),
    find=lambda _: _events_of(map(parse_subscription, list_subscriptions())),
    all_label="All events",
    label_of=lambda event: EVENT_NAMES.get(event, event),
)
WEBHOOKS = ListDefinition(
    name=ListName.WEBHOOKS,
    filters=(STATE, EVENT),
    find=lambda state: SubscriptionRecord.objects.filter(state.condition),
)


@dataclass(frozen=True)
class SubscriptionRow:
    record: SubscriptionRecord
    subscription: WebhookSubscription | None
    """Subscription as last seen; None if the record can't be parsed."""
    trouble: Operation | None = None
    """Last change, if it failed or its outcome is unknown."""
    failure: str = ""
    """Why the subscription couldn't be fetched just now; "" if it could."""
    operation_key: str = field(default_factory=lambda: str(uuid4()))
    """Operation key of the switch, so that each rendering sends at most once."""


@dataclass(frozen=True)
class SubscriptionList:
    rows: list[SubscriptionRow]
    total: int
    """Number of all subscriptions, before filtering."""
    events: list[str]
    """Options of the event filter: names in the spec, other names seen, NULL and NONE."""


def subscription_list(
    state: ListState, failures: Mapping[str, str] | None = None
) -> SubscriptionList:
    """Return the list. `failures` says by id why a subscription couldn't be fetched just now.

    Makes two queries. Subscriptions are added by hand, so there are few. They are filtered in
    Python.
    """
    subscriptions = [(record, parse_subscription(record)) for record in list_subscriptions()]
    matching = [row for row in subscriptions if matches(state, *row)]
    troubles = troubled_subscriptions([record.subscription_id for record, _ in matching])
    rows = [
        SubscriptionRow(
            record,
            subscription,
            troubles.get(record.subscription_id),
            (failures or {}).get(record.subscription_id, ""),
        )
        for record, subscription in matching
    ]
    names = [event.value for event in EventName]
    seen = _events_of(subscription for _, subscription in subscriptions)
    events = [*names, *sorted(seen.difference(names)), NULL, NONE]
    return SubscriptionList(rows, len(subscriptions), events)


def matches(
    state: ListState, record: SubscriptionRecord, subscription: WebhookSubscription | None
) -> bool:
    active, event = state.value(STATE), state.value(EVENT)
    if active and record.active is not (active == "on"):
        return False
    if not event:
        return True
    if subscription is None:
        return False
    if subscription.events is None:
        return event == NULL
    return event in (subscription.events or [NONE])


def _events_of(subscriptions: Iterable[WebhookSubscription | None]) -> set[str]:
    return {
        name for subscription in subscriptions if subscription for name in subscription.events or ()
    }


def subscription_row(record: SubscriptionRecord) -> SubscriptionRow:
    troubles = troubled_subscriptions([record.subscription_id])
    return SubscriptionRow(record, parse_subscription(record), troubles.get(record.subscription_id))


def ids_to_refresh(state: ListState, *, at_most: int) -> list[str]:
    """Return the ids of the matching subscriptions, least recently seen first."""
    matching = [
        record
        for record in list_subscriptions()
        if matches(state, record, parse_subscription(record))
    ]
    matching.sort(key=lambda record: record.last_seen_at)
    return [record.subscription_id for record in matching[:at_most]]
