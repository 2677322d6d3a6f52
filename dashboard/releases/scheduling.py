"""Schedule one version as it was reviewed in the publish dialog, or have it approved.

Both make a release of one.
"""

from collections.abc import Callable
from datetime import datetime

from django.contrib.auth.models import User

from dashboard.approvals.models import ApprovalRequest
from dashboard.client import APIError
from dashboard.operations.publish import audience_locked
from dashboard.operations.publish_preflight import Severity
from dashboard.operations.publish_review import PublishReview, reviewed_fields
from dashboard.releases import approval_requests, decisions, drafting
from dashboard.releases.checking import check_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseItem, ReleaseState
from dashboard.releases.planning import planned_publishes, planned_version
from dashboard.releases.reviewing import blocked_reason, board_digest
from dashboard.releases.schedules import ScheduledMoment

CHANGED = "Something changed since you opened this form. Nothing was scheduled."


def schedule_version(
    review: PublishReview, *, moment: ScheduledMoment, note: str, user: User
) -> Release:
    """Make a release of the reviewed version, and schedule it; return the release.

    It is checked at once, so that no worker is waited for. The caller has confirmed the risks. A
    second press of the button returns the release of the first. Raises ReleaseError if the version
    can't be scheduled, or differs from the review; APIError if the service can't be read. Then no
    release remains.
    """

    def schedule(release: Release, displayed_digest: str) -> None:
        decisions.schedule(
            release, user, moment, entered_count="1", displayed_digest=displayed_digest
        )

    return _make_release(
        review, ReleaseState.SCHEDULED, moment.instant, schedule, note=note, user=user
    )


def request_version(
    review: PublishReview, *, moment: ScheduledMoment | None, note: str, user: User
) -> ApprovalRequest:
    """Make a release of the reviewed version, and ask another person to approve it.

    Once approved it is published, or at the moment if there is one. Returns the request; otherwise
    as `schedule_version`.
    """

    def request(release: Release, displayed_digest: str) -> None:
        approval_requests.request_approval(
            release, user, entered_count="1", displayed_digest=displayed_digest, moment=moment
        )

    state, due_at = ReleaseState.WAITING_FOR_APPROVAL, moment.instant if moment else None
    release = _make_release(review, state, due_at, request, note=note, user=user)
    return ApprovalRequest.objects.get(releases=release.pk)


def _make_release(
    review: PublishReview,
    state: ReleaseState,
    due_at: datetime | None,
    decide: Callable[[Release, str], None],
    *,
    note: str,
    user: User,
) -> Release:
    """Return a release of the reviewed version in this state; `decide` brings it there.

    It gets the digest of the board that was compared with the review.
    """
    if same := _same_release(review, state, due_at):
        return same
    release = drafting.create_draft(
        name="",
        note=note,
        planned=[planned_version(review.target)],
        user=user,
        is_provisional=True,
    )
    try:
        check_release(release)
        with audience_locked(review.target):
            if same := _same_release(review, state, due_at):
                drafting.discard(release, user)
                return same
            # Locked before it is compared: a worker checks the draft, too, and may find another
            # text.
            with drafting.decide(release, ReleaseState.DRAFT):
                item = release.items.get()
                _require_as_reviewed(item, review)
                drafting.mark_reviewed(item, user, reviewed=True, displayed_digest=item.digest)
                decide(release, board_digest(release, [item]))
    except (ReleaseError, APIError):
        drafting.discard(release, user)
        raise
    return release


def _same_release(
    review: PublishReview, state: ReleaseState, due_at: datetime | None
) -> Release | None:
    """Return the release in which this version already waits like that, if there is one.

    Raises ReleaseError if a version of the audience is planned otherwise: only one can be.
    """
    page_id, audience_id, version_id = review.target
    for planned in planned_publishes([page_id]).get((page_id, audience_id), ()):
        is_wanted = (planned.release_state, planned.due_at) == (state, due_at)
        if planned.version_id == version_id and is_wanted:
            return Release.objects.get(pk=planned.release_id)
        if planned.release_state != ReleaseState.HELD:
            doing = "scheduled" if planned.due_at else "waiting to be sent"
            if planned.release_state == ReleaseState.WAITING_FOR_APPROVAL:
                doing = "waiting for an approval"
            raise ReleaseError(
                f"Version {planned.version_number} of this audience is already {doing} in the "
                f"release “{planned.release_name}”. Change that release instead."
            )
    return None


def _require_as_reviewed(item: ReleaseItem, review: PublishReview) -> None:
    """Raise ReleaseError if the check found something else than the review that was confirmed."""
    if reason := blocked_reason(item):
        raise ReleaseError(reason)
    seen = {finding.headline for finding in review.findings}
    new = [
        finding
        for finding in item.findings
        if finding["severity"] != Severity.NOTE and finding["headline"] not in seen
    ]
    versions = (review.snapshot.version, review.snapshot.live)
    checked = (item.version, item.live_version)
    if new or [*map(reviewed_fields, versions)] != [*map(reviewed_fields, checked)]:
        raise ReleaseError(CHANGED)
