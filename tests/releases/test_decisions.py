"""Decisions on a release apply to what was seen, and only one of two decisions succeeds."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.releases import decisions, drafting
from dashboard.releases.drafting import create_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from dashboard.releases.schedules import ScheduledMoment, parse_moment
from tests.releases.conftest import Draft, held
from tests.support.at_once import at_once
from tests.support.many_audiences import ManyAudiences


def states_of(release: Release) -> list[str]:
    return list(release.items.values_list("state", flat=True))


def test_publishing_hands_the_release_to_a_worker(draft: Draft, paula: User) -> None:
    release = draft(2)
    decisions.publish(release, paula, "", board_digest(release), publishes_others=True)
    release.refresh_from_db()
    assert release.state == ReleaseState.RUNNING
    assert (release.owner, release.owner_name) == (paula, "paula")
    assert release.needs_check
    assert release.publishes_others
    assert release.wake_at == release.started_at == release.active_at


def test_of_two_who_publish_at_once_one_is_refused(draft: Draft, paula: User, ada: User) -> None:
    release = draft(2)
    other, digest = Release.objects.get(pk=release.pk), board_digest(release)
    decisions.publish(release, paula, "", digest)
    with pytest.raises(ReleaseError, match="being published"):
        decisions.publish(other, ada, "", digest)
    release.refresh_from_db()
    assert release.owner == paula


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_of_eight_decisions_at_the_same_moment_one_succeeds(draft: Draft, paula: User) -> None:
    release = draft(2)
    digest = board_digest(release)
    opened = [Release.objects.get(pk=release.pk) for _ in range(8)]

    def decide(number: int) -> bool:
        try:
            if number % 2:
                decisions.cancel(opened[number], paula)
            else:
                decisions.publish(opened[number], paula, "", digest)
        except ReleaseError:
            return False
        return True

    assert sum(at_once(8, decide)) == 1


def test_nothing_is_published_before_the_first_check(service: ManyAudiences, paula: User) -> None:
    release = create_release(name="", note="", audiences=service.add(1), user=paula)
    with pytest.raises(ReleaseError, match="The first check hasn’t finished"):
        decisions.publish(release, paula, "", board_digest(release))


def test_an_emptied_release_is_not_published(draft: Draft, paula: User) -> None:
    release = draft(1)
    drafting.remove_item(release.items.get())
    with pytest.raises(ReleaseError, match="This release is empty"):
        decisions.publish(release, paula, "", board_digest(release))


@pytest.mark.parametrize(("count", "is_typed"), [(25, False), (26, True)])
def test_the_number_is_typed_above_25_versions(
    draft: Draft, paula: User, count: int, is_typed: bool
) -> None:
    release = draft(count)
    if is_typed:
        with pytest.raises(ReleaseError, match=f"then type {count}") as error:
            decisions.publish(release, paula, "25", board_digest(release))
        assert error.value.field == "typed"
    decisions.publish(release, paula, f" {count} " if is_typed else "", board_digest(release))
    assert release.state == ReleaseState.RUNNING


def test_the_number_is_typed_with_any_risk(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    keys = service.add(2)
    service.change(keys[0], archivedAt="2026-03-01T09:00:00Z")
    release = draft(keys=keys)
    with pytest.raises(ReleaseError, match="then type 2"):
        decisions.publish(release, paula, "", board_digest(release))
    decisions.publish(release, paula, "2", board_digest(release))


def test_a_blocked_version_is_held_and_not_counted(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    keys = service.add(3)
    service.change(keys[0], archivedAt="2026-03-01T09:00:00Z")
    canceled = service.version(keys[1], 2, status="cancelled")
    service.change(keys[1], latestVersion=canceled)
    release = draft(keys=keys)
    decisions.publish(release, paula, "2", board_digest(release))
    blocked = release.items.get(audience_id="aud_2")
    assert blocked.state == ItemState.HELD
    assert blocked.reason == "Version 2 was canceled. It can’t be published."
    assert states_of(release) == ["waiting", "held", "waiting"]


def test_a_release_of_blocked_versions_alone_is_not_published(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    (key,) = service.add(1)
    service.change(key, latestVersion=service.version(key, 2, status="cancelled"))
    release = draft(keys=[key])
    with pytest.raises(ReleaseError, match="No version of this release can be sent"):
        decisions.publish(release, paula, "1", board_digest(release))
    assert states_of(release) == ["waiting"]


def test_stopping_is_requested_once(draft: Draft, paula: User, ada: User) -> None:
    release = draft(2)
    decisions.publish(release, paula, "", board_digest(release))
    decisions.stop(release, paula)
    decisions.stop(release, ada)
    release.refresh_from_db()
    assert release.stop_requested_at
    assert release.stop_requested_by_name == "paula"
    assert release.state == ReleaseState.RUNNING


def test_a_draft_can_not_be_stopped(draft: Draft, paula: User) -> None:
    with pytest.raises(ReleaseError):
        decisions.stop(draft(1), paula)


def test_the_rest_of_a_held_release_is_continued(draft: Draft, paula: User, ada: User) -> None:
    release = held(draft(3), aud_1=ItemState.LIVE)
    with pytest.raises(ReleaseError, match="Something changed"):
        decisions.continue_release(release, ada, "", "")
    decisions.continue_release(release, ada, "", board_digest(release))
    release.refresh_from_db()
    assert (release.state, release.owner) == (ReleaseState.RUNNING, ada)
    assert release.hold_reason == "Stopped by Ada."
    assert states_of(release) == ["live", "waiting", "waiting"]


def test_canceling_a_draft_sends_nothing(draft: Draft, paula: User) -> None:
    release = draft(2)
    decisions.cancel(release, paula)
    release.refresh_from_db()
    assert (release.state, release.wake_at) == (ReleaseState.CANCELED, None)
    assert states_of(release) == ["canceled", "canceled"]
    with pytest.raises(ReleaseError, match="This release is canceled"):
        decisions.publish(release, paula, "", board_digest(release))


def test_canceling_the_rest_finishes_a_release(draft: Draft, paula: User) -> None:
    release = held(draft(3), aud_1=ItemState.LIVE, aud_2=ItemState.HELD)
    decisions.cancel(release, paula)
    assert release.state == ReleaseState.FINISHED
    assert states_of(release) == ["live", "canceled", "canceled"]


def test_canceling_the_rest_still_follows_what_is_in_progress(draft: Draft, paula: User) -> None:
    release = held(draft(2), aud_1=ItemState.IN_PROGRESS)
    decisions.cancel(release, paula)
    assert release.state == ReleaseState.RUNNING
    assert release.wake_at
    assert states_of(release) == ["in_progress", "canceled"]


def test_skipping_the_last_version_ends_a_release(draft: Draft, paula: User) -> None:
    release = held(draft(2), aud_1=ItemState.LIVE, aud_2=ItemState.HELD)
    item = release.items.get(audience_id="aud_2")
    decisions.skip_item(item, paula)
    item.refresh_from_db()
    assert (item.state, item.reason) == (ItemState.CANCELED, "Skipped by paula.")
    assert Release.objects.get().state == ReleaseState.FINISHED


def test_a_version_already_sent_is_not_skipped(draft: Draft, paula: User) -> None:
    release = held(draft(2), aud_1=ItemState.LIVE)
    with pytest.raises(ReleaseError, match="already sent"):
        decisions.skip_item(release.items.get(audience_id="aud_1"), paula)
    assert states_of(release) == ["live", "waiting"]


def in_an_hour() -> ScheduledMoment:
    due = (timezone.now() + timedelta(hours=1)).replace(second=0, microsecond=0)
    return parse_moment(f"{due:%Y-%m-%d}", f"{due:%H:%M}", "UTC", now=timezone.now())


def test_a_due_release_wakes_a_worker(draft: Draft, paula: User) -> None:
    release, moment = draft(2), in_an_hour()
    decisions.schedule(release, paula, moment, "", board_digest(release))
    release.refresh_from_db()
    assert release.state == ReleaseState.SCHEDULED
    assert release.due_at == release.wake_at == moment.instant
    assert (release.time_zone, release.due_as_typed) == ("UTC", moment.as_typed)
    assert not release.needs_check


def test_scheduling_needs_the_same_confirmation(draft: Draft, paula: User) -> None:
    release = draft(26)
    with pytest.raises(ReleaseError, match="then type 26"):
        decisions.schedule(release, paula, in_an_hour(), "", board_digest(release))
    with pytest.raises(ReleaseError, match="Something changed"):
        decisions.schedule(release, paula, in_an_hour(), "26", "other")
    assert Release.objects.get().state == ReleaseState.DRAFT


def test_a_schedule_is_changed_by_its_next_owner(draft: Draft, paula: User, ada: User) -> None:
    release = draft(1)
    decisions.schedule(release, paula, in_an_hour(), "", board_digest(release))
    later = (timezone.now() + timedelta(days=2)).replace(second=0, microsecond=0)
    moment = parse_moment(f"{later:%Y-%m-%d}", f"{later:%H:%M}", "UTC", now=timezone.now())
    decisions.reschedule(release, ada, moment)
    release.refresh_from_db()
    assert (release.wake_at, release.owner) == (later, ada)


def test_of_two_changes_of_a_schedule_one_is_refused(draft: Draft, paula: User, ada: User) -> None:
    release = draft(1)
    decisions.schedule(release, paula, in_an_hour(), "", board_digest(release))
    stale = Release.objects.get()
    later = (timezone.now() + timedelta(days=2)).date()
    moments = [parse_moment(f"{later}", at, "UTC", now=timezone.now()) for at in ("08:00", "09:00")]
    decisions.reschedule(release, ada, moments[0])
    with pytest.raises(ReleaseError, match="changed since you opened this page"):
        decisions.reschedule(stale, paula, moments[1])
    assert Release.objects.get().due_at == moments[0].instant


def test_a_canceled_schedule_leaves_a_draft_to_be_checked(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    keys = service.add(2)
    service.change(keys[0], latestVersion=service.version(keys[0], 2, status="cancelled"))
    release = draft(keys=keys)
    decisions.schedule(release, paula, in_an_hour(), "", board_digest(release))
    assert states_of(release) == ["held", "waiting"]
    decisions.cancel_schedule(release, paula)
    release.refresh_from_db()
    assert (release.state, release.due_at) == (ReleaseState.DRAFT, None)
    assert release.needs_check
    assert states_of(release) == ["waiting", "waiting"]


def test_a_scheduled_release_is_published_now(draft: Draft, paula: User) -> None:
    release = draft(1)
    decisions.schedule(release, paula, in_an_hour(), "", board_digest(release))
    decisions.publish(release, paula, "", board_digest(release))
    release.refresh_from_db()
    assert (release.state, release.due_at) == (ReleaseState.RUNNING, None)
    with pytest.raises(ReleaseError):
        decisions.cancel_schedule(release, paula)


def test_a_partly_sent_held_release_is_not_scheduled(draft: Draft, paula: User) -> None:
    release = held(draft(2), aud_1=ItemState.LIVE)
    with pytest.raises(ReleaseError, match="already sent"):
        decisions.schedule(release, paula, in_an_hour(), "", board_digest(release))
