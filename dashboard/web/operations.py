"""Carrying out what is on record: send, read the answer, write down how it ended."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from dashboard.client import APIError, BadAnswerError, NotReachedError, StatusError
from dashboard.client.errors import Arrival
from dashboard.contract.pages import Page
from dashboard.contract.wire import WireModel
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import Ending, end
from dashboard.web.metrics import count_attempt
from dashboard.web.request_notes import note_operation
from dashboard.web.service import listening

_logger = logging.getLogger("dashboard.operations")

AnswerT = TypeVar("AnswerT", bound=WireModel)


@dataclass(frozen=True)
class Carried(Generic[AnswerT]):
    """An operation after an attempt, with the service's answer or the error in its place."""

    operation: Operation
    answer: AnswerT | None
    error: APIError | None


def carry_out(attempt: Attempt, call: Callable[[], AnswerT]) -> Carried[AnswerT]:
    """Send an attempt that is on record, and write down how it ended.

    Anything but an APIError leaves the attempt open: it is found and settled later, as after a
    killed process.
    """
    note_operation(attempt.operation.operation_key)
    with listening() as heard:
        try:
            answer = call()
        except APIError as error:
            return Carried(_end(attempt, ending_of(error)), None, error)
    status_code = heard[-1].status_code if heard else None
    body = answer.model_dump_json(by_alias=True, exclude_unset=True)
    created = answer.page_id if isinstance(answer, Page) else ""
    ending = Ending(Outcome.ACCEPTED, status_code=status_code, answer=body, page_id=created)
    return Carried(_end(attempt, ending), answer, None)


def _end(attempt: Attempt, ending: Ending) -> Operation:
    """Write down how an attempt ended, and tell of it."""
    operation = end(attempt, ending)
    count_attempt(operation.kind, ending.outcome)
    facts = {
        "operation_key": operation.operation_key,
        "kind": operation.kind,
        "outcome": str(ending.outcome),
        "attempt": attempt.number,
    }
    line = "Attempt %(attempt)s at %(kind)s %(operation_key)s: %(outcome)s"
    _logger.info(line, facts, extra={"facts": facts})
    return operation


def ending_of(error: APIError) -> Ending:
    """Return how an attempt ended that brought this error.

    Never left: not sent. Refused: rejected. Anything that may have been carried out: unknown.
    """
    outcome = Outcome.UNKNOWN
    if isinstance(error, NotReachedError):
        outcome = Outcome.NOT_SENT
    elif error.arrival is Arrival.NO:
        outcome = Outcome.REJECTED
    if isinstance(error, StatusError | BadAnswerError):
        return Ending(outcome, str(error), error.status_code, error.body)
    return Ending(outcome, str(error))
