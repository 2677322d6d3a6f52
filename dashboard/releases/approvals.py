"""What an approval of a release is bound to, and whether it may be sent by it."""

from typing import Any

from dashboard.ledger.models import ApprovalRequest, ApprovalRule
from dashboard.ledger.models.approvals import ApprovalKind
from dashboard.ledger.operations import Clearance
from dashboard.operations.approvals import (
    DIFFERS,
    NEEDED,
    approval_problem,
    current_rule,
    publish_kind,
)
from dashboard.releases.models import ItemState, Release, ReleaseItem
from dashboard.releases.reviewing import light_items

LEFT_OUT = (ItemState.HELD, ItemState.CANCELED)
"""States of items that are not, or no longer, part of what is approved."""
UNSENT = (ItemState.WAITING, ItemState.HELD)


def subject_of(release: Release) -> dict[str, Any]:
    """Return all that an approval of a release is bound to: its note, items and their order."""
    items = light_items(release).exclude(state__in=LEFT_OUT)
    return {
        "note": release.note,
        "items": [[item.page_id, item.audience_id, item.version_id, item.digest] for item in items],
    }


def kind_of(release: Release) -> ApprovalKind:
    """Return what an approval of a release is for: rolling back if each of its items does."""
    unsent = release.items.filter(state__in=UNSENT)
    kinds = {publish_kind(item.version, item.live_version) for item in unsent}
    return ApprovalKind.ROLL_BACK if kinds == {ApprovalKind.ROLL_BACK} else ApprovalKind.PUBLISH


def needs_approval(release: Release, rule: ApprovalRule | None = None) -> bool:
    """Return whether a rule, or the one in force, covers any item that is left to send."""
    rule = rule or current_rule()
    if rule.covers_publishing == rule.covers_rollbacks:
        return rule.covers_publishing
    unsent = release.items.filter(state__in=UNSENT)
    return any(rule.covers(publish_kind(item.version, item.live_version)) for item in unsent)


def release_refusal(release: Release) -> str:
    """Return why a release may not be sent for want of an approval, in a sentence, or "".

    One that was requested counts also when the rule does not need it.
    """
    if release.emergency_reason:
        return ""
    request = release.approval
    if request is None:
        return NEEDED if needs_approval(release) else ""
    return approval_problem(request) or ("" if _is_subject(release, request) else DIFFERS)


def clearance_of(release: Release, item: ReleaseItem) -> Clearance:
    """Return what lets an item of a release be sent, as it was read just before."""
    return Clearance(release.approval, item.digest, release.emergency_reason)


def _is_subject(release: Release, request: ApprovalRequest) -> bool:
    approved: dict[str, Any] = request.subject
    return subject_of(release) == approved
