"""Recipients that are deleted at the moment of the event that concerns them."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import AttemptResult
from dashboard.notifications.kinds import KINDS
from dashboard.notifications.models import (
    Delivery,
    DeliveryItem,
    DeliveryState,
    Event,
    Notification,
    WebhookTarget,
)
from dashboard.notifications.outbox import record_result
from dashboard.notifications.preferences import follow
from dashboard.notifications.recipients import notify_pending
from dashboard.notifications.targets import delete_target
from dashboard.work.claims import claim_next
from dashboard.work.deliveries import DeliveryResult
from tests.support.clock import Clock
from tests.support.interleaving import PATIENCE_S, before_commit, before_statement, begun, held_at
from tests.support.operations import operation
from tests.support.seeding import seed_delivery, seed_target

pytestmark = [
    pytest.mark.skipif(
        connection.vendor != "postgresql",
        reason="SQLite has one writer: nothing is deleted between a statement and its commit",
    ),
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]


@pytest.fixture
def _recipients(vera: User) -> None:
    """Vera, who follows the page, and a team webhook."""
    follow(vera, "page_1")
    seed_target(kinds=list(KINDS))


def fail_publish(user: User) -> None:
    """Record a publish that the service rejects."""
    operation(user, "pr-1", ending=AttemptResult(Outcome.REJECTED))


def delete_recipients(vera: User) -> None:
    WebhookTarget.objects.all().delete()
    vera.delete()


@pytest.mark.usefixtures("_recipients")
def test_no_deleted_recipient_undoes_an_outcome(paula: User, vera: User) -> None:
    with held_at(before_commit(nth=2), fail_publish, paula):
        delete_recipients(vera)
    assert Operation.objects.get().outcome == Outcome.REJECTED
    notify_pending("worker-1")
    assert Notification.objects.get().user == paula


def test_a_webhook_is_deleted_while_an_attempt_is_recorded() -> None:
    now = timezone.now()
    target = seed_target()
    seed_delivery(state=DeliveryState.WAITING, wake_at=now, target=target)
    claim = claim_next(Delivery.objects.all(), "worker-1", now)
    assert claim
    with held_at(before_commit(), record_result, claim, DeliveryResult()):
        deleted = begun(before_statement("FOR UPDATE"), delete_target, target)
    deleted.result(PATIENCE_S)
    assert not Delivery.objects.exists()


@pytest.mark.usefixtures("_recipients")
def test_a_recipient_deleted_meanwhile_delays_the_others_by_seconds(
    paula: User, vera: User, clock: Clock
) -> None:
    fail_publish(paula)
    with held_at(before_statement('INSERT INTO "notifications_n'), notify_pending, "worker-1"):
        delete_recipients(vera)
    assert not Notification.objects.exists()
    clock.advance(5)
    notify_pending("worker-1")
    assert Notification.objects.get().user == paula
    assert not DeliveryItem.objects.exists()
    assert Event.objects.get().wake_at is None
