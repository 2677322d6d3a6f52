"""Record what needs work as a comment on the audience."""

from django.contrib.auth.models import User

from dashboard.comments.models import Comment, TargetKind
from dashboard.comments.threads import ThreadTarget, begin_thread, delete_comment
from dashboard.notifications.comment_notices import delay_mentions, drop_notices
from dashboard.review.decisions import NOTICE_AFTER, DecisionBasis
from dashboard.review.models import ReviewDecision


def comment_on(basis: DecisionBasis, author: User, body: str) -> Comment:
    """Comment on an audience. Mentioned users are notified after a delay. Raises CommentError."""
    record, version = basis.record, basis.version
    target = ThreadTarget(
        TargetKind.AUDIENCE,
        record.page_id,
        record.audience_id,
        version_id=version.version_id if version else "",
        version_number=version.version_number if version else None,
    )
    comment = begin_thread(author, target, body)
    delay_mentions(comment, NOTICE_AFTER)
    return comment


def take_back_comment(decision: ReviewDecision) -> None:
    comment = Comment.objects.filter(pk=decision.comment_id or 0).first()
    if comment and decision.user:
        drop_notices(comment)
        delete_comment(decision.user, comment)
