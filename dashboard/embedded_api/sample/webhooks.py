"""Eight webhook subscriptions with every combination of events and status."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from dashboard.contract.webhooks import EventName as Event
from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Subscription
from dashboard.embedded_api.sample.randomness import (
    mark,
    sample_id,
    seeded_random,
    shift_to_weekday,
)

_VERSIONS = [Event.PAGE_VERSION_CREATED, Event.PAGE_VERSION_PROCESSED, Event.PAGE_VERSION_PUBLISHED]
_FORMS = [Event.FORM_SUBMITTED, Event.FORM_ENRICHED, Event.FORM_ENRICHMENT_FAILED]
_BRIEFS: tuple[tuple[str, list[Event] | None, bool], ...] = (
    ("https://hooks.kestrel.example/pressroom/versions", _VERSIONS, True),
    (
        "https://hooks.kestrel-crm.example/v2/inbound/prospect-engagement/northern-europe/form-events"
        "?source=pages&team=revenue-operations",
        _FORMS[:2],
        True,
    ),
    ("https://warehouse.example/ingest", None, False),
    ("https://audit.kestrel.example/all", [*_VERSIONS, *_FORMS], True),
    ("https://chat.kestrel.example/hooks/sales", [], True),
    ("https://hooks.kestrel.example/enrichment/failed", _FORMS[2:], False),
    ("http://10.20.0.14:8088/legacy", _FORMS[:1], True),
    ("https://staging.kestrel.example/hooks", None, True),
)

RECEIVER_ID = sample_id("whs", "receiver")
"""Of the subscription for the dashboard's own receiver, which each start of the demo adds."""


def subscriptions(now: datetime) -> Iterator[Subscription]:
    """Yield the subscriptions."""
    for number, (url, events, active) in enumerate(_BRIEFS):
        rng = seeded_random("subscription", number)
        created = shift_to_weekday(rng, now - timedelta(days=rng.uniform(60, 300)))
        yield Subscription(
            id=sample_id("whs", number),
            tenant_id=DEFAULT_TENANT_ID,
            url=url,
            events=None if events is None else [event.value for event in events],
            active=active,
            created_at=mark(created, rng),
            updated_at=mark(created + (now - created) * rng.random(), rng),
        )
