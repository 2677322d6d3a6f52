"""Delete old settled operations. Source: our choice.

Open operations stay: a user still has to learn their outcome. Publications and all records of
objects (pages, audiences, versions, subscriptions) stay: the service can't return them again.

Publishes stay, and only the bodies of their responses are deleted. The key of a version's next
publish counts the earlier ones, and a repeated key would publish nothing. Without its publish, a
version would also seem to be published outside.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import OPEN

BATCH_SIZE = 500
"""Rows per transaction: SQLite blocks all other writes meanwhile."""


@dataclass(frozen=True)
class Prunable:
    operations: int
    """Number of settled operations other than publishes, each with its attempts."""
    response_bodies: int
    """Number of response bodies of publishes."""


def prunable(before: datetime) -> Prunable:
    return Prunable(_prunable_operations(before).count(), _prunable_responses(before).count())


def prune(before: datetime) -> Prunable:
    """Delete what is prunable and return how much.

    Safe while the dashboard or another prune runs.
    """
    return Prunable(
        in_batches(_prunable_operations(before), lambda rows: rows.delete()),
        in_batches(_prunable_responses(before), lambda rows: rows.update(response_body="")),
    )


def _prunable_operations(before: datetime) -> QuerySet[Operation]:
    others = Operation.objects.exclude(kind=OperationKind.PUBLISH_VERSION)
    return others.exclude(outcome__in=OPEN).filter(settled_at__lt=before).order_by()


def _prunable_responses(before: datetime) -> QuerySet[Attempt]:
    publishes = Operation.publishes.exclude(outcome__in=OPEN)
    settled = publishes.filter(settled_at__lt=before).values("pk")
    return Attempt.objects.filter(operation__in=settled).exclude(response_body="").order_by()


def in_batches(rows: QuerySet[Any], act: Callable[[QuerySet[Any]], object]) -> int:
    done = 0
    while batch := list(rows.values_list("pk", flat=True)[:BATCH_SIZE]):
        act(rows.model._default_manager.filter(pk__in=batch))
        done += len(batch)
    return done
