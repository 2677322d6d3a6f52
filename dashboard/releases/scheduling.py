"""Schedule one version as it was reviewed in the publish dialog: a release of one."""

from django.contrib.auth.models import User
from django.db import transaction

from dashboard.client import APIError
from dashboard.ledger.models import AudienceRecord
from dashboard.operations.publish_preflight import Severity
from dashboard.operations.publish_review import PublishReview, reviewed_fields
from dashboard.releases import decisions, drafting
from dashboard.releases.checking import check_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseItem, ReleaseState
from dashboard.releases.queries import planned_publishes
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
    if same := _same_schedule(review, moment):
        return same
    release = drafting.create_from_versions(name="", note=note, targets=[review.target], user=user)
    try:
        check_release(release)
        with transaction.atomic():
            _lock_audience(review)
            if same := _same_schedule(review, moment):
                release.delete()
                return same
            _schedule(release, review, moment, user)
    except (ReleaseError, APIError):
        release.delete()
        raise
    return release


def _schedule(release: Release, review: PublishReview, moment: ScheduledMoment, user: User) -> None:
    """Schedule a checked release of one. Raises ReleaseError unless it is as in the review."""
    item = release.items.get()
    if reason := blocked_reason(item):
        raise ReleaseError(reason)
    if _differs(item, review):
        raise ReleaseError(CHANGED)
    drafting.mark_reviewed(item, user, reviewed=True)
    decisions.schedule(release, user, moment, typed="1", shown=board_digest(release))


def _same_schedule(review: PublishReview, moment: ScheduledMoment) -> Release | None:
    """Return the release that has scheduled this version for this moment, if there is one.

    Raises ReleaseError if a version of the audience is planned otherwise: only one can be.
    """
    page_id, audience_id, version_id = review.target
    for planned in planned_publishes([page_id]).get((page_id, audience_id), ()):
        if planned.version_id == version_id and planned.due_at == moment.instant:
            return Release.objects.get(pk=planned.release_id)
        if planned.release_state != ReleaseState.HELD:
            how = "scheduled" if planned.due_at else "waiting to be sent"
            raise ReleaseError(
                f"Version {planned.version_number} of this audience is already {how} "
                f"in the release “{planned.release_name}”. Change that release instead."
            )
    return None


def _lock_audience(review: PublishReview) -> None:
    """Lock the audience's record: of two presses at once, the second sees the first."""
    audiences = AudienceRecord.objects.select_for_update().filter(
        page_id=review.target.page_id, audience_id=review.target.audience_id
    )
    list(audiences.values_list("pk"))


def _differs(item: ReleaseItem, review: PublishReview) -> bool:
    """Return whether the check found something else than the review that was confirmed."""
    seen = {each.headline for each in review.findings}
    new = [
        each
        for each in item.findings
        if each["severity"] != Severity.NOTE and each["headline"] not in seen
    ]
    versions = (review.snapshot.version, review.snapshot.live)
    checked = (item.version, item.live_version)
    return bool(new) or [*map(reviewed_fields, versions)] != [*map(reviewed_fields, checked)]
