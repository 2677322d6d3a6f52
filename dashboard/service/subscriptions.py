"""Read webhook subscriptions with an empty update, which returns the subscription.

The spec has no other way to read one. The update changes nothing, so it is not recorded as an
operation.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from dashboard import clock
from dashboard.client import (
    APIError,
    AuthenticationError,
    InvalidResponseError,
    NoResponseError,
    RateLimitedError,
)
from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription
from dashboard.ledger.models import SubscriptionRecord
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.ledger.subscriptions import record_subscription
from dashboard.observability.request_context import tolerate_write_errors
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import ReadResult

MAX_PARALLEL_READS = 8
"""Subscriptions read at the same time."""
NOT_READ = "Not checked: earlier requests failed."


def fetch_subscription(subscription_id: str) -> WebhookSubscription:
    """Read one subscription from the service. Raises APIError."""
    return update_subscription(subscription_id, SubscriptionPatch())


def update_subscription(subscription_id: str, patch: SubscriptionPatch) -> WebhookSubscription:
    """Update a subscription, and return the subscription in the response.

    Raises APIError, also if the response is for another subscription.
    """
    updated = publishing_client().webhook_subscriptions.update(subscription_id, patch)
    if updated.subscription_id != subscription_id:
        problem = f"the response is for another subscription, {updated.subscription_id}"
        raise InvalidResponseError(
            problem, path="subscriptionId", status_code=200, body=updated.to_json()
        )
    return updated


def record_if_listed(
    subscription_id: str, subscription: WebhookSubscription, *, read_at: datetime
) -> None:
    with tolerate_write_errors():
        if subscription_last_known(subscription_id):
            record_subscription(subscription, read_at=read_at)


def refresh_subscription(record: SubscriptionRecord) -> ReadResult[SubscriptionRecord]:
    """Read and record a subscription, or return its last known state with the error."""
    read_at = clock.now()
    try:
        subscription = fetch_subscription(record.subscription_id)
    except APIError as error:
        return ReadResult(record, record.last_seen_at, error)
    with tolerate_write_errors():
        records = record_subscription(subscription, read_at=read_at)
        return ReadResult(records, clock.now())
    # The ledger can't be written: update the record in memory.
    record.body, record.last_seen_at = subscription.to_json(), clock.now()
    record.url, record.active = subscription.url, subscription.active
    return ReadResult(record, clock.now())


def parse_subscription(record: SubscriptionRecord) -> WebhookSubscription | None:
    try:
        return record.subscription
    except ValueError:
        return None


def refresh_subscriptions(subscription_ids: Sequence[str]) -> dict[str, str]:
    """Read subscriptions concurrently; return the reason for each failure, by ID.

    The rest is not read if the service does not respond, rejects the key or asks us to wait.
    """
    failures: dict[str, str] = {}
    for start in range(0, len(subscription_ids), MAX_PARALLEL_READS):
        batch = subscription_ids[start : start + MAX_PARALLEL_READS]
        errors = _read_batch(batch)
        failures |= {subscription_id: str(error) for subscription_id, error in errors.items()}
        reasons = errors.values()
        must_wait = any(isinstance(e, RateLimitedError | AuthenticationError) for e in reasons)
        is_silent = all(isinstance(errors.get(pk), NoResponseError) for pk in batch)
        if must_wait or is_silent:
            rest = subscription_ids[start + MAX_PARALLEL_READS :]
            return failures | dict.fromkeys(rest, NOT_READ)
    return failures


def _read_batch(subscription_ids: Sequence[str]) -> dict[str, APIError]:
    errors: dict[str, APIError] = {}
    read_at = clock.now()
    results = [
        (subscription_id, run_concurrently(partial(fetch_subscription, subscription_id)))
        for subscription_id in subscription_ids
    ]
    for subscription_id, result in results:
        try:
            reading = result()
        except APIError as error:
            errors[subscription_id] = error
        else:
            with tolerate_write_errors():
                record_subscription(reading, read_at=read_at)
    return errors
