"""What the approval rule means for one release and one viewer."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from dashboard.ledger.models import ApprovalRequest
from dashboard.operations.approvals import may_publish_in_an_emergency
from dashboard.releases.approvals import Plan, needs_approval, release_refusal
from dashboard.releases.models import Release, ReleaseState


@dataclass(frozen=True)
class ReleaseApproval:
    """The request for approval of a release, and whether it needs one."""

    request: ApprovalRequest | None
    """The last request, whatever became of it."""
    is_needed: bool
    """Whether the next decision can only be to ask another person."""
    may_skip: bool
    """Whether the viewer may publish it all the same, with a reason."""


def approval_of(release: Release, viewer: User, *, for_schedule: bool = False) -> ReleaseApproval:
    """Return what the rule means for a release that is sent at once next, or at another time.

    At most four queries.
    """
    decidable = (ReleaseState.DRAFT, ReleaseState.SCHEDULED, ReleaseState.HELD)
    is_needed = release.state in decidable and needs_approval(release)
    if is_needed and not for_schedule:
        is_needed = bool(release_refusal(release, Plan(None, release.publishes_others)))
    return ReleaseApproval(
        release.approval, is_needed, is_needed and may_publish_in_an_emergency(viewer)
    )
