"""Changing a subscription: on record with what it held before, sent once, told as it ended."""

from typing import Any

from django.http import QueryDict

from dashboard.client import APIError
from dashboard.ledger.models import Attempt, Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.operations import Ending, Target, begin, end
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.web.http import Request
from dashboard.web.operation_keys import operation_key_in
from dashboard.web.subscription_reading import last_known


def begin_update(
    request: Request, record: SubscriptionRecord, operation_key: str, body: dict[str, Any]
) -> tuple[Operation, Attempt | None]:
    """Write a change down; the attempt is None where its key is on record already."""
    before = last_known(record)
    return begin(
        operation_key=operation_key,
        kind=Kind.UPDATE_SUBSCRIPTION,
        actor=request.user,
        target=Target(subscription_id=record.subscription_id, target_name=record.label),
        body=body,
        before=before.to_wire() if before else None,
    )


def hold_back(
    request: Request,
    record: SubscriptionRecord,
    operation_key: str,
    body: dict[str, Any],
    error: APIError,
) -> Operation:
    """Write down a change that is stopped here, because the service could not be read first."""
    operation, attempt = begin_update(request, record, operation_key, body)
    if attempt is None:
        return operation
    said = f"Stopped before sending, for it could not be read first. {error}"
    return end(attempt, Ending(Outcome.NOT_SENT, said))


def update_on_record(posted: QueryDict, record: SubscriptionRecord) -> Operation | None:
    """Return the change that a form has already brought about, or None."""
    key = operation_key_in(posted)
    operation = operation_by_key(key) if key else None
    is_ours = operation and operation.subscription_id == record.subscription_id
    return operation if is_ours else None
