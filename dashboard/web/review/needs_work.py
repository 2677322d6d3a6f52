"""Record what needs work: a comment on the audience, and who is to take care of it."""

from typing import Any

from django.contrib.auth.models import User
from django.http import QueryDict

from dashboard import clock
from dashboard.comments.assignees import assign
from dashboard.comments.mentions import find_names, people
from dashboard.comments.models import Comment, TargetKind
from dashboard.comments.threads import add_comment, delete_comment, new_thread
from dashboard.notifications.comment_notices import (
    drop_notices,
    waiting_assignment,
    waiting_mentions,
)
from dashboard.notifications.recording import drop_events
from dashboard.review.decisions import NOTICE_AFTER, DecidedError, DecisionBasis
from dashboard.review.models import ReviewDecision
from dashboard.web.ui.query_params import int_param


def named_accounts(form: QueryDict) -> set[int]:
    """Return the ids of the accounts that a sent form mentions or assigns."""
    comment = form.get("comment", "")
    mentioned = find_names(comment, people()).users if "@" in comment else {}
    return {*mentioned, int_param(form.get("assignee", ""))}


def needs_work(
    basis: DecisionBasis, author: User, body: str, assignee_id: int | None
) -> dict[str, Any]:
    """Comment on an audience and assign it; return the columns of the decision.

    Users are notified after NOTICE_AFTER, as it may be undone before. Raises CommentError, or
    DecidedError if the account can't be assigned.
    """
    record, version, notify_at = basis.record, basis.version, clock.now() + NOTICE_AFTER
    thread = new_thread(
        TargetKind.AUDIENCE,
        record.page_id,
        record.audience_id,
        version_id=version.version_id if version else "",
        version_number=version.version_number if version else None,
    )
    comment = add_comment(author, thread, body)
    waiting_mentions(comment).update(wake_at=notify_at)
    columns: dict[str, Any] = {"comment_id": comment.pk}
    if assignee_id is not None:
        user = User.objects.filter(pk=assignee_id, is_active=True).first()
        if user is None:
            raise DecidedError("This person can’t be assigned. Nothing was decided.")
        if assign(author, [(record.page_id, record.audience_id)], user):
            waiting = waiting_assignment(user.pk, record.page_id, record.audience_id)
            waiting.update(wake_at=notify_at)
            columns |= {"assignee": user, "assignee_before": record.assignee}
    return columns


def undo_needs_work(decision: ReviewDecision) -> str:
    """Take back the comment, and the notices that wait. `undo` restores the assignee.

    Returns the words of the comment.
    """
    comment = Comment.objects.filter(pk=decision.comment_id or 0).first()
    if comment and decision.user:
        # It locks the thread: before the notices, as a reply does.
        delete_comment(decision.user, comment)
        drop_notices(comment)
    if decision.assignee_id:
        ids = (decision.assignee_id, decision.page_id, decision.audience_id)
        drop_events(waiting_assignment(*ids))
    return comment.body if comment else ""
