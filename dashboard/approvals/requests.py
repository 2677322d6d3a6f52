"""Create, decide and end requests for another person's approval.

The caller decides what is approved (a release, a webhook, a page) and what follows from it.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.dispatch import Signal

from dashboard import clock
from dashboard.approvals.models import MAX_NOTE, ApprovalKind, ApprovalRequest, RequestState, expiry
from dashboard.approvals.rule import (
    current_rule,
    may_publish_in_an_emergency,
    person_problem,
    subject_digest,
)
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.ledger.models.operations import actor_name
from dashboard.texts import storage_problem

approval_requested = Signal()
"""A request was made. Argument: `approval`, as for the two signals below. All are sent by
`send_robust`, like those of the ledger, in the transaction that records the event."""
approval_decided = Signal()
"""It was approved or declined."""
approval_ended = Signal()
"""It was withdrawn, expired or became void."""


class ApprovalError(Exception):
    """Invalid input, or a decision that is no longer possible: nothing was changed.

    `str(error)` is a sentence for the user, `field` the name of the input it belongs to, or "".
    """

    def __init__(self, sentence: str, *, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


def create_request(
    kind: ApprovalKind,
    *,
    title: str,
    subject: Mapping[str, Any],
    note: str,
    user: User,
    operation_key: str | None = None,
    by_program: str = "",
) -> ApprovalRequest:
    """Record a request.

    Raises ApprovalError if the note is invalid, IntegrityError if the key is taken.
    """
    now = clock.now()
    with transaction.atomic():
        approval = ApprovalRequest.objects.create(
            kind=kind,
            title=title,
            note=valid_note(note),
            subject=subject,
            digest=subject_digest(subject),
            operation_key=operation_key,
            requested_by=user,
            requested_by_name=actor_name(user),
            by_program=by_program,
            requested_at=now,
            expires_at=expiry(now, current_rule().days),
        )
        _add_to_feed(approval, user.pk)
        approval_requested.send_robust(sender=ApprovalRequest, approval=approval)
    return approval


def valid_note(note: str) -> str:
    note = note.strip()
    if problem := storage_problem("note", note, MAX_NOTE):
        raise ApprovalError(problem, field="note")
    return note


def valid_emergency_reason(user: User, reason: str) -> str:
    """Return a user's reason for publishing without an approval, without spacing around it.

    Raises ApprovalError if the user may not do so, or gives no valid reason.
    """
    if not may_publish_in_an_emergency(user):
        raise ApprovalError("Only administrators can publish without an approval.")
    if not reason.strip():
        sentence = "Not sent. Enter why it can’t wait for an approval."
        raise ApprovalError(sentence, field="emergency_reason")
    try:
        return valid_note(reason)
    except ApprovalError as error:
        raise ApprovalError(str(error), field="emergency_reason") from error


@contextmanager
def locked(approval: ApprovalRequest) -> Iterator[ApprovalRequest]:
    """Lock an open request for a decision. Raises ApprovalError if it isn't open or has expired."""
    with transaction.atomic():
        approval.refresh_from_db(from_queryset=ApprovalRequest.objects.select_for_update())
        if not approval.is_open:
            raise ApprovalError(f"{ended_sentence(approval)} Nothing was changed.")
        if approval.has_expired(clock.now()):
            raise ApprovalError("The request expired. Nothing was changed.")
        yield approval


def record_decision(
    approval: ApprovalRequest, user: User, *, is_approved: bool, note: str, displayed_digest: str
) -> None:
    """Record the decision on a request, within `locked`.

    `displayed_digest` is the digest of the request that the user saw. Raises ApprovalError if it
    differs from the request's own, if the user may not decide, or if the note is invalid or
    missing.
    """
    if problem := person_problem(approval, user):
        raise ApprovalError(problem)
    note = valid_note(note)
    if not is_approved and not note:
        raise ApprovalError("Enter the reason why you decline.", field="note")
    if displayed_digest != approval.digest:
        raise ApprovalError("This isn’t the request that you opened. Review it again.")
    approval.state = RequestState.APPROVED if is_approved else RequestState.DECLINED
    approval.decided_by, approval.decided_by_name = user, actor_name(user)
    approval.decided_at, approval.decision_note = clock.now(), note
    columns = ["state", "decided_by", "decided_by_name", "decided_at", "decision_note"]
    approval.save(update_fields=columns)
    _add_to_feed(approval, user.pk)
    approval_decided.send_robust(sender=ApprovalRequest, approval=approval)


def end_request(
    approval: ApprovalRequest | None,
    state: RequestState,
    reason: str,
    differences: Iterable[Mapping[str, str]] = (),
) -> None:
    """Record that a request is withdrawn, expired or void, so nothing more is sent for it.

    Does nothing if there is no request, or if it was ended or declined before. `reason` is a
    sentence.
    """
    if approval is None:
        return
    with transaction.atomic():
        approval.refresh_from_db(from_queryset=ApprovalRequest.objects.select_for_update())
        if approval.state not in (RequestState.OPEN, RequestState.APPROVED):
            return
        approval.state, approval.ended_at, approval.end_reason = state, clock.now(), reason
        approval.differences = [dict(difference) for difference in differences]
        approval.save(update_fields=["state", "ended_at", "end_reason", "differences"])
        _add_to_feed(approval)
        approval_ended.send_robust(sender=ApprovalRequest, approval=approval)


def _add_to_feed(approval: ApprovalRequest, actor_id: int | None = None) -> None:
    feed.add(FeedEntry(kind=FeedKind.APPROVAL, object_id=str(approval.pk), actor_id=actor_id))


def ended_sentence(approval: ApprovalRequest) -> str:
    match approval.state:
        case RequestState.APPROVED:
            return f"{approval.decided_by_name} already approved it."
        case RequestState.DECLINED:
            return f"{approval.decided_by_name} declined it."
    return approval.end_reason
