"""Reading webhook subscriptions: the spec has no way but a change of nothing, which returns one.

Source: DESIGN.md, What the client accepts. Reading is no operation on record.
"""

from collections.abc import Sequence
from functools import partial

from django.utils import timezone
from pydantic import ValidationError

from dashboard.client import (
    APIError,
    BadAnswerError,
    KeyRefusedError,
    NoAnswerError,
    RateLimitedError,
)
from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription
from dashboard.ledger import recording
from dashboard.ledger.models import SubscriptionRecord
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.web.parallel import started
from dashboard.web.readings import Reading
from dashboard.web.service import publishing_client

SIDE_BY_SIDE = 8
"""Subscriptions asked for at the same time."""
NOT_ASKED = "Not asked: the service gave no answer for those before it."


def ask(subscription_id: str) -> WebhookSubscription:
    """Ask the service for one subscription. Raises APIError."""
    return patched(subscription_id, SubscriptionPatch())


def patched(subscription_id: str, patch: SubscriptionPatch) -> WebhookSubscription:
    """Change a subscription, and return it as the service answers.

    Raises APIError: an answer about another subscription says nothing of this one.
    """
    found = publishing_client().webhook_subscriptions.update(subscription_id, patch)
    if found.subscription_id != subscription_id:
        problem = f"the service answered for another subscription, {found.subscription_id}"
        body = found.model_dump_json(by_alias=True, exclude_unset=True)
        raise BadAnswerError(problem, path="subscriptionId", status_code=200, body=body)
    return found


def remember_if_listed(subscription_id: str, found: WebhookSubscription) -> None:
    """Write down what was seen of a subscription; one that was taken off the list stays off."""
    if subscription_last_known(subscription_id):
        recording.remember_subscription(found)


def read_again(record: SubscriptionRecord) -> Reading[SubscriptionRecord]:
    """Read a subscription that is on the list, or return it as last known, with the error."""
    try:
        found = ask(record.subscription_id)
    except APIError as error:
        return Reading(record, record.last_seen_at, error)
    return Reading(recording.remember_subscription(found), timezone.now())


def last_known(record: SubscriptionRecord) -> WebhookSubscription | None:
    """Return a subscription as last seen; None where what was kept can't be read any more."""
    try:
        return record.subscription
    except ValidationError:
        return None


def read_all(subscription_ids: Sequence[str]) -> dict[str, str]:
    """Read subscriptions side by side; return why, for each that could not be read.

    Where nobody answers, or the service asks us to wait, the rest is left alone and says so.
    """
    failures: dict[str, str] = {}
    for start in range(0, len(subscription_ids), SIDE_BY_SIDE):
        batch = subscription_ids[start : start + SIDE_BY_SIDE]
        errors = _read_batch(batch)
        failures |= {subscription_id: str(error) for subscription_id, error in errors.items()}
        if _is_pointless(list(errors.values()), len(batch)):
            rest = subscription_ids[start + SIDE_BY_SIDE :]
            return failures | dict.fromkeys(rest, NOT_ASKED)
    return failures


def _read_batch(subscription_ids: Sequence[str]) -> dict[str, APIError]:
    errors: dict[str, APIError] = {}
    asked = [(each, started(partial(ask, each))) for each in subscription_ids]
    for subscription_id, answer in asked:
        try:
            recording.remember_subscription(answer())
        except APIError as error:
            errors[subscription_id] = error
    return errors


def _is_pointless(errors: Sequence[APIError], asked: int) -> bool:
    """Tell whether asking on would only bring the same."""
    if any(isinstance(error, RateLimitedError | KeyRefusedError) for error in errors):
        return True
    return len(errors) == asked and all(isinstance(error, NoAnswerError) for error in errors)
