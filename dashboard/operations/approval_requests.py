"""Requests for the approval of another person: made, decided, ended.

What is approved, and what follows from it, is up to the caller: a release, a webhook, a page.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from dashboard.ledger.models import ApprovalRequest
from dashboard.ledger.models.approvals import MAX_NOTE, ApprovalKind, RequestState, expiry
from dashboard.ledger.models.operations import actor_name
from dashboard.operations.approvals import (
    current_rule,
    may_publish_in_an_emergency,
    person_problem,
    subject_digest,
)
from dashboard.operations.signals import approval_decided, approval_ended, approval_requested


class ApprovalError(Exception):
    """Invalid input, or a decision that is no longer possible: nothing was changed.

    `str(error)` is a sentence for the user, `field` the name of the input it belongs to, or "".
    """

    def __init__(self, sentence: str, *, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


def create_request(
    kind: ApprovalKind, *, title: str, subject: Mapping[str, Any], note: str, user: User
) -> ApprovalRequest:
    """Record a request. Raises ApprovalError if the note is too long."""
    now = timezone.now()
    with transaction.atomic():
        request = ApprovalRequest.objects.create(
            kind=kind,
            title=title,
            note=valid_note(note),
            subject=subject,
            digest=subject_digest(subject),
            requested_by=user,
            requested_by_name=actor_name(user),
            requested_at=now,
            expires_at=expiry(now, current_rule().days),
        )
        approval_requested.send_robust(sender=ApprovalRequest, request=request)
    return request


def valid_note(note: str) -> str:
    """Return a note without spacing around it. Raises ApprovalError if it is invalid."""
    note = note.strip()
    if len(note) > MAX_NOTE:
        sentence = f"The note has {len(note):,} characters. The maximum is {MAX_NOTE:,}."
        raise ApprovalError(sentence, field="note")
    if "\0" in note:  # PostgreSQL rejects it.
        raise ApprovalError("The note has a character that can’t be stored.", field="note")
    return note


def valid_emergency_reason(user: User, reason: str) -> str:
    """Return why a user publishes without an approval, without spacing around it.

    Raises ApprovalError if the user may not, or gives no reason.
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
def locked(request: ApprovalRequest) -> Iterator[ApprovalRequest]:
    """Lock an open request for a decision. Raises ApprovalError if it is not open any more."""
    with transaction.atomic():
        request.refresh_from_db(from_queryset=ApprovalRequest.objects.select_for_update())
        if not request.is_open:
            raise ApprovalError(f"{ended_sentence(request)} Nothing was changed.")
        if request.has_expired(timezone.now()):
            raise ApprovalError("The request expired. Nothing was changed.")
        yield request


def record_decision(
    request: ApprovalRequest, user: User, *, is_approved: bool, note: str, shown: str
) -> None:
    """Record the decision on a request, within `locked`; `shown` is the digest that was shown.

    Raises ApprovalError if this user may not decide it, or has seen something else.
    """
    if problem := person_problem(request, user):
        raise ApprovalError(problem)
    note = valid_note(note)
    if not is_approved and not note:
        raise ApprovalError("Enter the reason why you decline.", field="note")
    if shown != request.digest:
        raise ApprovalError("This isn’t the request that you opened. Review it again.")
    request.state = RequestState.APPROVED if is_approved else RequestState.DECLINED
    request.decided_by, request.decided_by_name = user, actor_name(user)
    request.decided_at, request.decision_note = timezone.now(), note
    request.save()
    approval_decided.send_robust(sender=ApprovalRequest, request=request)


def end_request(
    request: ApprovalRequest,
    state: RequestState,
    reason: str,
    differences: Iterable[Mapping[str, str]] = (),
) -> None:
    """Record that nothing more is sent by a request: it is withdrawn, expired or void.

    Nothing if it was ended or declined before. `reason` is a sentence.
    """
    with transaction.atomic():
        request.refresh_from_db(from_queryset=ApprovalRequest.objects.select_for_update())
        if request.state not in (RequestState.OPEN, RequestState.APPROVED):
            return
        request.state, request.ended_at, request.end_reason = state, timezone.now(), reason
        request.differences = [dict(each) for each in differences]
        request.save(update_fields=["state", "ended_at", "end_reason", "differences"])
        approval_ended.send_robust(sender=ApprovalRequest, request=request)


def ended_sentence(request: ApprovalRequest) -> str:
    """Return what became of a request that is not open any more, in a sentence."""
    match request.state:
        case RequestState.APPROVED:
            return f"{request.decided_by_name} already approved it."
        case RequestState.DECLINED:
            return f"{request.decided_by_name} declined it."
    return request.end_reason
