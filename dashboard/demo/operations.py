"""Save past operations with their attempts."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import MAX_RESPONSE_CHARACTERS, OPEN, AttemptResult, Target

COLLEAGUES = {
    "Ingrid Solberg": 5.0,
    "Tomasz Wilk": 4.0,
    "Amara Okafor": 4.0,
    "Jo Lindqvist": 2.0,
    "Maximiliana Østergaard-Lindenskjold": 1.0,
    "demo": 3.0,
    "publisher": 4.0,
}
"""Actors by weight; those without an account have left."""


@dataclass(frozen=True)
class PastOperation:
    """A past operation with one attempt, which took `took_s` seconds."""

    kind: OperationKind
    at: datetime
    target: Target
    body: Any
    result: AttemptResult
    took_s: float
    before: Any = None
    checked_at: datetime | None = None
    found: str = ""
    outcome: Outcome | None = None
    """Set if a later check settled it; otherwise the attempt's outcome counts."""


def save_operations(past: Iterable[PastOperation], accounts: dict[str, User]) -> None:
    """Save the operations with their attempts."""
    dice = Random("operations")  # noqa: S311 (not for security)
    rows = [_rows(one, dice, accounts) for one in sorted(past, key=lambda one: one.at)]
    Operation.objects.bulk_create(operation for operation, _ in rows)
    Attempt.objects.bulk_create(attempt for _, attempt in rows)


def _rows(
    past: PastOperation, dice: Random, accounts: dict[str, User]
) -> tuple[Operation, Attempt]:
    name = dice.choices(list(COLLEAGUES), list(COLLEAGUES.values()))[0]
    key = UUID(int=dice.getrandbits(128), version=4)
    operation_key, body = str(key), past.body
    if past.kind is OperationKind.PUBLISH_VERSION:
        # As the dashboard's own.
        operation_key = "pr-" + "-".join(key.hex[start : start + 4] for start in range(0, 20, 4))
        body = {"operationKey": operation_key}
    ended = past.at + timedelta(seconds=past.took_s)
    outcome = past.outcome or past.result.outcome
    operation = Operation(
        operation_key=operation_key,
        kind=past.kind,
        outcome=outcome,
        actor=accounts.get(name),
        actor_name=name,
        requested_at=past.at,
        settled_at=None if outcome in OPEN else past.checked_at or ended,
        changed_at=past.checked_at or ended,
        body_sent=body,
        before=past.before,
        checked_at=past.checked_at,
        check_result=past.found,
        **asdict(past.target),
    )
    attempt = Attempt(
        operation=operation,
        number=1,
        actor_name=name,
        sent_at=past.at,
        ended_at=ended,
        outcome=past.result.outcome,
        message=past.result.message,
        status_code=past.result.status_code,
        response_body=past.result.response_body[:MAX_RESPONSE_CHARACTERS],
    )
    return operation, attempt
