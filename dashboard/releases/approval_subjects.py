"""What an approval of a release covers, and whether the release may be sent with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from dashboard.approvals.models import ApprovalKind, ApprovalRequest, ApprovalRule, RequestState
from dashboard.approvals.requests import create_request, end_request
from dashboard.approvals.rule import (
    DIFFERS,
    NEEDED,
    approval_problem,
    current_rule,
    is_rollback,
    may_publish_in_an_emergency,
    publish_kind,
)
from dashboard.ledger.operations import Clearance
from dashboard.operations.publish_review import content_digest
from dashboard.releases.models import LEFT_TO_SEND, ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import light_items

LEFT_OUT = (ItemState.HELD, ItemState.CANCELED)
"""States of items that the approval doesn't cover."""
OTHER_TIME = "It was approved for another time. Sending it at this one needs another approval."
OTHER_OPTION = (
    "It was approved with another choice for versions that change. It needs another approval."
)


class Plan(NamedTuple):
    """When and how a release is sent. An approval covers it."""

    due_at: datetime | None = None
    """None to send at once."""
    publishes_others: bool = False


def subject_of(release: Release, plan: Plan | None = None) -> dict[str, Any]:
    """Return what an approval of a release covers, with this plan or the recorded one."""
    plan = plan or Plan(release.due_at, release.publishes_others)
    items = release.items.exclude(state__in=LEFT_OUT)
    columns = ("page_id", "audience_id", "version_id", "digest")
    return {
        "note": release.note,
        "due_at": plan.due_at.astimezone(UTC).isoformat() if plan.due_at else None,
        "publishes_others": plan.publishes_others,
        "items": [[*item] for item in items.values_list(*columns)],
    }


def request_for(release: Release, user: User) -> ApprovalRequest:
    """Record a request of its owner to approve a locked release as it is planned now.

    Raises ApprovalError if its note is too long.
    """
    return create_request(
        kind_of(release),
        title=title_of(release),
        subject=subject_of(release),
        note=release.note,
        user=user,
        by_program=release.by_program,
    )


def title_of(release: Release) -> str:
    items = list(light_items(release).exclude(state__in=LEFT_OUT))
    if len(items) == 1:
        [item] = items
        is_back = is_rollback(item.version, item.live_version)
        act = "Roll back to" if is_back else "Publish"
        return f"{act} version {item.version_number}, {item.audience_name}"
    # A rollback has the act in its name.
    name = release.name if release.rolls_back_id else f"Publish {release.name}"
    return f"{name}, {len(items)} versions"


def void_for_plan(release: Release, plan: Plan, reason: str) -> None:
    """Void the request or approval of a locked release, if any, because its plan changes."""
    if approval := release.approval:
        differences = plan_differences(approval.subject, subject_of(release, plan))
        end_request(approval, RequestState.VOID, reason, differences)


def plan_differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, str]]:
    words: dict[str, tuple[str, Callable[[Any], str]]] = {
        "due_at": ("Time", _moment_in_words),
        "publishes_others": ("If some versions changed", _OPTION_IN_WORDS.__getitem__),
        "note": ("Note", str),
    }
    return [
        {"item": "", "what": what, "then": in_words(then[name]), "now": in_words(now[name])}
        for name, (what, in_words) in words.items()
        if then[name] != now[name]
    ]


_OPTION_IN_WORDS = {False: "Hold the release", True: "Publish the others"}


def _moment_in_words(due_at: str | None) -> str:
    if due_at is None:
        return "At once"
    due = datetime.fromisoformat(due_at)
    return f"{due:%b} {due.day}, {due:%Y, %H:%M} UTC"


def kind_of(release: Release) -> ApprovalKind:
    unsent = release.items.filter(state__in=LEFT_TO_SEND)
    kinds = {publish_kind(item.version, item.live_version) for item in unsent}
    return ApprovalKind.ROLL_BACK if kinds == {ApprovalKind.ROLL_BACK} else ApprovalKind.PUBLISH


def needs_approval(release: Release, rule: ApprovalRule | None = None) -> bool:
    """Return whether a rule, or the one in force, covers any item that is left to send."""
    rule = rule or current_rule()
    if rule.covers_publishing == rule.covers_rollbacks:
        return rule.covers_publishing
    unsent = release.items.filter(state__in=LEFT_TO_SEND)
    return any(rule.covers(publish_kind(item.version, item.live_version)) for item in unsent)


def release_refusal(release: Release, plan: Plan | None = None) -> str:
    """Return a sentence on which approval a release lacks; "" if it may be sent.

    `plan` replaces the recorded plan. An approval that was requested must be valid even if the
    rule doesn't need one.
    """
    if release.emergency_reason:
        return ""
    approval = release.approval
    if approval is None:
        return NEEDED if needs_approval(release) else ""
    return approval_problem(approval) or _subject_problem(release, approval, plan)


@dataclass(frozen=True)
class ReleaseApproval:
    is_needed: bool
    """Whether the viewer must request an approval."""
    may_skip: bool
    """Whether the viewer may publish without it, with a reason."""


def approval_of(release: Release, viewer: User, *, for_schedule: bool = False) -> ReleaseApproval:
    """Return what the rule means for a release that is sent at once next, or at another time.

    At most four queries.
    """
    decidable = (ReleaseState.DRAFT, ReleaseState.SCHEDULED, ReleaseState.HELD)
    is_needed = release.state in decidable and needs_approval(release)
    if is_needed and not for_schedule:
        is_needed = bool(release_refusal(release, Plan(None, release.publishes_others)))
    return ReleaseApproval(is_needed, is_needed and may_publish_in_an_emergency(viewer))


def clearance_of(release: Release, item: ReleaseItem) -> Clearance:
    """Return what lets an item of a release be sent, as it was read just before."""
    if release.approval:
        return Clearance(release.approval.pk, item.digest)
    digest = content_digest(item.version, item.live_version_id)
    return Clearance(digest=digest, emergency_reason=release.emergency_reason)


def _subject_problem(release: Release, approval: ApprovalRequest, plan: Plan | None) -> str:
    approved: dict[str, Any] = dict(approval.subject)
    subject = subject_of(release, plan)
    if subject["due_at"] != approved["due_at"]:
        return OTHER_TIME
    if subject["publishes_others"] != approved["publishes_others"]:
        return OTHER_OPTION
    if approved["publishes_others"]:
        # Approved with it: what has changed is held, and the others are sent.
        held = release.items.filter(state=ItemState.HELD)
        ids = {*held.values_list("page_id", "audience_id", "version_id")}
        approved["items"] = [item for item in approved["items"] if tuple(item[:3]) not in ids]
    return "" if subject == approved else DIFFERS
