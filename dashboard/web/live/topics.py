"""The topics of a poll: what changed, by ids that the regions of a page name, too.

A region names topics by their beginning: "audience:page_1" is about all audiences of that page.
"""

from collections.abc import Iterable
from urllib.parse import quote

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, AuthenticatedRequest, may
from dashboard.ledger.feed import visible_to
from dashboard.ledger.models import FeedEntry
from dashboard.ledger.models.feed import FeedKind

PERMISSIONS = {FeedKind.SERVICE: UPDATE_SUBSCRIPTION}
"""What a kind needs that not everybody may open, as on the views of its pages."""
EVERYTHING = "*"
"""All regions fetch themselves again."""
MAX_CHARACTERS = 900
"""With more, all regions fetch themselves: a response has 2 KB at most. Source: our choice."""


def topics_for(request: AuthenticatedRequest, entries: Iterable[FeedEntry]) -> str:
    """Return the topics of what the user may open, separated by spaces."""
    user_id = request.user.pk
    denied = {kind for kind, permission in PERMISSIONS.items() if not may(request, permission)}
    topics = {
        name
        for entry in visible_to(entries, user_id)
        # Nobody is shown where they are themselves.
        if entry.kind not in denied and (entry.kind, entry.actor_id) != (FeedKind.PRESENCE, user_id)
        for name in _topics(entry)
    }
    text = " ".join(sorted(topics))
    return text if len(text) <= MAX_CHARACTERS else EVERYTHING


def topic(kind: str, *ids: str) -> str:
    """Return a topic without spaces: ids may have any characters."""
    return ":".join([kind, *(quote(name, safe="") for name in ids if name)])


def presence_topic(place: str) -> str:
    """Return the topic of who is at a place, whose ids are encoded already."""
    return f"{FeedKind.PRESENCE}:{place}"


def _topics(entry: FeedEntry) -> Iterable[str]:
    """Yield what a change is about: a publish is about its audience, too."""
    if entry.kind == FeedKind.PRESENCE:
        yield presence_topic(entry.object_id)
    elif entry.kind not in (FeedKind.PAGE, FeedKind.AUDIENCE):
        yield topic(entry.kind, entry.object_id)
    if entry.audience_id:
        yield topic(FeedKind.AUDIENCE, entry.page_id, entry.audience_id)
    elif entry.page_id or entry.kind == FeedKind.PAGE:
        yield topic(FeedKind.PAGE, entry.page_id)
