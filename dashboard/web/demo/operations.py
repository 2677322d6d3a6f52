"""The operations of the past weeks, as they would be on record: what was asked and how it ended."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.operations import ANSWER_KEPT_CHARACTERS, OPEN, Ending, Target

COLLEAGUES = {
    "Ingrid Solberg": 5.0,
    "Tomasz Wilk": 4.0,
    "Amara Okafor": 4.0,
    "Jo Lindqvist": 2.0,
    "Maximiliana Østergaard-Lindenskjold": 1.0,
    "demo": 3.0,
    "publisher": 4.0,
}
"""Who did how much; those without an account have left, and their names stay."""


@dataclass(frozen=True)
class Past:
    """One operation of the past. `took_s` is of its one attempt, in seconds."""

    kind: Kind
    at: datetime
    target: Target
    body: Any
    ending: Ending
    took_s: float
    before: Any = None
    looked_at: datetime | None = None
    found: str = ""
    outcome: Outcome | None = None
    """Where a later look settled it; otherwise the outcome is the attempt's."""


def remember_operations(past: Iterable[Past], accounts: dict[str, User]) -> None:
    """Write the operations down, each with its attempt."""
    dice = Random("operations")  # noqa: S311 (nothing is guarded by it)
    rows = [_rows(one, dice, accounts) for one in sorted(past, key=lambda one: one.at)]
    Operation.objects.bulk_create(operation for operation, _ in rows)
    Attempt.objects.bulk_create(attempt for _, attempt in rows)


def _rows(past: Past, dice: Random, accounts: dict[str, User]) -> tuple[Operation, Attempt]:
    name = dice.choices(list(COLLEAGUES), list(COLLEAGUES.values()))[0]
    ended = past.at + timedelta(seconds=past.took_s)
    outcome = past.outcome or past.ending.outcome
    operation = Operation(
        operation_key=_key(past.kind, dice),
        kind=past.kind,
        outcome=outcome,
        actor=accounts.get(name),
        actor_name=name,
        requested_at=past.at,
        settled_at=None if outcome in OPEN else past.looked_at or ended,
        body_sent=past.body,
        before=past.before,
        looked_at=past.looked_at,
        look_found=past.found,
        **asdict(past.target),
    )
    if past.kind is Kind.PUBLISH_VERSION:
        operation.body_sent = {"operationKey": operation.operation_key}
    attempt = Attempt(
        operation=operation,
        number=1,
        actor_name=name,
        sent_at=past.at,
        ended_at=ended,
        outcome=past.ending.outcome,
        said=past.ending.said,
        status_code=past.ending.status_code,
        answer=past.ending.answer[:ANSWER_KEPT_CHARACTERS],
    )
    return operation, attempt


def _key(kind: Kind, dice: Random) -> str:
    """Return a key of the form that the dashboard gives to operations of this kind."""
    number = UUID(int=dice.getrandbits(128), version=4)
    if kind is not Kind.PUBLISH_VERSION:
        return str(number)
    digits = number.hex
    return "pr-" + "-".join(digits[start : start + 4] for start in range(0, 20, 4))
