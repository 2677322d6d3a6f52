"""Retry operations of unknown outcome, after reading their target again.

An attempt without a response may have taken effect since, and the target may have changed. So the
operation is settled if the target proves its outcome, and reasons against a retry are reported.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User

from dashboard import clock
from dashboard.approvals.changes import digest_now
from dashboard.client import APIError
from dashboard.contract.webhooks import SubscriptionPatch
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import begin_retry, settle
from dashboard.ledger.queries.operations import later_update_bodies
from dashboard.operations.checking import PublishTarget, settle_from_snapshot
from dashboard.operations.execution import send
from dashboard.operations.publish_review import PublishReview, review_publish
from dashboard.operations.verdicts import subscription_verdict
from dashboard.service.subscriptions import fetch_subscription, record_if_listed

CHANGED_BACK = "its fields are unchanged, but updatedAt isn’t: it was changed and changed back"


def resend(operation: Operation, *, actor: User, digest: str = "") -> Operation:
    """Send an operation again with the same key and body, unless it has been settled.

    `digest` is the hash of its target as read just before.
    """
    attempt = begin_retry(operation, actor=actor, digest=digest)
    if attempt is None:
        return Operation.objects.get(pk=operation.pk)
    return send(operation, attempt).operation


def resend_publish(operation: Operation, review: PublishReview, *, actor: User) -> Operation:
    digest = review.digest if operation.approval_id else review.content_digest
    return resend(operation, actor=actor, digest=digest)


def differs_from_sent(operation: Operation, review: PublishReview) -> bool:
    """Return whether the version or the live version changed since a publish was first sent.

    Always false for a publish with an approval.
    """
    first = operation.attempts.filter(number=1).values_list("digest", flat=True).first()
    return operation.approval_id is None and first != review.content_digest


def review_again(operation: Operation) -> tuple[Operation, PublishReview]:
    """Review a publish again, and settle it if the data proves its outcome.

    Raises APIError if the audience can't be read and was never seen.
    """
    review = review_publish(PublishTarget.of(operation), with_conversation=True)
    return settle_from_snapshot(operation, review.snapshot), review


def resend_update(operation: Operation, *, actor: User) -> Operation:
    """Send an update of a subscription again, unless the same fields were changed since.

    An update takes no key (spec), so a repeat could undo a later change.
    """
    read_at = clock.now()
    try:
        now = fetch_subscription(operation.subscription_id)
    except APIError as error:
        problem = f"not retried, as the webhook couldn’t be read. {error}"
        return settle(operation, Outcome.UNKNOWN, detail=problem)
    record_if_listed(operation.subscription_id, now, read_at=read_at)
    body, current = operation.body_sent or {}, now.to_wire()
    verdict = subscription_verdict(body_sent=body, before=operation.before, now=current)
    if verdict.outcome != Outcome.UNKNOWN:
        return settle(operation, verdict.outcome, detail=verdict.detail)
    later = later_update_bodies(operation)
    since = list(_changes_since(body, operation.before, current, later))
    try:
        if not since and not later and _was_changed_back(operation, current):
            since = [CHANGED_BACK]
    except APIError as error:
        since = [f"a second read failed. {error}"]
    if since:
        problem = f"not retried: {'; '.join(since)}"
        return settle(operation, Outcome.UNKNOWN, detail=problem)
    return resend(operation, actor=actor, digest=digest_now(operation, now))


def resend_page(operation: Operation, *, actor: User) -> Operation:
    """Send the creation of a page again. It may create a second one, so the caller checks first."""
    return resend(operation, actor=actor, digest=digest_now(operation))


def _was_changed_back(operation: Operation, now: Mapping[str, Any]) -> bool:
    """Return whether an unchanged subscription was changed and changed back meanwhile.

    If so, its `updatedAt` has moved. Reading may move it, too (the spec doesn't say); then a second
    read moves it again. Raises APIError.
    """
    before = operation.before or {}
    is_unchanged = all(before.get(name) == now.get(name) for name in SubscriptionPatch.model_fields)
    if not is_unchanged or before.get("updatedAt") in (None, now.get("updatedAt")):
        return False
    return fetch_subscription(operation.subscription_id).updated_at == now.get("updatedAt")


def _changes_since(
    body: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    now: Mapping[str, Any],
    later: Iterable[Mapping[str, Any]],
) -> Iterator[str]:
    """Describe the later changes of each field in `body`. All values are as on the wire. Pure.

    `later` has the bodies of later updates. A field that was changed and changed back looks
    unchanged, but must not be overwritten.
    """
    changed_later = {name for other in later for name in other}
    for name in body:
        is_now = f"{name} is now {json.dumps(now.get(name), ensure_ascii=False)}"
        if not before or name not in before:
            yield f"{is_now}; its earlier value is unknown"
        elif before[name] != now.get(name):
            yield f"{is_now}; it was {json.dumps(before[name], ensure_ascii=False)} before"
        elif name in changed_later:
            yield f"{is_now}; a later update changed it too"
