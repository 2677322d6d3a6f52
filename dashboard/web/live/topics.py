"""The topics of a poll: what changed, with ids that the regions of a page name, too.

A region names the start of a topic: "audience:page_1" covers all audiences of that page.
"""

from collections.abc import Iterable
from urllib.parse import quote

from dashboard.accounts.permissions import (
    MANAGE_DELIVERIES,
    UPDATE_SUBSCRIPTION,
    AuthenticatedRequest,
    may,
)
from dashboard.ledger.feed import visible_to
from dashboard.ledger.models import FeedEntry
from dashboard.ledger.models.feed import FeedKind

PERMISSIONS = {FeedKind.SERVICE: UPDATE_SUBSCRIPTION, FeedKind.TARGET: MANAGE_DELIVERIES}
"""Permissions of the kinds that not everybody may open, as on the views of their pages. Users may
open their own."""
EVERYTHING = "*"
"""The topic that makes all regions refresh."""
MAX_CHARACTERS = 900
"""If there are more, all regions refresh: a response has at most 2 KB. Source: our choice."""


def topics_for(request: AuthenticatedRequest, entries: Iterable[FeedEntry]) -> str:
    """Return the topics of what the user may open, separated by spaces."""
    user_id = request.user.pk
    entries = visible_to(entries, user_id)
    denied = {
        kind
        for kind in PERMISSIONS.keys() & {entry.kind for entry in entries}
        if not may(request, PERMISSIONS[kind])
    }
    topics = {
        name
        for entry in entries
        if entry.user_id or entry.kind not in denied
        # Users aren't shown their own presence.
        if (entry.kind, entry.actor_id) != (FeedKind.PRESENCE, user_id)
        for name in _topics(entry)
    }
    text = " ".join(sorted(topics))
    return text if len(text) <= MAX_CHARACTERS else EVERYTHING


def topic(kind: str, *ids: str) -> str:
    """Return a topic. Its ids are percent-encoded, so it has no spaces."""
    return ":".join([kind, *(quote(name, safe="") for name in ids if name)])


def presence_topic(place: str) -> str:
    """Return the topic of who is at a place. The ids in `place` are already encoded."""
    return f"{FeedKind.PRESENCE}:{place}"


def _topics(entry: FeedEntry) -> Iterable[str]:
    """Yield the topics of a change. A publish is about its audience, too."""
    if entry.kind == FeedKind.RIGHTS:
        yield EVERYTHING
    elif entry.kind in (FeedKind.PRESENCE, FeedKind.COMMENT):
        yield f"{entry.kind}:{entry.object_id}"
    elif entry.kind not in (FeedKind.PAGE, FeedKind.AUDIENCE):
        yield topic(entry.kind, entry.object_id)
    if entry.audience_id:
        yield topic(FeedKind.AUDIENCE, entry.page_id, entry.audience_id)
    elif entry.page_id or entry.kind == FeedKind.PAGE:
        yield topic(FeedKind.PAGE, entry.page_id)
