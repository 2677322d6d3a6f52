"""Verdicts on the pending changes of a conversation."""

from collections.abc import Mapping

from dashboard.review.verdicts import JudgedChange, judged, verdicts_on
from dashboard.web.conversations.thread import ConversationThread


def verdicts_in(
    thread: ConversationThread, page_id: str, audience_id: str
) -> Mapping[str, JudgedChange]:
    """Return each pending change with its verdict by HTML id, in one query."""
    if not thread.pending:
        return {}
    changes = [pending.matched.change for pending in thread.pending]
    verdicts = judged(changes, verdicts_on(page_id, audience_id))
    return {
        pending.place: verdict for pending, verdict in zip(thread.pending, verdicts, strict=True)
    }
