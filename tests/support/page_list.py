"""The rows of the list of pages, as the service returns them."""

from typing import Any

from django.contrib.auth.models import User

from dashboard.contract.pages import PageItem
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.ledger.recording import record_pages
from tests.support import wire


def record(*items: dict[str, Any], total: int | None = None) -> None:
    envelope = wire.envelope(*items, totalCount=len(items) if total is None else total)
    record_pages(ListEnvelope[PageItem].model_validate(envelope))


def numbered(number: int, **differs: Any) -> dict[str, Any]:
    return wire.page(pageId=f"page_{number}", name=f"Page number {number}", **differs)


def dated(number: int, day: int) -> dict[str, Any]:
    return numbered(number, updatedAt=f"2026-11-{day:02}T10:00:00Z")


def publish(actor: User, version_id: str, outcome: Outcome) -> None:
    """Record a publish of page_1 with its outcome."""
    target = Target(page_id="page_1", audience_id="aud_1", version_id=version_id)
    _, attempt = begin(
        operation_key=version_id,
        kind=OperationKind.PUBLISH_VERSION,
        actor=actor,
        target=target,
        body={},
    )
    assert attempt
    end(attempt, AttemptResult(outcome))
