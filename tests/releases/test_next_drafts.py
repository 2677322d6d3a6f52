"""What follows a release: one rollback of what went live, and one retry of what failed."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from django.contrib.auth.models import User

from dashboard.ledger.models import Operation
from dashboard.releases import decisions, next_drafts
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from tests.releases.conftest import Draft, held
from tests.support.at_once import at_once
from tests.support.clock import Clock
from tests.support.many_audiences import ManyAudiences
from tests.support.release_service import PublishingAudiences, checked_release, decide, states, work

MakeDraft: TypeAlias = Callable[[Release, User], tuple[Release, next_drafts.LeftOut]]


def finished(release: Release) -> Release:
    Release.objects.filter(pk=release.pk).update(state=ReleaseState.FINISHED)
    release.items.filter(state=ItemState.WAITING).update(state=ItemState.LIVE)
    release.refresh_from_db()
    return release


def half_live(draft: Draft, service: ManyAudiences) -> Release:
    """Make a finished release of two versions: one is live, the other failed."""
    live, failed = service.add(2)
    release = draft(keys=[live, failed])
    release.items.filter(audience_id=failed[1]).update(state=ItemState.FAILED)
    service.change(live, publishedVersion=service.live(live, 2))
    service.record()
    return finished(release)


def test_rolling_back_names_what_it_leaves_out(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    keys = service.add(6)
    service.change(keys[1], publishedVersion=None)
    release = draft(keys=keys)
    for key, state in zip(keys[2:4], (ItemState.FAILED, ItemState.UNKNOWN), strict=True):
        release.items.filter(audience_id=key[1]).update(state=state)
    finished(release)
    for key in keys[:2]:
        service.change(key, publishedVersion=service.live(key, 2))
    service.change(keys[4], publishedVersion=service.live(keys[4], 9))
    service.record()
    rollback, left_out = next_drafts.roll_back(release, paula)
    rows = rollback.items.values_list("audience_id", "version_number", "live_version_number")
    assert list(rows) == [("aud_1", 1, 2)]
    assert rollback.rolls_back == release
    assert rollback.name == f"Roll back: {release.name}"
    assert [(item.audience_id, reason) for item, reason in left_out] == [
        ("aud_2", "First publish. The API can’t unpublish."),
        ("aud_3", "It failed, so nothing changed."),
        ("aud_4", "Left out until its outcome is known."),
        ("aud_5", "Version 9 has gone live since."),
        ("aud_6", "Version 1 is live again."),
    ]


def rolled_back(service: PublishingAudiences, user: User, clock: Clock, count: int) -> Release:
    """Publish a release of `count` audiences, and start its rollback."""
    release = checked_release(service.add(count), user)
    decide(release, user)
    work(release, clock, minutes=1)
    rollback, _ = next_drafts.roll_back(release, user, note="Wrong price")
    return rollback


def test_a_rollback_runs_without_a_review(
    service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    rollback = rolled_back(service, paula, clock, 2)
    assert (rollback.state, rollback.publishes_others) == (ReleaseState.RUNNING, True)
    work(rollback, clock, minutes=1)
    assert states(rollback) == [ItemState.LIVE] * 2
    assert all(item.digest for item in rollback.items.all())
    last = Operation.objects.latest("requested_at")
    assert (last.title, last.note) == ("Roll back to version 1", "Wrong price")


def test_a_rollback_holds_changed_items_and_sends_others(
    service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    rollback = rolled_back(service, paula, clock, 3)
    first, second, _ = service.audiences
    newer = service.live(first, 3)
    service.change(first, publishedVersion=newer, latestVersion=newer)
    service.change(second, archivedAt="2026-03-01T00:00:00Z")
    work(rollback, clock, minutes=1)
    assert states(rollback) == [ItemState.HELD, ItemState.LIVE, ItemState.LIVE]
    assert rollback.state == ReleaseState.FINISHED
    held_item, archived, _ = rollback.items.all()
    assert "Version 3 went live after the review" in held_item.reason
    assert archived.findings[0]["headline"] == "This audience is archived."


def test_a_release_that_runs_is_not_rolled_back(draft: Draft, paula: User) -> None:
    release = draft(1)
    decisions.publish(release, paula, "", board_digest(release))
    stale = held(Release.objects.get(pk=release.pk))
    Release.objects.update(state=ReleaseState.RUNNING)
    with pytest.raises(ReleaseError, match="still being published"):
        next_drafts.roll_back(stale, paula)
    assert Release.objects.count() == 1


def test_a_release_with_nothing_live_is_not_rolled_back(draft: Draft, paula: User) -> None:
    release = held(draft(1), aud_1=ItemState.FAILED)
    with pytest.raises(ReleaseError, match="No version of this release can be rolled back"):
        next_drafts.roll_back(release, paula)
    with pytest.raises(ReleaseError, match="nothing can be rolled back"):
        next_drafts.roll_back(draft(1), paula)


def test_a_retry_names_what_it_leaves_out(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    keys = service.add(5)
    release = draft(keys=keys)
    release.items.exclude(audience_id="aud_1").update(state=ItemState.FAILED)
    release.items.filter(audience_id="aud_3").update(state=ItemState.UNKNOWN)
    finished(release)
    service.change(keys[3], publishedVersion=service.live(keys[3], 2))
    service.change(keys[4], publishedVersion=service.live(keys[4], 9))
    service.record()
    retry, left_out = next_drafts.retry_failed(release, paula)
    rows = retry.items.values_list("audience_id", "version_number", "live_version_number")
    assert list(rows) == [("aud_2", 2, 1)]
    assert (retry.name, retry.rolls_back) == (f"Retry: {release.name}", None)
    assert [(item.audience_id, reason) for item, reason in left_out] == [
        ("aud_3", "Its outcome is unknown. Check it first."),
        ("aud_4", "Version 2 is live."),
        ("aud_5", "Version 9 has gone live since."),
    ]


def test_a_retried_rollback_belongs_to_the_same_release(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    (key,) = service.add(1)
    release = finished(draft(keys=[key]))
    service.change(key, publishedVersion=service.live(key, 2))
    service.record()
    rollback, _ = next_drafts.roll_back(release, paula)
    rollback.items.update(state=ItemState.FAILED)
    retry, _ = next_drafts.retry_failed(finished(rollback), paula)
    assert retry.rolls_back == release


@pytest.mark.parametrize("state", [ReleaseState.DRAFT, ReleaseState.SCHEDULED, ReleaseState.HELD])
@pytest.mark.parametrize("make", [next_drafts.roll_back, next_drafts.retry_failed])
def test_a_second_press_opens_the_running_release(
    draft: Draft, service: ManyAudiences, paula: User, make: MakeDraft, state: str
) -> None:
    release = half_live(draft, service)
    first, left_out = make(release, paula)
    Release.objects.filter(pk=first.pk).update(state=state)
    assert make(release, paula) == (first, left_out)
    Release.objects.filter(pk=first.pk).update(state=ReleaseState.CANCELED)
    assert make(release, paula)[0] != first


def test_a_retry_of_a_rollback_is_not_another_rollback(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    release = half_live(draft, service)
    rollback, _ = next_drafts.roll_back(release, paula)
    rollback.items.update(state=ItemState.FAILED)
    retry, _ = next_drafts.retry_failed(finished(rollback), paula)
    assert next_drafts.roll_back(release, paula)[0] not in (rollback, retry)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("make", [next_drafts.roll_back, next_drafts.retry_failed])
def test_eight_concurrent_presses_make_one_draft(
    draft: Draft, service: ManyAudiences, paula: User, make: MakeDraft
) -> None:
    release = half_live(draft, service)
    opened = [Release.objects.get(pk=release.pk) for _ in range(8)]

    drafts = at_once(8, lambda number: make(opened[number], paula)[0].pk)
    assert len(set(drafts)) == 1
    assert Release.objects.count() == 2


def test_only_finished_failures_are_retried(draft: Draft, paula: User) -> None:
    release = held(draft(1), aud_1=ItemState.FAILED)
    with pytest.raises(ReleaseError, match="This release is held"):
        next_drafts.retry_failed(release, paula)
    with pytest.raises(ReleaseError, match="No version of this release can be retried"):
        next_drafts.retry_failed(finished(draft(1)), paula)
