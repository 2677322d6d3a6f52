"""What others have just done to the rows of a list, and which rows are unchanged."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from django.http import HttpRequest

from dashboard import clock
from dashboard.accounts.permissions import AuthenticatedRequest
from dashboard.ledger.models.feed import FeedKind
from dashboard.ledger.models.publications import Publication, PublicationReason
from dashboard.ledger.queries.audiences import live_publications
from dashboard.web.live.here import KeyedRow
from dashboard.web.live.topics import topic
from dashboard.web.ui.htmx import TOPICS, keys_on_screen

RECENT = timedelta(minutes=2)
"""How long a row says who published it. Source: our choice."""

RENDERED = timedelta(hours=1)
"""How long each refresh renders a published row: it may say who published it. Our choice."""


class _PublishedRow(KeyedRow, Protocol):
    live_since: datetime | None


@dataclass(frozen=True)
class RecentAct:
    words: str
    at: datetime


def recent_acts(
    request: AuthenticatedRequest, rows: Iterable[_PublishedRow]
) -> dict[str, RecentAct]:
    """Return recent publishes by others, by row key. One query if a row was just published."""
    since = clock.now() - RECENT
    keys = {
        (row.page_id, row.audience_id): row.key
        for row in rows
        if row.live_since and row.live_since > since
    }
    publications = live_publications(keys) if keys else {}
    return {
        keys[ids]: RecentAct(_words(publication), publication.seen_at)
        for ids, publication in publications.items()
        if _is_by_somebody_else(publication, request.user.pk)
    }


def unchanged_rows(request: HttpRequest, rows: Iterable[_PublishedRow]) -> set[str]:
    """Return the keys of the rows that an open list already shows correctly.

    They are sent without content: rendering all rows is most of the cost of a refresh.
    """
    changed = set(request.headers.get(TOPICS, "").split())
    # A topic without ids, or of another kind, may be about any row.
    if not changed or not all(name.startswith(("page:", "audience:")) for name in changed):
        return set()
    on_screen, rendered_since = set(keys_on_screen(request, "audience-")), clock.now() - RENDERED
    return {
        row.key
        for row in rows
        if row.key in on_screen
        and not (row.live_since and row.live_since > rendered_since)
        and topic(FeedKind.PAGE, row.page_id) not in changed
        and topic(FeedKind.AUDIENCE, row.page_id, row.audience_id) not in changed
    }


def _is_by_somebody_else(publication: Publication, user_id: int) -> bool:
    if publication.operation:
        return publication.operation.actor_id != user_id
    return publication.reason == PublicationReason.OUTSIDE


def _words(publication: Publication) -> str:
    did = "rolled back to" if publication.reason == PublicationReason.ROLLBACK else "published"
    if publication.actor_name:
        return f"{publication.actor_name} {did} {publication.version_number}"
    return f"Version {publication.version_number} went live"
