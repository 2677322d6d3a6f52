"""Send an operation to the service and record its outcome."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from dashboard import clock
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rule import refusal
from dashboard.client import (
    APIError,
    ConnectError,
    InvalidResponseError,
    StatusError,
    deadline_counted_from,
)
from dashboard.client.errors import Executed
from dashboard.clock import MAX_DELAY
from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.pages import Page, PageRequest
from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription
from dashboard.contract.wire import WireModel
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, end
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.ledger.recording import record_page, record_version
from dashboard.observability.metrics import count_attempt
from dashboard.observability.request_context import set_unsettled_operation, tolerate_write_errors
from dashboard.service.client import capture_call_reports, publishing_client
from dashboard.service.subscriptions import record_if_listed, update_subscription
from dashboard.work.tasks import close_lost_connections

TOO_LATE = "Pressroom was suspended before the call, so nothing was sent. Try again."

_logger = logging.getLogger("dashboard.operations")


def read_operation_key(form: Mapping[str, Any]) -> str:
    """Return the operation key of a form, or "" if it is not a UUID."""
    try:
        return str(UUID(form.get("operation_key", "")))
    except ValueError:
        return ""


def unused_operation_key(key: str) -> str:
    """Return the form's own key, or a new one if it is invalid or already used."""
    is_used = operation_by_key(key) or ApprovalRequest.objects.filter(operation_key=key).exists()
    return key if key and not is_used else str(uuid4())


@dataclass(frozen=True)
class ExecutionResult:
    operation: Operation
    response: WireModel | None
    error: APIError | None
    refusal: str = ""
    """Why it wasn't sent, in a sentence, if a permission or an approval is missing."""


def send(operation: Operation, attempt: Attempt) -> ExecutionResult:
    """Send a recorded attempt; record its result and the object in the response.

    Every change is sent here. If the sender lacks the permission, or the approval that the rule
    needs is missing, the attempt is recorded as not sent, with a refusal. Any exception but an
    APIError leaves the attempt open. It is settled later, as after a killed process.
    """
    if reason := refusal(operation, attempt):
        result = AttemptResult(Outcome.NOT_SENT, reason)
        return ExecutionResult(_record_result(attempt, result), None, None, reason)
    # Taken before the age, so that the call's time includes any suspension from here on.
    begun = time.monotonic()
    if clock.now() - attempt.sent_at > MAX_DELAY:
        result = AttemptResult(Outcome.NOT_SENT, TOO_LATE)
        return ExecutionResult(_record_result(attempt, result), None, None)
    set_unsettled_operation(operation)
    began_at = clock.now()
    with capture_call_reports() as reports, deadline_counted_from(begun):
        try:
            response = _call_service(operation)
        except APIError as error:
            close_lost_connections()
            return ExecutionResult(_record_result(attempt, attempt_result_for(error)), None, error)
    # Otherwise the outcome of a long call would be unknown.
    close_lost_connections()
    result = AttemptResult(
        Outcome.ACCEPTED,
        status_code=reports[-1].status_code if reports else None,
        response_body=response.to_json(),
        page_id=response.page_id if isinstance(response, Page) else "",
    )
    operation = _record_result(attempt, result)
    with tolerate_write_errors():
        match response:
            case AudienceVersion():
                record_version(operation.page_id, response, read_at=began_at)
            case Page():
                record_page(response, read_at=began_at)
            case WebhookSubscription():
                record_if_listed(operation.subscription_id, response, read_at=began_at)
    return ExecutionResult(operation, response, None)


def _call_service(operation: Operation) -> WireModel:
    """Make the call of an operation. Raises APIError, also if another version was returned."""
    body = operation.body_sent or {}
    match OperationKind(operation.kind):
        case OperationKind.PUBLISH_VERSION:
            ids = (operation.page_id, operation.audience_id, operation.version_id)
            key = body.get("operationKey")
            version = publishing_client().audiences.publish(*ids, operation_key=key)
            if version.version_id != operation.version_id:
                problem = f"the service returned another version, {version.version_id}"
                raise InvalidResponseError(
                    problem, path="versionId", status_code=200, body=version.to_json()
                )
            return version
        case OperationKind.CREATE_PAGE:
            return publishing_client().pages.create(PageRequest.model_validate(body))
        case OperationKind.UPDATE_SUBSCRIPTION:
            patch = SubscriptionPatch.model_validate(body)
            return update_subscription(operation.subscription_id, patch)


def _record_result(attempt: Attempt, result: AttemptResult) -> Operation:
    if result.outcome == Outcome.NOT_SENT:
        set_unsettled_operation(None)
    operation = end(attempt, result)
    set_unsettled_operation(None)
    count_attempt(operation.kind, result.outcome)
    facts = {
        "operation_key": operation.operation_key,
        "kind": operation.kind,
        "outcome": str(result.outcome),
        "attempt": attempt.number,
    }
    line = "Attempt %(attempt)s of %(kind)s %(operation_key)s: %(outcome)s"
    _logger.info(line, facts, extra={"facts": facts})
    return operation


def attempt_result_for(error: APIError) -> AttemptResult:
    """Return the result of an attempt that raised this error.

    Unknown if the service may have executed it.
    """
    outcome = Outcome.UNKNOWN
    if isinstance(error, ConnectError):
        outcome = Outcome.NOT_SENT
    elif error.executed is Executed.NO:
        outcome = Outcome.REJECTED
    if isinstance(error, StatusError | InvalidResponseError):
        return AttemptResult(outcome, str(error), error.status_code, error.body)
    return AttemptResult(outcome, str(error))
