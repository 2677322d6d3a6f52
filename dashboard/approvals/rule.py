"""Decide whether a change may be sent: by the sender's permission and the approval rule.

`execution.send`, which sends every change, calls `refusal` before each call. The sender may be the
dialog, a release, a retry, a form or the shell. `refusal` trusts no earlier decision: it reads the
rule, the request and all people again, because any of them may have changed.
"""

import hashlib
import json
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User

from dashboard import clock
from dashboard.accounts.permissions import (
    CREATE_PAGE,
    MANAGE_APPROVALS,
    PUBLISH,
    UPDATE_SUBSCRIPTION,
)
from dashboard.accounts.preferences import have_same_email
from dashboard.approvals.models import (
    DEFAULT_DAYS,
    ApprovalKind,
    ApprovalRequest,
    ApprovalRule,
    RequestState,
)
from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger import feed
from dashboard.ledger.models import Attempt, FeedEntry, FeedKind, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome, actor_name
from dashboard.ledger.queries.audiences import audience_last_known, version_last_known

PERMISSIONS = {
    ApprovalKind.PUBLISH: PUBLISH,
    ApprovalKind.ROLL_BACK: PUBLISH,
    ApprovalKind.WEBHOOK: UPDATE_SUBSCRIPTION,
    ApprovalKind.PAGE: CREATE_PAGE,
}
"""Permission to approve a change, the same as to make it. Source: our choice."""

_CHANGES = {
    OperationKind.PUBLISH_VERSION: "publish",
    OperationKind.CREATE_PAGE: "create pages",
    OperationKind.UPDATE_SUBSCRIPTION: "edit webhooks",
}
"""What the permission with the kind's name allows."""

NEEDED = "It needs the approval of another person."
USED = "It was already sent by this approval. Sending it again needs another one."
DIFFERS = "It differs from what was approved. It needs another approval."
CHANGED_SINCE = "It differs from what was sent before. It needs the approval of another person."


def current_rule() -> ApprovalRule:
    """Return the rule in force; one that covers nothing if none was ever set."""
    return ApprovalRule.objects.first() or ApprovalRule(days=DEFAULT_DAYS)


def save_rule(rule: ApprovalRule, user: User) -> bool:
    """Put a rule in force; return whether it differs from the last one. Call in a transaction."""
    # Lock before comparing: the same form may be sent twice at once.
    list(ApprovalRule.objects.select_for_update()[:1])
    if rule.is_same_as(current_rule()):
        return False
    rule.changed_at, rule.changed_by_name = clock.now(), actor_name(user)
    rule.save(force_insert=True)
    feed.add(FeedEntry(kind=FeedKind.APPROVAL, actor_id=user.pk))
    return True


def is_rollback(version: AudienceVersion | None, live: AudienceVersion | None) -> bool:
    """Return whether publishing a version rolls back to one that was live before. Pure.

    An earlier version that was never live is published like any other.
    """
    if version is None or live is None:
        return False
    return version.version_number < live.version_number and bool(version.published_at)


def publish_kind(version: AudienceVersion | None, live: AudienceVersion | None) -> ApprovalKind:
    return ApprovalKind.ROLL_BACK if is_rollback(version, live) else ApprovalKind.PUBLISH


