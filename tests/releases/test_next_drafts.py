"""What follows a release: a rollback of what went live, a retry of what failed; one of each."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeAlias

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection

from dashboard.releases import decisions, next_drafts
from dashboard.releases.checking import check_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from tests.releases.conftest import Draft, held
from tests.support.many_audiences import ManyAudiences

MakeDraft: TypeAlias = Callable[[Release, User], tuple[Release, next_drafts.LeftOut]]


def finished(release: Release) -> Release:
    Release.objects.filter(pk=release.pk).update(state=ReleaseState.FINISHED)
    release.items.filter(state=ItemState.WAITING).update(state=ItemState.LIVE)
    release.refresh_from_db()
    return release


def half_live(draft: Draft, service: ManyAudiences) -> Release:
    """Make a finished release of two versions, of which one is live and the other has failed."""
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
    found = rollback.items.values_list("audience_id", "version_number", "live_version_number")
    assert list(found) == [("aud_1", 1, 2)]
    assert rollback.rolls_back == release
    assert rollback.name == f"Roll back: {release.name}"
    assert [(item.audience_id, reason) for item, reason in left_out] == [
        ("aud_2", "First publish. The API can’t unpublish."),
        ("aud_3", "It failed, so nothing changed."),
        ("aud_4", "Left out until its outcome is known."),
        ("aud_5", "Version 9 has gone live since."),
        ("aud_6", "Version 1 is live again."),
    ]


def test_a_rollback_is_checked_like_any_release(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    (key,) = service.add(1)
    release = finished(draft(keys=[key]))
    live = service.live(key, 2)
    service.change(key, publishedVersion=live, latestVersion=live)
    service.record()
    rollback, left_out = next_drafts.roll_back(release, paula)
    assert left_out == []
    check_release(rollback)
    item = rollback.items.get()
    assert item.findings[0]["headline"] == "Version 2 is newer."
    assert (item.version_number, item.live_version_number) == (1, 2)


def test_a_release_that_runs_is_not_rolled_back(draft: Draft, paula: User) -> None:
    release = draft(1)
    decisions.publish(release, paula, "", board_digest(release))
    stale = held(Release.objects.get(pk=release.pk))
    Release.objects.update(state=ReleaseState.RUNNING)
    with pytest.raises(ReleaseError, match="still being published"):
        next_drafts.roll_back(stale, paula)
    assert Release.objects.count() == 1


def test_a_release_without_anything_to_take_back_is_not_rolled_back(
    draft: Draft, paula: User
) -> None:
    release = held(draft(1), aud_1=ItemState.FAILED)
    with pytest.raises(ReleaseError, match="No version of this release can be rolled back"):
        next_drafts.roll_back(release, paula)
    with pytest.raises(ReleaseError, match="nothing can be rolled back"):
        next_drafts.roll_back(draft(1), paula)


def test_a_retry_has_what_failed_and_names_what_it_leaves_out(
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
    found = retry.items.values_list("audience_id", "version_number", "live_version_number")
    assert list(found) == [("aud_2", 2, 1)]
    assert (retry.name, retry.rolls_back) == (f"Retry: {release.name}", None)
    assert [(item.audience_id, reason) for item, reason in left_out] == [
        ("aud_3", "Its outcome is unknown. Check it first."),
        ("aud_4", "Version 2 is live."),
        ("aud_5", "Version 9 has gone live since."),
    ]


def test_a_retry_of_a_rollback_rolls_back_the_same_release(
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
def test_a_second_press_shows_the_release_of_the_first_until_that_has_ended(
    draft: Draft, service: ManyAudiences, paula: User, make: MakeDraft, state: str
) -> None:
    release = half_live(draft, service)
    first, left_out = make(release, paula)
    Release.objects.filter(pk=first.pk).update(state=state)
    assert make(release, paula) == (first, left_out)
    Release.objects.filter(pk=first.pk).update(state=ReleaseState.CANCELED)
    assert make(release, paula)[0] != first


def test_a_retry_of_a_rollback_is_not_a_rollback_of_its_own(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    release = half_live(draft, service)
    rollback, _ = next_drafts.roll_back(release, paula)
    rollback.items.update(state=ItemState.FAILED)
    retry, _ = next_drafts.retry_failed(finished(rollback), paula)
    assert next_drafts.roll_back(release, paula)[0] not in (rollback, retry)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("make", [next_drafts.roll_back, next_drafts.retry_failed])
def test_of_eight_presses_at_the_same_moment_one_makes_a_draft(
    draft: Draft, service: ManyAudiences, paula: User, make: MakeDraft
) -> None:
    release, start = half_live(draft, service), Barrier(8)
    opened = [Release.objects.get(pk=release.pk) for _ in range(8)]

    def press(number: int) -> int | None:
        start.wait(60)
        try:
            return make(opened[number], paula)[0].pk
        except OperationalError:
            # A second writer of SQLite in memory is refused at once.
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(press, range(8))) - {None}
    assert len(found) == 1
    assert Release.objects.count() == 2


def test_what_has_not_finished_or_not_failed_is_not_retried(draft: Draft, paula: User) -> None:
    release = held(draft(1), aud_1=ItemState.FAILED)
    with pytest.raises(ReleaseError, match="This release is held"):
        next_drafts.retry_failed(release, paula)
    with pytest.raises(ReleaseError, match="No version of this release can be retried"):
        next_drafts.retry_failed(finished(draft(1)), paula)
