"""What others have just done to the rows of a list."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from dashboard import clock
from dashboard.accounts.permissions import AuthenticatedRequest
from dashboard.ledger.models.publications import Publication, PublicationReason
from dashboard.ledger.queries.audiences import live_publications
from dashboard.web.live.here import KeyedRow

RECENT = timedelta(minutes=2)
"""How long a row says who published it. Source: our choice."""


class _PublishedRow(KeyedRow, Protocol):
    live_since: datetime | None


@dataclass(frozen=True)
class RecentAct:
    words: str
    actor_name: str
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
        keys[ids]: RecentAct(_words(publication), publication.actor_name, publication.seen_at)
        for ids, publication in publications.items()
        if _is_by_somebody_else(publication, request.user.pk)
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