def subject_digest(subject: Any) -> str:
    as_stored = json.dumps(subject, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(as_stored.encode()).hexdigest()


def refusal(operation: Operation, attempt: Attempt) -> str:
    """Return why an operation may not be sent, as a sentence, or "".

    Either the sender lacks the permission, or the approval rule isn't met.
    """
    sender, kind = _reloaded(attempt.actor_id), OperationKind(operation.kind)
    problem = right_problem(sender, attempt.actor_name, kind)
    return problem or _rule_refusal(operation, attempt)


def _rule_refusal(operation: Operation, attempt: Attempt) -> str:
    if not current_rule().covers(_kind(operation)):
        return ""
    if operation.emergency_reason:
        return _emergency_refusal(operation, attempt)
    if operation.approval_id is None:
        return NEEDED
    approval = ApprovalRequest.objects.get(pk=operation.approval_id)
    if problem := approval_problem(approval):
        return problem
    if not _is_subject(approval, operation, attempt.digest):
        return DIFFERS
    return USED if _is_used(approval, operation) else ""


def right_problem(user: User | None, name: str, kind: OperationKind) -> str:
    """Return why a user may not make changes of a kind, as a sentence, or ""."""
    if user is None:
        return f"The account of {name} no longer exists."
    if not user.is_active:
        return f"The account of {name} is turned off."
    may_change = user.has_perm(f"ledger.{kind}")
    return "" if may_change else f"{name} may no longer {_CHANGES[kind]}."


def _reloaded(user_id: int | None) -> User | None:
    """Return a user as stored now: a loaded one caches its permissions."""
    return User.objects.filter(pk=user_id).first() if user_id else None


def approval_problem(approval: ApprovalRequest) -> str:
    """Return why nothing may be sent for a request, regardless of its subject, or ""."""
    match approval.state:
        case RequestState.OPEN:
            expired = approval.has_expired(clock.now())
            return "The request for approval expired." if expired else NEEDED
        case RequestState.DECLINED:
            return f"{approval.decided_by_name} declined it."
        case RequestState.VOID | RequestState.EXPIRED | RequestState.WITHDRAWN:
            return approval.end_reason
    return person_problem(approval, approval.decided_by, approval.decided_by_name)


def person_problem(approval: ApprovalRequest, approver: User | None, name: str = "") -> str:
    """Return why a person may not approve a request, as a sentence, or ""."""
    requester = approval.requested_by
    if requester is None:
        return f"The account of {approval.requested_by_name} no longer exists."
    if approver is None:
        return f"The account of {name} no longer exists."
    permission = PERMISSIONS[ApprovalKind(approval.kind)]
    if not approver.is_active or not approver.has_perm(permission):
        return f"{name or approver.get_username()} may not approve this."
    if not requester.is_active or not requester.has_perm(permission):
        return f"{approval.requested_by_name} may no longer make this change."
    if is_same_person(requester, approver):
        return "It’s your own request, or that of another account of yours. Ask another person."
    return ""


def is_same_person(user: User, other: User) -> bool:
    """Return whether two accounts belong to one person, as far as known.

    They do if they are the same account, have an e-mail address in common, or are connected to the
    same identity at the provider, even if the provider's address differs.
    """
    if user.pk == other.pk:
        return True
    if have_same_email(user, other):
        return True
    identities = SocialAccount.objects.filter(user=user).values("uid")
    return bool(SocialAccount.objects.filter(user=other, uid__in=identities).exists())


def may_publish_in_an_emergency(user: User) -> bool:
    needed = (MANAGE_APPROVALS, PERMISSIONS[ApprovalKind.PUBLISH])
    return all(user.has_perm(permission) for permission in needed)


def _emergency_refusal(operation: Operation, attempt: Attempt) -> str:
    """Return why an attempt may not be sent despite its emergency reason, or ""."""
    actor = _reloaded(operation.actor_id)
    if not (actor and actor.is_active and may_publish_in_an_emergency(actor)):
        return f"{operation.actor_name} may not publish without an approval."
    if attempt.number == 1:
        return ""
    first = operation.attempts.get(number=1).digest
    return "" if first and first == attempt.digest else CHANGED_SINCE


def _kind(operation: Operation) -> ApprovalKind:
    """Return the kind of an operation, by the ledger as it was just read."""
    match OperationKind(operation.kind):
        case OperationKind.UPDATE_SUBSCRIPTION:
            return ApprovalKind.WEBHOOK
        case OperationKind.CREATE_PAGE:
            return ApprovalKind.PAGE
    version = version_last_known(operation.page_id, operation.audience_id, operation.version_id)
    audience = audience_last_known(operation.page_id, operation.audience_id)
    live = audience.audience.published_version if audience else None
    return publish_kind(version.version if version else None, live)


def _is_subject(approval: ApprovalRequest, operation: Operation, digest: str) -> bool:
    """Return whether an operation is what was approved. `digest` is of the target as just read."""
    subject: dict[str, Any] = approval.subject
    if subject_digest(subject) != approval.digest:
        return False
    if operation.kind != OperationKind.PUBLISH_VERSION:
        return digest == approval.digest
    ids = [operation.page_id, operation.audience_id, operation.version_id]
    return bool(digest) and [*ids, digest] in subject.get("items", [])


def _is_used(approval: ApprovalRequest, operation: Operation) -> bool:
    """Return whether another operation made, or may have made, this change by the approval."""
    others = approval.operations.exclude(pk=operation.pk)
    # A request may cover several publishes; any other kind covers one change.
    same = others.filter(version_id=operation.version_id, audience_id=operation.audience_id)
    return same.exclude(outcome__in=(Outcome.REJECTED, Outcome.NOT_SENT)).exists()
