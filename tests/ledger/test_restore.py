"""A restored ledger lacks publishes whose keys the service still has."""

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end, publish_key

pytestmark = pytest.mark.django_db

INTENT = ("page_1", "aud_1", "ver_2")


def publish(actor: User, outcome: Outcome) -> str:
    key = publish_key(*INTENT)
    target = Target(*INTENT)
    _, attempt = begin(
        operation_key=key, kind=OperationKind.PUBLISH_VERSION, actor=actor, target=target, body={}
    )
    assert attempt
    end(attempt, AttemptResult(outcome))
    return key


def test_a_key_missing_from_the_backup_is_not_reused(paula: User) -> None:
    forgotten = publish(paula, Outcome.ACCEPTED)
    Operation.objects.all().delete()
    assert publish_key(*INTENT) == forgotten
    call_command("after_restore", verbosity=0)
    assert publish_key(*INTENT) != forgotten


def test_an_unknown_outcome_keeps_its_key_over_a_restore(paula: User) -> None:
    key = publish(paula, Outcome.UNKNOWN)
    call_command("after_restore", verbosity=0)
    assert publish_key(*INTENT) == key
