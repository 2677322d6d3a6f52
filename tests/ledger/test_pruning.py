"""Pruning deletes old operations, but no open ones, no records of reads and no keys."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db.models import F
from django.utils import timezone

from dashboard.contract.audiences import Audience
from dashboard.ledger.models import Attempt, AudienceRecord, Operation, Publication, VersionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end, publish_key
from dashboard.ledger.pruning import BATCH_SIZE, Prunable, prunable, prune
from dashboard.ledger.recording import record_audiences
from tests.support import wire
from tests.support.seeding import seed_publication

pytestmark = pytest.mark.django_db

INTENT = ("page_1", "aud_1", "ver_2")
LONG_AGO = timedelta(days=100)


def operation(actor: User, kind: OperationKind, outcome: Outcome | None, key: str) -> Operation:
    """Return an operation from a hundred days ago; `outcome` is None if it never ended."""
    operation, attempt = begin(
        operation_key=key, kind=kind, actor=actor, target=Target(*INTENT), body={"key": key}
    )
    assert attempt
    if outcome:
        end(attempt, AttemptResult(outcome, "said", 200, '{"versionId": "ver_2"}'))
    Operation.objects.filter(pk=operation.pk).update(
        requested_at=F("requested_at") - LONG_AGO, settled_at=F("settled_at") - LONG_AGO
    )
    return operation


def test_settled_operations_go_with_their_attempts(paula: User) -> None:
    for outcome in (Outcome.ACCEPTED, Outcome.REJECTED, Outcome.NOT_SENT):
        operation(paula, OperationKind.UPDATE_SUBSCRIPTION, outcome, outcome)
    now = timezone.now()
    assert prune(now - timedelta(days=101)) == Prunable(0, 0)
    assert prune(now - timedelta(days=99)) == Prunable(3, 0)
    assert (Operation.objects.count(), Attempt.objects.count()) == (0, 0)


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, None])
@pytest.mark.parametrize("kind", list(OperationKind))
def test_what_has_no_outcome_stays_as_it_is(
    paula: User, kind: OperationKind, outcome: Outcome | None
) -> None:
    operation(paula, kind, outcome, "k")
    Operation.objects.update(settled_at=timezone.now() - LONG_AGO)
    before = list(Attempt.objects.values())
    assert prune(timezone.now()) == Prunable(0, 0)
    assert list(Attempt.objects.values()) == before


def test_an_unanswered_publish_keeps_its_key(paula: User) -> None:
    keys = []
    for _ in range(3):
        keys.append(publish_key(*INTENT))
        operation(paula, OperationKind.PUBLISH_VERSION, Outcome.ACCEPTED, keys[-1])
    following = publish_key(*INTENT)
    assert prune(timezone.now()) == Prunable(0, 3)
    assert publish_key(*INTENT) == following not in keys
    assert set(Attempt.objects.values_list("actor_name", "response_body")) == {("paula", "")}


def test_what_was_live_stays_with_who_published_it(paula: User) -> None:
    published = operation(paula, OperationKind.PUBLISH_VERSION, Outcome.ACCEPTED, "k")
    seed_publication(operation=published, started_at=timezone.now() - LONG_AGO)
    seed_publication(3)
    prune(timezone.now())
    first = Publication.objects.earliest("started_at")
    assert (Publication.objects.count(), first.operation) == (2, published)


def test_what_was_seen_stays() -> None:
    record_audiences("page_1", [Audience.model_validate(wire.audience())])
    VersionRecord.objects.update(last_seen_at=timezone.now() - LONG_AGO)
    seen = (AudienceRecord.objects.count(), VersionRecord.objects.count())
    prune(timezone.now())
    assert (AudienceRecord.objects.count(), VersionRecord.objects.count()) == seen != (0, 0)


def test_more_than_one_turn_s_worth_goes_whole(paula: User) -> None:
    ago = timezone.now() - LONG_AGO
    Operation.objects.bulk_create(
        Operation(
            operation_key=f"k{number}",
            kind=OperationKind.CREATE_PAGE,
            outcome=Outcome.ACCEPTED,
            requested_at=ago,
            settled_at=ago,
        )
        for number in range(BATCH_SIZE + 1)
    )
    assert prune(timezone.now()).operations == BATCH_SIZE + 1
    assert Operation.objects.count() == 0


def test_a_dry_run_reports_and_removes_nothing(
    paula: User, capsys: pytest.CaptureFixture[str]
) -> None:
    operation(paula, OperationKind.CREATE_PAGE, Outcome.ACCEPTED, "k")
    call_command("prune", "--older-than", "90", "--dry-run")
    output = capsys.readouterr().out
    assert output.startswith("Would delete")
    assert "attempts: 1; " in output
    assert prunable(timezone.now()) == Prunable(1, 0)
    call_command("prune", "--older-than", "90")
    assert capsys.readouterr().out.startswith("Deleted")
    assert Operation.objects.count() == 0


@pytest.mark.parametrize("days", ["29", "0", "-1", "36501", "1000000", "9" * 5_000, "soon"])
def test_an_impossible_duration_is_refused(days: str) -> None:
    with pytest.raises(CommandError, match="--older-than"):
        call_command("prune", "--older-than", days)
