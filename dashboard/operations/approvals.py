"""The approval rule: which changes need the approval of another person, and whether they have it.

`execution.send`, the one door, asks `refusal` before each call, whoever sends: the dialog, a
release, a retry, a form, the shell. It trusts nothing that was decided earlier: the rule, the
request and both people are read again. Source: DESIGN.md, Releases, schedules and approvals.
"""

import hashlib
import json
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import ApprovalRequest, ApprovalRule, Attempt, Operation
from dashboard.ledger.models.approvals import DEFAULT_DAYS, ApprovalKind, RequestState
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.preferences import have_same_email
from dashboard.ledger.queries.audiences import audience_last_known, version_last_known

MANAGE_APPROVALS = "ledger.manage_approvals"

PERMISSIONS = {
    ApprovalKind.PUBLISH: "ledger.publish_version",
    ApprovalKind.ROLL_BACK: "ledger.publish_version",
    ApprovalKind.WEBHOOK: "ledger.update_subscription",
    ApprovalKind.PAGE: "ledger.create_page",
}
"""Who may approve a change: those who may make it. Source: our choice."""

NEEDED = "It needs the approval of another person."
USED = "It was already sent by this approval. Sending it again needs another one."
DIFFERS = "It differs from what was approved. It needs another approval."
CHANGED_SINCE = "It differs from what was sent before. It needs the approval of another person."


def current_rule() -> ApprovalRule:
    """Return the rule in force; one that covers nothing if none was ever set."""
    return ApprovalRule.objects.first() or ApprovalRule(days=DEFAULT_DAYS)


def publish_kind(version: AudienceVersion | None, live: AudienceVersion | None) -> ApprovalKind:
    """Return whether publishing a version rolls back: it was live before the live one. Pure.

    An earlier version that was never live is published like any other.
    """
    is_earlier = version and live and version.version_number < live.version_number
    is_rollback = is_earlier and version and version.published_at
    return ApprovalKind.ROLL_BACK if is_rollback else ApprovalKind.PUBLISH


def publish_needs_approval(version: AudienceVersion | None, live: AudienceVersion | None) -> bool:
    """Return whether publishing a version in place of the live one needs an approval. One query."""
    return current_rule().covers(publish_kind(version, live))


def subject_digest(subject: Any) -> str:
    """Return the digest of what an approval is bound to."""
    as_stored = json.dumps(subject, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(as_stored.encode()).hexdigest()


def refusal(operation: Operation, attempt: Attempt) -> str:
    """Return why an operation may not be sent by the approval rule, in a sentence, or ""."""
    if not current_rule().covers(_kind(operation)):
        return ""
    if operation.emergency_reason:
        problem = _emergency_refusal(operation.actor, operation.actor_name)
        return problem or _retry_refusal(operation, attempt)
    if operation.approval_id is None:
        return NEEDED
    request = ApprovalRequest.objects.get(pk=operation.approval_id)
    if problem := approval_problem(request):
        return problem
    if not _is_subject(request, operation, attempt.digest):
        return DIFFERS
    return USED if _is_used(request, operation) else ""


def approval_problem(request: ApprovalRequest) -> str:
    """Return why nothing may be sent by a request, whatever its subject is now, or ""."""
    match request.state:
        case RequestState.OPEN:
            expired = request.has_expired(timezone.now())
            return "The request for approval expired." if expired else NEEDED
        case RequestState.DECLINED:
            return f"{request.decided_by_name} declined it."
        case RequestState.VOID | RequestState.EXPIRED | RequestState.WITHDRAWN:
            return request.end_reason
    return person_problem(request, request.decided_by, request.decided_by_name)


def person_problem(request: ApprovalRequest, approver: User | None, name: str = "") -> str:
    """Return why a person may not approve a request, or no longer may, in a sentence, or ""."""
    requester = request.requested_by
    if requester is None:
        return f"The account of {request.requested_by_name} no longer exists."
    if approver is None:
        return f"The account of {name} no longer exists."
    permission = PERMISSIONS[ApprovalKind(request.kind)]
    if not approver.is_active or not approver.has_perm(permission):
        return f"{name or approver.get_username()} may not approve this."
    if not requester.is_active or not requester.has_perm(permission):
        return f"{request.requested_by_name} may no longer make this change."
    if is_same_person(requester, approver):
        return "It’s your own request, or that of another account of yours. Ask another person."
    return ""


def is_same_person(one: User, other: User) -> bool:
    """Return whether two accounts are, as far as known, one person's.

    They are if they are one account, have an e-mail address in common, or are connected to the same
    identity at the provider, by whatever address of the provider.
    """
    if one.pk == other.pk:
        return True
    if have_same_email(one, other):
        return True
    identities = SocialAccount.objects.filter(user=one).values("uid")
    return bool(SocialAccount.objects.filter(user=other, uid__in=identities).exists())


def may_publish_in_an_emergency(user: User) -> bool:
    """Return whether a user may publish without an approval, with a reason."""
    needed = (MANAGE_APPROVALS, PERMISSIONS[ApprovalKind.PUBLISH])
    return all(user.has_perm(permission) for permission in needed)


def _emergency_refusal(actor: User | None, name: str) -> str:
    if actor and actor.is_active and may_publish_in_an_emergency(actor):
        return ""
    return f"{name} may not publish without an approval."


def _retry_refusal(operation: Operation, attempt: Attempt) -> str:
    """Return why a reason that was typed for an earlier attempt is none for this one, or ""."""
    if attempt.number == 1:
        return ""
    first = operation.attempts.get(number=1).digest
    return "" if first and first == attempt.digest else CHANGED_SINCE


def _kind(operation: Operation) -> ApprovalKind:
    """Return the kind of an operation, by the ledger, which has just been read into."""
    match OperationKind(operation.kind):
        case OperationKind.UPDATE_SUBSCRIPTION:
            return ApprovalKind.WEBHOOK
        case OperationKind.CREATE_PAGE:
            return ApprovalKind.PAGE
    version = version_last_known(operation.page_id, operation.audience_id, operation.version_id)
    audience = audience_last_known(operation.page_id, operation.audience_id)
    live = audience.audience.published_version if audience else None
    return publish_kind(version.version if version else None, live)


def _is_subject(request: ApprovalRequest, operation: Operation, digest: str) -> bool:
    """Return whether an operation is what was approved, as its target was read just before."""
    subject: dict[str, Any] = request.subject
    if subject_digest(subject) != request.digest:
        return False
    if operation.kind != OperationKind.PUBLISH_VERSION:
        return digest == request.digest
    ids = [operation.page_id, operation.audience_id, operation.version_id]
    return bool(digest) and [*ids, digest] in subject.get("items", [])


def _is_used(request: ApprovalRequest, operation: Operation) -> bool:
    """Return whether another operation has, or may have, made this change by the request."""
    others = request.operations.exclude(pk=operation.pk)
    # A publish is one of several; another request is for one change.
    same = others.filter(version_id=operation.version_id, audience_id=operation.audience_id)
    return same.exclude(outcome__in=(Outcome.REJECTED, Outcome.NOT_SENT)).exists()
