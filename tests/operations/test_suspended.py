"""A process that is suspended between recording a change and sending it sends nothing late."""

import pytest
from django.contrib.auth.models import User

from dashboard.clock import MAX_DELAY
from dashboard.ledger.models.operations import Outcome
from dashboard.operations.checking import PublishTarget
from dashboard.operations.execution import TOO_LATE, send
from dashboard.operations.publish import begin_publish
from tests.support.clock import Clock
from tests.support.release_service import PublishingAudiences

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("late_s", "outcome"), [(0, Outcome.ACCEPTED), (1, Outcome.NOT_SENT)])
def test_what_was_recorded_too_long_ago_is_not_sent(
    service: PublishingAudiences,
    paula: User,
    clock: Clock,
    late_s: int,
    outcome: Outcome,
) -> None:
    [(page_id, audience_id)] = service.add()
    target = PublishTarget(page_id, audience_id, f"ver_{audience_id}_2")
    operation, attempt = begin_publish(
        target, operation_key="key", version=None, live=None, audience_name="", actor=paula
    )
    assert attempt
    clock.advance(MAX_DELAY.total_seconds() + late_s)
    operation = send(operation, attempt).operation
    assert operation.outcome == outcome
    assert len(service.sent) == (not late_s)
    last = operation.attempts.last()
    assert last
    assert (last.message == TOO_LATE) == bool(late_s)
