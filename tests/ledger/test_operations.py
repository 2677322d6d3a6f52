"""An operation is recorded before it is sent, sent once, and settled once, on evidence."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from dashboard.ledger.models import Attempt, Installation, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import (
    OPEN,
    AttemptResult,
    OperationKeyConflictError,
    Target,
    begin,
    begin_retry,
    combined_outcome,
    end,
    mark_interrupted_unknown,
    publish_key,
    settle,
)

pytestmark = pytest.mark.django_db

INTENT = ("page_1", "aud_1", "ver_2")
SETTLED = [outcome for outcome in Outcome if outcome not in OPEN]
LIMIT = timedelta(seconds=60)


def begin_publish(actor: User, key: str | None = None) -> tuple[Operation, Attempt | None]:
    page_id, audience_id, version_id = INTENT
    return begin(
        operation_key=key or publish_key(*INTENT),
        kind=OperationKind.PUBLISH_VERSION,
        actor=actor,
        target=Target(page_id=page_id, audience_id=audience_id, version_id=version_id),
        body={},
    )


def begin_attempt(actor: User) -> tuple[Operation, Attempt]:
    operation, attempt = begin_publish(actor)
    assert attempt is not None
    return operation, attempt


def begin_second_attempt(operation: Operation, actor: User) -> Attempt:
    attempt = begin_retry(operation, actor=actor)
    assert attempt is not None
    return attempt


def backdate(*attempts: Attempt) -> None:
    numbers = [attempt.pk for attempt in attempts]
    Attempt.objects.filter(pk__in=numbers).update(sent_at=timezone.now() - 2 * LIMIT)


def current_outcome(operation: Operation) -> str:
    operation.refresh_from_db()
    return operation.outcome


def test_a_repeated_request_with_its_key_is_not_begun(paula: User) -> None:
    first, _ = begin_attempt(paula)
    assert begin_publish(paula, first.operation_key) == (first, None)


@pytest.mark.parametrize(
    "differs",
    [
        {"kind": OperationKind.UPDATE_SUBSCRIPTION},
        {"target": Target(page_id="page_1", audience_id="aud_1", version_id="ver_3")},
        {"target": Target(subscription_id="whs_1")},
        {"body": {"active": True}},
    ],
)
def test_a_key_on_record_for_another_request_begins_nothing(
    differs: dict[str, Any], paula: User
) -> None:
    first, _ = begin_attempt(paula)
    page_id, audience_id, version_id = INTENT
    arguments: dict[str, Any] = {
        "kind": OperationKind.PUBLISH_VERSION,
        "target": Target(page_id=page_id, audience_id=audience_id, version_id=version_id),
        "body": {},
    }
    with pytest.raises(OperationKeyConflictError) as conflict:
        begin(operation_key=first.operation_key, actor=paula, **arguments | differs)
    assert conflict.value.operation == first
    assert Attempt.objects.count() == 1


def test_the_same_request_gets_the_same_key() -> None:
    assert publish_key(*INTENT) == publish_key(*INTENT)


def test_similar_ids_have_separate_keys() -> None:
    assert publish_key("page_1", "a", "bc") != publish_key("page_1", "ab", "c")


def test_another_installation_has_other_keys() -> None:
    before = publish_key(*INTENT)
    Installation.objects.update(nonce="another")
    assert publish_key(*INTENT) != before


def test_a_key_has_a_length_the_service_accepts() -> None:
    assert 1 <= len(publish_key("p" * 5_000, "a", "v")) <= 128


@pytest.mark.parametrize("outcome", SETTLED)
def test_a_settled_operation_gets_a_new_key(outcome: Outcome, paula: User) -> None:
    before = publish_key(*INTENT)
    end(begin_attempt(paula)[1], AttemptResult(outcome))
    assert publish_key(*INTENT) != before


@pytest.mark.parametrize("outcome", OPEN)
def test_what_is_open_keeps_its_key(outcome: Outcome, paula: User) -> None:
    before = publish_key(*INTENT)
    end(begin_attempt(paula)[1], AttemptResult(outcome))
    assert publish_key(*INTENT) == before


def test_a_recorded_key_is_not_sent_by_others(paula: User, ada: User) -> None:
    operation, _ = begin_publish(paula)
    same, attempt = begin_publish(ada, operation.operation_key)
    assert (same.pk, attempt, same.actor_name) == (operation.pk, None, "paula")


@pytest.mark.parametrize("outcome", SETTLED)
def test_only_what_is_unknown_is_sent_again(outcome: Outcome, paula: User) -> None:
    operation, attempt = begin_attempt(paula)
    assert begin_retry(operation, actor=paula) is None, "it is under way"
    end(attempt, AttemptResult(Outcome.UNKNOWN))
    end(begin_second_attempt(operation, paula), AttemptResult(outcome))
    settle(operation, Outcome.ACCEPTED, detail="")
    assert begin_retry(operation, actor=paula) is None


def test_of_two_who_send_again_one_does(paula: User, ada: User) -> None:
    operation, attempt = begin_attempt(paula)
    end(attempt, AttemptResult(Outcome.UNKNOWN))
    assert [begin_retry(operation, actor=who) is None for who in (paula, ada)] == [False, True]


@pytest.mark.parametrize("outcome", [Outcome.REJECTED, Outcome.NOT_SENT])
def test_a_refused_repeat_does_not_settle_the_first(outcome: Outcome, paula: User) -> None:
    operation, attempt = begin_attempt(paula)
    end(attempt, AttemptResult(Outcome.UNKNOWN))
    end(begin_second_attempt(operation, paula), AttemptResult(outcome, "Refused."))
    assert current_outcome(operation) == Outcome.UNKNOWN


def test_a_late_response_counts(paula: User) -> None:
    operation, attempt = begin_attempt(paula)
    backdate(attempt)
    mark_interrupted_unknown()
    assert current_outcome(operation) == Outcome.UNKNOWN
    end(attempt, AttemptResult(Outcome.ACCEPTED))
    assert current_outcome(operation) == Outcome.ACCEPTED


def test_a_late_refusal_waits_for_the_repeat(paula: User) -> None:
    operation, attempt = begin_attempt(paula)
    backdate(attempt)
    mark_interrupted_unknown()
    repeat = begin_second_attempt(operation, paula)
    end(attempt, AttemptResult(Outcome.REJECTED))
    assert current_outcome(operation) == Outcome.SENDING
    end(repeat, AttemptResult(Outcome.REJECTED))
    assert current_outcome(operation) == Outcome.REJECTED


def test_what_was_just_sent_is_not_given_up(paula: User) -> None:
    operation, _ = begin_attempt(paula)
    assert mark_interrupted_unknown() == 0
    assert current_outcome(operation) == Outcome.SENDING


def test_a_repeat_in_progress_survives_the_first(paula: User) -> None:
    operation, attempt = begin_attempt(paula)
    end(attempt, AttemptResult(Outcome.UNKNOWN))
    begin_second_attempt(operation, paula)
    backdate(attempt)
    assert mark_interrupted_unknown() == 0
    assert current_outcome(operation) == Outcome.SENDING


def test_a_check_rejects_no_retry_that_began_since(paula: User) -> None:
    operation, attempt = begin_attempt(paula)
    end(attempt, AttemptResult(Outcome.UNKNOWN))
    checked = Operation.objects.get()
    retry = begin_second_attempt(operation, paula)
    assert settle(checked, Outcome.REJECTED, detail="Draft.").outcome == Outcome.SENDING
    assert end(retry, AttemptResult(Outcome.ACCEPTED)).outcome == Outcome.ACCEPTED


def test_what_is_settled_stays_so(paula: User) -> None:
    operation, attempt = begin_attempt(paula)
    end(attempt, AttemptResult(Outcome.ACCEPTED))
    settle(operation, Outcome.REJECTED, detail="Looked again.")
    end(attempt, AttemptResult(Outcome.REJECTED))
    assert current_outcome(operation) == Outcome.ACCEPTED
    assert operation.check_result == "Looked again."


def test_a_look_that_tells_nothing_leaves_the_outcome(paula: User) -> None:
    operation, attempt = begin_attempt(paula)
    end(attempt, AttemptResult(Outcome.UNKNOWN))
    settled = settle(operation, Outcome.UNKNOWN, detail="Still draft.")
    assert (settled.outcome, settled.settled_at, settled.check_result) == (
        Outcome.UNKNOWN,
        None,
        "Still draft.",
    )


@given(st.lists(st.sampled_from(list(Outcome)), min_size=1))
def test_no_lost_attempt_is_called_failed(attempts: list[Outcome]) -> None:
    outcome = combined_outcome(attempts)
    assert outcome in attempts
    if Outcome.UNKNOWN in attempts:
        assert outcome not in (Outcome.REJECTED, Outcome.NOT_SENT)
    if Outcome.ACCEPTED in attempts:
        assert outcome is Outcome.ACCEPTED


def test_the_longest_name_of_a_person_is_recorded() -> None:
    """First and last name together may exceed the column, which PostgreSQL would reject."""
    actor = User.objects.create_user("longest", first_name="Ä" * 150, last_name="Z" * 150)
    operation, attempt = begin_attempt(actor)
    assert operation.actor_name == attempt.actor_name == f"{'Ä' * 150} {'Z' * 49}"
