"""Update a webhook subscription, and turn it on and off."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from dashboard.client import APIError, ConnectError
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.contract.wire import WireModel
from dashboard.ledger.models import Attempt, Operation, SubscriptionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end, is_same_request
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.operations.checking import check_outcome
from dashboard.operations.execution import ExecutionResult, send
from dashboard.service.subscriptions import parse_subscription, refresh_subscription


def begin_update(
    record: SubscriptionRecord, operation_key: str, body: dict[str, Any], *, actor: User
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
    message = f"The subscription couldn't be checked first. {error}"
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
    """The result of turning a subscription on or off."""

    record: SubscriptionRecord
    """As last known."""
    message: str = ""
    """A sentence on what went wrong, or ""."""
    operation: Operation | None = None


def execute_switch(
    record: SubscriptionRecord, operation: Operation, attempt: Attempt, *, active: bool
) -> SwitchResult:
    """Send a recorded switch. If it fails, check the state of the subscription."""
    result = send(operation, attempt)
    if isinstance(result.response, WebhookSubscription):
        is_so = result.response.active is active
        message = (
            ""
            if is_so
            else f"The service accepted the update, but it is still {_on_off(not active)}."
        )
        return _switch_result(record, message, result.operation)
    settled = check_outcome(result.operation) if _is_unknown(result.operation) else result.operation
    state = _describe_state(record, result, settled)
    if _is_unknown(settled):
        message = f"Unknown whether it was turned {_on_off(active)}. {result.error} {state}"
    elif settled.outcome == Outcome.ACCEPTED:
        message = f"{result.error} Checked again: it is now {_on_off(active)}."
    else:
        message = f"Not turned {_on_off(active)}. {result.error} {state}"
    return _switch_result(record, message, settled)


def repeated_switch(record: SubscriptionRecord, operation: Operation) -> SwitchResult:
    """Return the result of a switch that this form has already sent."""
    outcome = operation.get_outcome_display()
    message = f"Already sent ({outcome.lower()}). Nothing was sent again."
    return _switch_result(
        record, "" if operation.outcome == Outcome.ACCEPTED else message, operation
    )


def _describe_state(
    record: SubscriptionRecord, result: ExecutionResult[WireModel], settled: Operation
) -> str:
    """Describe the state of the subscription; read it unless a check just did."""
    if isinstance(result.error, ConnectError):
        return f"Last known state: {_on_off(record.active)}."
    if settled.checked_at is not None:
        now = subscription_last_known(record.subscription_id) or record
        is_read = now.last_seen_at > record.last_seen_at
        return _state_sentence(now, is_read=is_read)
    reading = refresh_subscription(record)
    return _state_sentence(reading.value, is_read=reading.is_live)


def _state_sentence(record: SubscriptionRecord, *, is_read: bool) -> str:
    when = "Current state:" if is_read else "Couldn't check again. Last known state:"
    return f"{when} {_on_off(record.active)}."


def _switch_result(record: SubscriptionRecord, message: str, operation: Operation) -> SwitchResult:
    return SwitchResult(
        subscription_last_known(record.subscription_id) or record, message, operation
    )


def _is_unknown(operation: Operation) -> bool:
    return operation.outcome == Outcome.UNKNOWN


def _on_off(active: bool) -> str:  # noqa: FBT001  # one flag, one word
    return "on" if active else "off"
