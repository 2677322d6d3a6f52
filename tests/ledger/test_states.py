"""One vocabulary: the states of versions and operations, and their words on every screen."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dashboard.contract.audiences import VersionStatus
from dashboard.ledger.models import Operation, Publication, VersionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.queries.operations import find_operations, with_publications
from dashboard.ledger.states import (
    OperationState,
    VersionState,
    operation_state,
    time_to_live,
    version_state,
)


def test_each_state_has_a_word_of_its_own() -> None:
    for states in (VersionState, OperationState):
        labels = [state.label for state in states]
        assert len(labels) == len(set(labels))


def test_a_live_version_is_live_with_any_status() -> None:
    assert {version_state(status, is_live=True) for status in VersionStatus} == {VersionState.LIVE}


@pytest.mark.parametrize("status", ["published", "archived"])
def test_a_version_that_was_live_is_superseded(status: str) -> None:
    assert version_state(status, is_live=False, was_live=True) == VersionState.SUPERSEDED


def test_a_version_archived_before_it_was_live_is_archived() -> None:
    assert version_state("archived", is_live=False) == VersionState.ARCHIVED


def test_a_version_is_rolled_back_by_an_older_one() -> None:
    state = version_state("archived", is_live=False, was_live=True, is_rolled_back=True)
    assert state == VersionState.ROLLED_BACK


def test_a_version_published_again_is_in_progress() -> None:
    assert version_state("queued", is_live=False, was_live=True) == VersionState.QUEUED


def test_an_unknown_status_has_its_own_name() -> None:
    assert version_state("rehearsing", is_live=False) == "rehearsing"


def test_each_outcome_is_a_state() -> None:
    assert {*Outcome} <= {*OperationState}
    labels = {str(state): state.label for state in OperationState}
    assert [labels[outcome] for outcome in Outcome] == [outcome.label for outcome in Outcome]


REQUESTED_AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
IDS = {"page_id": "page_1", "audience_id": "aud_1"}


def publish(number: int, outcome: Outcome = Outcome.ACCEPTED) -> Operation:
    return Operation.objects.create(
        operation_key=f"key-{number}",
        kind=OperationKind.PUBLISH_VERSION,
        outcome=outcome,
        version_id=f"ver_{number}",
        version_number=number,
        requested_at=REQUESTED_AT,
        **IDS,
    )


def live(number: int, minute: int, until: int | None, operation: Operation | None = None) -> None:
    Publication.objects.create(
        version_id=f"ver_{number}",
        version_number=number,
        started_at=REQUESTED_AT + timedelta(minutes=minute),
        seen_at=REQUESTED_AT + timedelta(minutes=minute),
        ended_at=None if until is None else REQUESTED_AT + timedelta(minutes=until),
        reason=PublicationReason.PUBLISH,
        operation=operation,
        **IDS,
    )


def canceled(number: int) -> None:
    VersionRecord.objects.create(
        version_id=f"ver_{number}",
        version_number=number,
        status="cancelled",
        body="{}",
        first_seen_at=REQUESTED_AT,
        last_seen_at=REQUESTED_AT,
        **IDS,
    )


def reload(operation: Operation) -> Operation:
    return with_publications(Operation.objects.filter(pk=operation.pk)).get()


def state_of(operation: Operation) -> str:
    return operation_state(reload(operation))


@pytest.mark.django_db
def test_an_accepted_publish_is_not_live_yet() -> None:
    operation = publish(2)
    live(1, -60, until=None)
    assert state_of(operation) == OperationState.NOT_LIVE_YET
    assert OperationState.NOT_LIVE_YET.tone != "ok"
    assert time_to_live(reload(operation)) is None


@pytest.mark.django_db
def test_a_publish_is_live_while_its_version_is() -> None:
    operation = publish(2)
    live(1, -60, until=2)
    live(2, 2, until=None, operation=operation)
    assert state_of(operation) == OperationState.LIVE
    assert time_to_live(reload(operation)) == timedelta(minutes=2)


@pytest.mark.django_db
def test_a_publish_has_the_later_state_of_its_version() -> None:
    earlier, later = publish(1), publish(2)
    live(1, 1, until=2, operation=earlier)
    live(2, 2, until=3, operation=later)
    live(3, 3, until=None)
    assert [state_of(earlier), state_of(later)] == [VersionState.SUPERSEDED] * 2


@pytest.mark.django_db
def test_a_publish_is_rolled_back_with_its_version() -> None:
    operation = publish(2)
    live(1, 1, until=2)
    live(2, 2, until=3, operation=operation)
    live(1, 3, until=None)
    assert state_of(operation) == VersionState.ROLLED_BACK


@pytest.mark.django_db
def test_a_never_live_older_version_takes_nothing_back() -> None:
    operation = publish(2)
    live(2, 2, until=3, operation=operation)
    live(1, 3, until=None)
    assert state_of(operation) == VersionState.SUPERSEDED


@pytest.mark.django_db
def test_a_publish_whose_version_was_canceled_is_canceled() -> None:
    operation = publish(2)
    canceled(2)
    assert state_of(operation) == VersionState.CANCELED


@pytest.mark.django_db
@pytest.mark.parametrize("outcome", [Outcome.SENDING, Outcome.REJECTED, Outcome.UNKNOWN])
def test_a_publish_that_was_not_accepted_has_its_outcome(outcome: Outcome) -> None:
    operation = publish(2, outcome)
    live(2, 2, until=None)
    assert state_of(operation) == outcome


@pytest.mark.django_db
def test_publishes_are_filtered_by_going_live() -> None:
    canceled(1)
    publish(1)
    is_live, was_live, waits = publish(2), publish(3), publish(4)
    publish(5, Outcome.UNKNOWN)
    publish(6, Outcome.REJECTED)
    live(4, -60, until=-30)
    live(5, -30, until=1)
    live(3, 1, until=2)
    live(2, 2, until=None)
    assert {*find_operations(outcome=OperationState.LIVE)} == {is_live, was_live}
    assert {*find_operations(outcome=OperationState.NOT_LIVE_YET)} == {waits}
    assert find_operations(outcome=OperationState.ACCEPTED).count() == 4


@pytest.mark.django_db
def test_the_states_of_operations_take_one_query(django_assert_num_queries: Any) -> None:
    live(1, 1, until=None, operation=publish(1))
    publish(2)
    with django_assert_num_queries(1):
        states = [
            operation_state(publication)
            for publication in with_publications(Operation.objects.all())
        ]
    assert states == [OperationState.NOT_LIVE_YET, OperationState.LIVE]
