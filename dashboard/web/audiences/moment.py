"""What was live at a past moment, as far as it was recorded: one audience, or a list."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from dashboard.contract.audiences import AudienceVersion, text_of
from dashboard.ledger.models import Publication, VersionRecord
from dashboard.ledger.queries.audience_list import AudienceFilters, find_audiences
from dashboard.ledger.queries.audiences import publication_at, publications_at, version_last_known
from dashboard.ledger.queries.rows import read_in_steps
from dashboard.web.audiences.state import AudienceHead
from dashboard.web.ui.csv import Cell
from dashboard.web.ui.query_params import PAGE_SIZE, PastMoment


@dataclass(frozen=True)
class LiveAt:
    at: PastMoment
    publication: Publication | None
    record: VersionRecord | None
    """Record of the version; None if nothing was live or its text isn't recorded."""
    first: Publication | None
    """First recorded publication; None if there is none."""

    @property
    def is_before_first(self) -> bool:
        moment = self.at.moment
        return moment is not None and (self.first is None or moment < self.first.started_at)


@dataclass(frozen=True)
class MomentList:
    at: PastMoment
    filters: AudienceFilters
    """Filters, of which only the words and the pages apply."""
    rows: list[Publication]
    total: int
    others: int
    """Number of other matching audiences, which had nothing live as far as is recorded."""
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.rows)

    def url(self, **more: int) -> str:
        params: dict[str, Any] = {"at": self.at.text, "q": self.filters.words}
        params |= {"page": self.filters.pages} | more
        return "?" + urlencode({name: value for name, value in params.items() if value}, doseq=True)

    @property
    def next_url(self) -> str:
        return self.url(after=self.end) if self.end < self.total else ""


def live_at(head: AudienceHead, at: PastMoment) -> LiveAt:
    """Return what was live for an audience at a moment. Makes at most three queries."""
    ids = (head.page_id, head.audience_id)
    publication = publication_at(*ids, at.moment) if at.moment else None
    record = version_last_known(*ids, publication.version_id) if publication else None
    first = Publication.objects.filter(page_id=ids[0], audience_id=ids[1]).first()
    return LiveAt(at, publication, record, first)


def moment_list(at: PastMoment, filters: AudienceFilters, *, start: int) -> MomentList:
    """Return what was live at a moment, ordered by audience name. Makes three queries."""
    filters = AudienceFilters(words=filters.words, pages=filters.pages)
    publications = _publications(at.moment, filters)
    total = publications.count()
    others = max(find_audiences(filters).count() - total, 0)
    rows = list(publications[start : start + PAGE_SIZE])
    return MomentList(at, filters, rows, total, others, start)


def exported_publications(at: PastMoment, filters: AudienceFilters) -> Iterator[Any]:
    """Yield the publication of each audience that had a version live at a moment.

    Each has the stored `body` of its version, or None. If the moment can't be used, yield the
    problem instead.
    """
    if at.moment is None:
        yield at.problem
        return
    ids = {name: OuterRef(name) for name in ("page_id", "audience_id", "version_id")}
    body = Subquery(VersionRecord.objects.filter(**ids).values("body"))
    for publication in read_in_steps(_publications(at.moment, filters).annotate(body=body)):
        publication.at = at.moment
        yield publication


def _publications(moment: datetime | None, filters: AudienceFilters) -> QuerySet[Publication]:
    if moment is None:
        return Publication.objects.none()
    publications = publications_at(moment)
    if filters.pages:
        publications = publications.filter(page_id__in=filters.pages)
    if filters.words:
        ids = {"page_id": OuterRef("page_id"), "audience_id": OuterRef("audience_id")}
        publications = publications.filter(Exists(find_audiences(filters).filter(**ids)))
    return publications.order_by("audience_name", "pk")


def _text(publication: Any) -> str:
    """Return the text of a publication's version; empty if there is none or it isn't recorded."""
    if publication.body is None:
        return ""
    return text_of(AudienceVersion.from_json(publication.body))


EXPORT = (
    Cell("Page", "page_id"),
    Cell("Page name", "page_name"),
    Cell("Audience", "audience_id"),
    Cell("Name", "audience_name"),
    Cell("Live at", "at"),
    Cell("Live version", "version_number"),
    Cell("Since", "started_at"),
    Cell("Until", "ended_at"),
    Cell("First seen", "seen_at"),
    Cell("Text", _text),
)
