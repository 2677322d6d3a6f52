"""Rows and filters of the list of known webhook subscriptions."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from uuid import uuid4

from django.utils.http import urlencode

from dashboard.contract.webhooks import EventName, WebhookSubscription
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.queries.subscriptions import list_subscriptions, troubled_subscriptions
from dashboard.service.subscriptions import parse_subscription
from dashboard.web.ui.density import density_param
from dashboard.web.ui.ignored_values import KnownValues

NULL, NONE = "null", "none"
"""Filters for subscriptions whose events are null, and those with an empty list of them."""
STATES = ("on", "off")


@dataclass(frozen=True)
class SubscriptionFilters:
    """The filters of the list; empty ones show all."""

    state: str = ""
    """One of STATES."""
    event: str = ""
    """The name of an event, or NULL or NONE."""
    density: str = ""
    """Of the list: one of DENSITIES, or empty."""
    view: str = ""
    """The hint of the saved view that is shown: see `web/ui/saved_views.py`."""

    @classmethod
    def of(cls, params: Mapping[str, str]) -> "SubscriptionFilters":
        """Parse `?state= event= density=`; an unknown state is dropped."""
        state = params.get("state", "")
        return cls(
            state=state if state in STATES else "",
            event=params.get("event", "")[:200],
            density=density_param(params),
        )

    @property
    def query(self) -> str:
        """The query string of the filters; empty if there are none."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    @property
    def are_set(self) -> bool:
        """Whether anything is filtered."""
        return bool(self.state or self.event)

    def matches(self, record: SubscriptionRecord, subscription: WebhookSubscription | None) -> bool:
        """Return whether a subscription passes the filters."""
        if self.state and record.active is not (self.state == "on"):
            return False
        if not self.event:
            return True
        if subscription is None:
            return False
        if subscription.events is None:
            return self.event == NULL
        return self.event in (subscription.events or [NONE])


@dataclass(frozen=True)
class SubscriptionRow:
    """One subscription of the list."""

    record: SubscriptionRecord
    subscription: WebhookSubscription | None
    """As last seen; None if the record can't be parsed."""
    trouble: Operation | None = None
    """The last change, if it failed or its outcome is unknown."""
    failure: str = ""
    """Why it could not be fetched just now."""
    operation_key: str = field(default_factory=lambda: str(uuid4()))
    """The key of its switch: each rendering sends once at most."""


@dataclass(frozen=True)
class SubscriptionList:
    """The matching rows, and the options of the filters."""

    rows: list[SubscriptionRow]
    known: int
    """The number of all subscriptions on the list."""
    events: list[str]
    """The spec's names, then others that were seen at the service."""


def subscription_list(
    filters: SubscriptionFilters, failures: Mapping[str, str] | None = None
) -> SubscriptionList:
    """Return the list; two queries. `failures` says by id why one could not be fetched just now.

    Each was added by hand, so there are few: they are filtered in Python.
    """
    known = [(record, parse_subscription(record)) for record in list_subscriptions()]
    found = [each for each in known if filters.matches(*each)]
    troubles = troubled_subscriptions([record.subscription_id for record, _ in found])
    rows = [
        SubscriptionRow(
            record,
            subscription,
            troubles.get(record.subscription_id),
            (failures or {}).get(record.subscription_id, ""),
        )
        for record, subscription in found
    ]
    names = [event.value for event in EventName]
    seen = _events_of(subscription for _, subscription in known)
    return SubscriptionList(rows, len(known), [*names, *sorted(seen.difference(names))])


def _events_of(subscriptions: Iterable[WebhookSubscription | None]) -> set[str]:
    return {name for each in subscriptions if each for name in each.events or ()}


def _events_found(_names: list[str]) -> set[str]:
    """Return all events that some subscription has; one query."""
    return _events_of(map(parse_subscription, list_subscriptions()))


KNOWN_VALUES = {
    "state": KnownValues("State", {*STATES}),
    "event": KnownValues("Event", {*EventName, NULL, NONE}, _events_found),
}
"""The values of the list's filters."""


def subscription_row(record: SubscriptionRecord) -> SubscriptionRow:
    """Return the row of one subscription; one query."""
    troubles = troubled_subscriptions([record.subscription_id])
    return SubscriptionRow(record, parse_subscription(record), troubles.get(record.subscription_id))


def ids_to_refresh(filters: SubscriptionFilters, *, at_most: int) -> list[str]:
    """Return the ids of the matching subscriptions, those seen longest ago first."""
    matching = [
        record
        for record in list_subscriptions()
        if filters.matches(record, parse_subscription(record))
    ]
    matching.sort(key=lambda record: record.last_seen_at)
    return [record.subscription_id for record in matching[:at_most]]
