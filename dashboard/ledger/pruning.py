"""What of the ledger may go after a while, and what never does. Source: our choice.

An operation that is not settled stays: a person still has to learn how it ended. So does all that
was seen (pages, audiences, versions, subscriptions): the service can't tell it again. A publish
stays for good, because the key of the next publish of that version counts those before it, and a
key that came a second time would publish nothing; only the bodies of its answers go.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from dashboard.ledger.models import Attempt, Operation, PageDraft
from dashboard.ledger.models.operations import Kind
from dashboard.ledger.operations import OPEN

AT_ONCE = 500
"""Rows in one transaction: SQLite lets nobody else write meanwhile."""


@dataclass(frozen=True)
class Prunable:
    """How much may go."""

    operations: int
    """Settled ones other than publishes, each with its attempts."""
    answers: int
    """Bodies that the service answered a publish with."""


def prunable(before: datetime) -> Prunable:
    """Return how much of what was settled before that moment may go."""
    return Prunable(_operations(before).count(), _answers(before).count())


def prune(before: datetime) -> Prunable:
    """Let it go, and return how much that was. Safe beside the dashboard and beside itself."""
    return Prunable(
        _in_turns(_operations(before), lambda rows: rows.delete()),
        _in_turns(_answers(before), lambda rows: rows.update(answer="")),
    )


def _operations(before: datetime) -> QuerySet[Operation]:
    settled = Operation.objects.exclude(outcome__in=OPEN).exclude(kind=Kind.PUBLISH_VERSION)
    # A draft that was sent knows by its operation that it was.
    drafts = PageDraft.objects.exclude(operation_key="").values("operation_key")
    return settled.filter(settled_at__lt=before).exclude(operation_key__in=drafts).order_by()


def _answers(before: datetime) -> QuerySet[Attempt]:
    publishes = Operation.objects.filter(kind=Kind.PUBLISH_VERSION).exclude(outcome__in=OPEN)
    settled = publishes.filter(settled_at__lt=before).values("pk")
    return Attempt.objects.filter(operation__in=settled).exclude(answer="").order_by()


def _in_turns(rows: QuerySet[Any], act: Callable[[QuerySet[Any]], object]) -> int:
    """Act on the rows, some at a time, until none is left that matches; return how many."""
    done = 0
    while some := list(rows.values_list("pk", flat=True)[:AT_ONCE]):
        act(rows.model._default_manager.filter(pk__in=some))
        done += len(some)
    return done
