"""A restored database may lack what a release has sent."""

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from dashboard.approvals import changes
from dashboard.approvals.models import RequestState
from dashboard.releases import approval_requests
from dashboard.releases.models import HoldKind, Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from tests.releases.conftest import Draft
from tests.support.many_audiences import ManyAudiences
from tests.support.release_service import decide, schedule


def make_scheduled(release: Release, user: User) -> None:
    schedule(release)


@pytest.mark.parametrize("begin", [decide, make_scheduled])
def test_what_was_scheduled_or_running_is_held(
    draft: Draft, service: ManyAudiences, paula: User, begin: object
) -> None:
    release = draft(2)
    begin(release, paula)  # type: ignore[operator]
    call_command("after_restore", verbosity=0)
    release.refresh_from_db()
    assert (release.state, release.hold_kind) == (ReleaseState.HELD, HoldKind.RESTORED)
    assert "What was sent since the backup isn’t on record." in release.hold_reason


def test_drafts_stay_drafts(draft: Draft) -> None:
    release = draft(2)
    call_command("after_restore", verbosity=0)
    release.refresh_from_db()
    assert (release.state, release.hold_reason) == (ReleaseState.DRAFT, "")


def test_a_request_that_was_open_is_void(draft: Draft, paula: User) -> None:
    release = draft(1)
    approval = approval_requests.request_approval(release, paula, "", board_digest(release))
    call_command("after_restore", verbosity=0)
    approval.refresh_from_db()
    release.refresh_from_db()
    assert (approval.state, release.state) == (RequestState.VOID, ReleaseState.HELD)
    assert "What was sent since the backup isn’t on record." in approval.end_reason


def test_a_page_awaiting_approval_is_not_created_twice(
    draft: Draft, paula: User, capsys: pytest.CaptureFixture[str]
) -> None:
    approval = changes.request_page({"name": "Spring"}, operation_key="form-1", note="", user=paula)
    call_command("after_restore")
    approval.refresh_from_db()
    assert approval.state == RequestState.VOID
    assert "now void: 1" in capsys.readouterr().out
