"""Update a webhook subscription, and turn it on and off."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from dashboard.client import APIError, ConnectError
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import Attempt, Operation, SubscriptionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import (
    NO_CLEARANCE,
    AttemptResult,
    Clearance,
    Target,
    begin,
    end,
    is_same_request,
)
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.operations.checking import check_outcome
from dashboard.operations.execution import send
from dashboard.service.subscriptions import parse_subscription, refresh_subscription

ON_OFF = {True: "on", False: "off"}


def begin_update(
    record: SubscriptionRecord,
    operation_key: str,
    body: dict[str, Any],
    *,
    actor: User,
    clearance: Clearance = NO_CLEARANCE,
) -> tuple[Operation, Attempt | None]:
    """Record an update; the attempt is None if its key is already recorded."""
    before = parse_subscription(record)
    return begin(
        operation_key=operation_key,
        kind=OperationKind.UPDATE_SUBSCRIPTION,
        actor=actor,
        target=Target(subscription_id=record.subscription_id, target_name=record.label),
        body=body,
        before=before.to_wire() if before else None,
        clearance=clearance,
    )


def record_not_sent(
    record: SubscriptionRecord,
    operation_key: str,
    body: dict[str, Any],
    error: APIError,
    *,
    actor: User,
) -> Operation:
    """Record an update that is not sent, because the service could not be read first."""
    operation, attempt = begin_update(record, operation_key, body, actor=actor)
    if attempt is None:
        return operation
    message = f"The subscription couldn’t be checked first. {error}"
    return end(attempt, AttemptResult(Outcome.NOT_SENT, message))


def find_update(
    record: SubscriptionRecord, operation_key: str, body: dict[str, Any]
) -> Operation | None:
    """Return the update that this form has already started, or None."""
    operation = operation_by_key(operation_key) if operation_key else None
    target = Target(subscription_id=record.subscription_id)
    is_ours = operation and is_same_request(
        operation, kind=OperationKind.UPDATE_SUBSCRIPTION, target=target, body=body
    )
    return operation if is_ours else None


@dataclass(frozen=True)
class SwitchResult:
    record: SubscriptionRecord
    """The subscription as last known."""
    message: str = ""
    """A sentence on what went wrong, or ""."""
    operation: Operation | None = None


def execute_switch(
    record: SubscriptionRecord, operation: Operation, attempt: Attempt, *, active: bool
) -> SwitchResult:
    """Send a recorded switch. If it fails, check the state of the subscription."""
    result = send(operation, attempt)
    settled, turned, message = result.operation, ON_OFF[active], ""
    if isinstance(result.response, WebhookSubscription):
        if result.response.active is not active:
            message = f"The service accepted the update, but it is still {ON_OFF[not active]}."
    else:
        if settled.outcome == Outcome.UNKNOWN:
            settled = check_outcome(settled)
        state = _describe_state(record, result.error, settled)
        problem = result.refusal or result.error
        if settled.outcome == Outcome.UNKNOWN:
            message = f"Unknown whether it was turned {turned}. {problem} {state}"
        elif settled.outcome == Outcome.ACCEPTED:
            message = f"{problem} Checked again: it is now {turned}."
        else:
            message = f"Not turned {turned}. {problem} {state}"
    now = subscription_last_known(record.subscription_id) or record
    return SwitchResult(now, message, settled)


def repeated_switch(record: SubscriptionRecord, operation: Operation) -> SwitchResult:
    outcome = operation.get_outcome_display().lower()
    message = f"Already sent ({outcome}). Nothing was sent again."
    return SwitchResult(record, "" if operation.outcome == Outcome.ACCEPTED else message, operation)


def _describe_state(record: SubscriptionRecord, error: APIError | None, settled: Operation) -> str:
    """Describe the state of the subscription; read it unless a check just did."""
    if isinstance(error, ConnectError):
        return f"Last known state: {ON_OFF[record.active]}."
    if settled.checked_at is not None:
        now = subscription_last_known(record.subscription_id) or record
        is_read = now.last_seen_at > record.last_seen_at
    else:
        reading = refresh_subscription(record)
        now, is_read = reading.value, reading.is_live
    when = "Current state:" if is_read else "Couldn’t check again. Last known state:"
    return f"{when} {ON_OFF[now.active]}."
