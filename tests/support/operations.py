"""Recorded operations, as after a publish."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db.models import Model

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end

RecordT = TypeVar("RecordT", bound=Model)


def operation(actor: User, key: str, **differs: Any) -> Operation:
    """Record a publish of version 2 with its result."""
    ending = differs.pop(
        "ending", AttemptResult(Outcome.ACCEPTED, response_body='{"status": "queued"}')
    )
    at: datetime | None = differs.pop("at", None)
    values: dict[str, Any] = {
        "kind": OperationKind.PUBLISH_VERSION,
        "target": Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods"),
        "body": {"operationKey": key},
    }
    operation, attempt = begin(operation_key=key, actor=actor, **values | differs)
    assert attempt is not None
    if ending:
        operation = end(attempt, ending)
    if at:
        Operation.objects.filter(pk=operation.pk).update(requested_at=at)
    return operation


def operations(actor: User, keys: Sequence[str], *, apart: timedelta = timedelta()) -> None:
    """Record equal publishes; each is older than the previous one by `apart`."""
    first = operation(actor, keys[0])
    attempt = first.attempts.get()
    operations = Operation.objects.bulk_create(
        copied(first, operation_key=key, requested_at=first.requested_at - apart * number)
        for number, key in enumerate(keys[1:], 1)
    )
    Attempt.objects.bulk_create(copied(attempt, operation_id=item.pk) for item in operations)


def copied(record: RecordT, **differs: Any) -> RecordT:
    """Return an unsaved copy of a record."""
    names = {field.attname for field in record._meta.concrete_fields if not field.primary_key}
    values = {name: getattr(record, name) for name in names}
    return type(record)(**values | differs)
