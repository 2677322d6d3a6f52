"""The list of webhook subscriptions known here: its rows, and the filters in its address."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from uuid import uuid4

from django.utils.http import urlencode

from dashboard.contract.webhooks import EventName, WebhookSubscription
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.queries.subscriptions import subscriptions_known, troubled_subscriptions
from dashboard.web.subscription_reading import last_known

NULL, NONE = "null", "none"
"""Filters for subscriptions whose events are null, and those with an empty list of them."""
STATES = ("on", "off")


@dataclass(frozen=True)
class SubscriptionFilters:
    """What the list is narrowed by; empty shows all."""

    state: str = ""
    """One of STATES."""
    event: str = ""
    """The name of an event, or NULL or NONE."""

    @classmethod
    def of(cls, address: Mapping[str, str]) -> "SubscriptionFilters":
        """Read `?state= event=`; a state that is none is left out."""
        state = address.get("state", "")
        return cls(state=state if state in STATES else "", event=address.get("event", "")[:200])

    @property
    def query(self) -> str:
        """The filters as an address has them; empty where nothing is filtered."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    def fit(self, record: SubscriptionRecord, subscription: WebhookSubscription | None) -> bool:
        """Tell whether a subscription is one of those asked for."""
        if self.state and record.active is not (self.state == "on"):
            return False
        return not self.event or self.event in _event_values(subscription)


@dataclass(frozen=True)
class Row:
    """One subscription of the list."""

    record: SubscriptionRecord
    subscription: WebhookSubscription | None
    """As last seen; None where what was kept can't be read."""
    trouble: Operation | None = None
    """The last change, where it failed or its outcome is unknown."""
    failure: str = ""
    """Why it could not be read just now."""
    operation_key: str = field(default_factory=lambda: str(uuid4()))
    """For its switch: one drawing of it sends once."""


@dataclass(frozen=True)
class SubscriptionList:
    """The rows asked for, and what the filters can be set to."""

    rows: list[Row]
    known: int
    """How many are on the list in all."""
    events: list[str] = field(default_factory=list)
    """The spec's names, then others that were seen."""


def subscription_list(
    filters: SubscriptionFilters, failures: Mapping[str, str] | None = None
) -> SubscriptionList:
    """Return the list; two queries. `failures` says by id why one could not be read just now.

    Each was added by hand, so there are few, and their events are looked at here.
    """
    known = [(record, last_known(record)) for record in subscriptions_known()]
    found = [
        (record, subscription)
        for record, subscription in known
        if filters.fit(record, subscription)
    ]
    troubles = troubled_subscriptions([record.subscription_id for record, _ in found])
    rows = [
        Row(
            record,
            subscription,
            troubles.get(record.subscription_id),
            (failures or {}).get(record.subscription_id, ""),
        )
        for record, subscription in found
    ]
    return SubscriptionList(rows, len(known), _names([seen for _, seen in known]))


def subscription_row(record: SubscriptionRecord) -> Row:
    """Return one subscription as a row of its own; one query."""
    troubles = troubled_subscriptions([record.subscription_id])
    return Row(record, last_known(record), troubles.get(record.subscription_id))


def ids_to_read(filters: SubscriptionFilters, *, at_most: int) -> list[str]:
    """Return the ids of those asked for, the ones seen longest ago first."""
    records = sorted(subscriptions_known(), key=lambda record: record.last_seen_at)
    fitting = [
        record.subscription_id for record in records if filters.fit(record, last_known(record))
    ]
    return fitting[:at_most]


def _event_values(subscription: WebhookSubscription | None) -> Sequence[str]:
    if subscription is None:
        return ()
    return (NULL,) if subscription.events is None else subscription.events or (NONE,)


def _names(seen: Sequence[WebhookSubscription | None]) -> list[str]:
    names = {name for subscription in seen if subscription for name in subscription.events or ()}
    known = [event.value for event in EventName]
    return [*known, *sorted(names.difference(known))]
