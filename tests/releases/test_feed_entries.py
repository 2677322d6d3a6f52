"""Every change of a release is in the change feed, in the same transaction."""

from collections.abc import Callable

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import transaction

from dashboard.approvals.models import ApprovalRule, RequestState
from dashboard.approvals.requests import end_request
from dashboard.approvals.rule import save_rule
from dashboard.ledger.models import FeedKind
from dashboard.releases import decisions, drafting
from dashboard.releases.errors import ReleaseError
from dashboard.releases.holding import hold_restored
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import board_digest
from dashboard.releases.worker import claim_due, run_pending, take_step
from tests.releases.conftest import Draft, Story, held
from tests.support import wire
from tests.support.feed import added_to_feed, facts
from tests.support.release_service import Way, accepts, fails, responds
from tests.support.seeding import seed_approval, seed_audiences, seed_release

Change = Callable[[Release, User], object]

CHANGES: dict[str, Change] = {
    "publish": lambda release, user: decisions.publish(release, user, "", board_digest(release)),
    "cancel": decisions.cancel,
    "name": lambda release, _: drafting.set_name_and_note(release, "Spring", ""),
    "move": lambda release, _: drafting.move_item(release.items.all()[1], -1),
    "remove": lambda release, _: drafting.remove_item(release.items.all()[0]),
    "check": lambda release, _: drafting.request_check(release),
    "review": lambda release, user: drafting.mark_reviewed(
        (item := release.items.all()[0]), user, reviewed=True, displayed_digest=item.digest
    ),
}


def visible_state(release: Release) -> list[object]:
    """Return what screens show about a release."""
    columns = ("state", "hold_reason", "pause_reason", "needs_check", "finished_at")
    of_items = ("state", "reason", "digest", "operation_key")
    return [
        *Release.objects.filter(pk=release.pk).values_list(*columns),
        *ReleaseItem.objects.filter(release=release.pk).values_list("pk", *of_items),
    ]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_by_a_person_is_added(draft: Draft, paula: User, change: Change) -> None:
    release = draft(2)
    with added_to_feed() as entries:
        change(release, paula)
    assert set(facts(entries)) == {("release", str(release.pk))}


def test_a_new_release_is_added(draft: Draft) -> None:
    with added_to_feed() as entries:
        release = draft(1)
    assert ("release", str(release.pk)) in facts(entries)


def test_a_release_that_is_discarded_is_added(draft: Draft, paula: User) -> None:
    release = draft(1)
    Release.objects.update(is_provisional=True)
    with added_to_feed() as entries:
        drafting.discard(release, paula)
    assert facts(entries) == [("release", str(release.pk))]


def test_a_decision_that_is_refused_adds_nothing(draft: Draft, paula: User) -> None:
    release = draft(2)
    with added_to_feed() as entries, pytest.raises(ReleaseError):
        decisions.publish(release, paula, "", "another digest")
    assert entries == []


def test_a_skipped_item_is_added(draft: Draft, paula: User) -> None:
    release = held(draft(2))
    with added_to_feed() as entries:
        decisions.skip_item(release.items.all()[0], paula)
    assert set(facts(entries)) == {("release", str(release.pk))}


@pytest.mark.django_db
def test_a_restored_release_that_is_held_is_added() -> None:
    release = seed_release(state=ReleaseState.SCHEDULED)
    with added_to_feed() as entries:
        hold_restored()
    assert facts(entries) == [("release", str(release.pk))]


@pytest.mark.django_db
@pytest.mark.parametrize("state", [ItemState.FAILED, ItemState.HELD])
def test_an_item_that_is_live_after_all_is_added(state: ItemState) -> None:
    release = seed_release(state=ReleaseState.FINISHED)
    ReleaseItem.objects.update(state=state)
    live = wire.version(status="published")
    seed_audiences(wire.audience(latestVersion=live, publishedVersion=live))
    with added_to_feed() as entries:
        run_pending("worker")
        run_pending("worker")
    assert facts(entries) == [("release", str(release.pk))]


@pytest.mark.parametrize(
    "way",
    [
        accepts,
        responds(422, "Invalid"),
        responds(429),
        fails(httpx.ReadTimeout, is_carried_out=True),
    ],
    ids=["accepted", "rejected", "asked to wait", "unknown"],
)
def test_each_step_of_a_worker_that_changes_something_is_added(story: Story, way: Way) -> None:
    release = story.publish(2)
    story.service.ways["aud_1"] = way
    steps = 0
    for _ in range(60):
        story.clock.advance(1)
        before = visible_state(release)
        with added_to_feed() as entries:
            if claim := claim_due("worker-1", Release.objects.all):
                take_step(claim)
        is_changed = visible_state(release) != before
        is_added = ("release", str(release.pk)) in facts(entries)
        assert is_changed == is_added
        steps += is_changed
    assert steps > 4


@pytest.mark.django_db
def test_an_approval_is_added_when_it_ends_and_only_once() -> None:
    seed_release()
    approval = seed_approval()
    with added_to_feed() as entries:
        end_request(approval, RequestState.WITHDRAWN, "Paula withdrew it.")
        end_request(approval, RequestState.VOID, "Too late.")
    assert facts(entries) == [("approval", str(approval.pk))]


@pytest.mark.django_db
def test_another_rule_is_added_and_the_same_one_is_not(ada: User) -> None:
    with added_to_feed() as entries:
        for _ in range(2):
            with transaction.atomic():
                save_rule(ApprovalRule(days=9), ada)
    assert [(entry.kind, entry.actor_id) for entry in entries] == [(FeedKind.APPROVAL, ada.pk)]
