"""What other pages show about releases, and what a large release costs."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind
from dashboard.releases import decisions
from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.planning import planned_publishes, releases_of_operations
from dashboard.releases.reviewing import blocked, board_digest, can_roll_back, light_items, risks
from tests.releases.conftest import Draft
from tests.support.many_audiences import ManyAudiences
from tests.support.queries import queries_of


def decided(release: Release, state: ReleaseState, **differs: Any) -> Release:
    Release.objects.filter(pk=release.pk).update(state=state, **differs)
    release.refresh_from_db()
    return release


def test_planned_versions_are_listed_next_first(draft: Draft, service: ManyAudiences) -> None:
    keys = service.add(2)
    now = timezone.now()
    later = decided(draft(keys=keys), ReleaseState.SCHEDULED, due_at=now + timedelta(days=2))
    soon = decided(draft(keys=keys[:1]), ReleaseState.SCHEDULED, due_at=now + timedelta(days=1))
    publishes = planned_publishes(["page_1", "page_2"])
    assert [row.release_id for row in publishes[keys[0]]] == [soon.pk, later.pk]
    (row,) = publishes[keys[1]]
    assert (row.release_name, row.version_number, row.due_at) == (later.name, 2, later.due_at)


@pytest.mark.parametrize(
    ("state", "is_planned"),
    [(state, state not in {"draft", "finished", "canceled"}) for state in ReleaseState],
)
def test_only_what_was_decided_is_planned(
    draft: Draft, state: ReleaseState, is_planned: bool
) -> None:
    decided(draft(1), state)
    assert bool(planned_publishes(["page_1"])) is is_planned


def test_what_was_sent_is_not_planned(draft: Draft) -> None:
    release = decided(draft(2), ReleaseState.RUNNING)
    release.items.filter(audience_id="aud_1").update(state=ItemState.LIVE)
    assert list(planned_publishes(["page_1"])) == [("page_1", "aud_2")]


def test_the_release_of_an_operation_is_found(draft: Draft, paula: User) -> None:
    release = draft(2)
    sent, other = (
        Operation.objects.create(
            operation_key=key, kind=OperationKind.PUBLISH_VERSION, requested_at=timezone.now()
        )
        for key in ("key_1", "key_2")
    )
    release.items.filter(audience_id="aud_2").update(operation=sent)
    (row,) = releases_of_operations([sent.pk, other.pk]).values()
    assert (row.release_id, row.release_name, row.position) == (release.pk, release.name, 2)


def count_queries(act: Callable[[], object]) -> int:
    return len(queries_of(act))


def read_board(release: Release) -> None:
    items = list(light_items(release))
    board_digest(release, items)
    for item in items:
        blocked(item), risks(item), can_roll_back(item)


def test_a_board_is_one_query_at_any_length(draft: Draft) -> None:
    few, many = draft(4), draft(40)
    assert count_queries(lambda: read_board(few)) == count_queries(lambda: read_board(many)) == 1


def test_a_release_decision_makes_constant_queries(service: ManyAudiences, paula: User) -> None:
    def make_and_publish(count: int) -> int:
        keys = service.add(count)

        def act() -> None:
            create_release(name="", note="", audiences=keys, user=paula)

        created = count_queries(act)
        release = Release.objects.latest("pk")
        check_release(release)
        entered, digest = str(count), board_digest(release)
        return created + count_queries(lambda: decisions.publish(release, paula, entered, digest))

    # SQLite inserts some 40 rows at a time.
    assert make_and_publish(4) == make_and_publish(30)


def test_a_check_makes_constant_queries_for_any_length(
    draft: Draft, service: ManyAudiences
) -> None:
    def reads_of(release: Release) -> int:
        return sum(sql.startswith("SELECT") for sql in queries_of(lambda: check_release(release)))

    few, many = draft(4), draft(40)
    assert reads_of(few) == reads_of(many)
