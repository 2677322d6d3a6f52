"""How the audiences of each page stand, kept on the page's own record.

A list of pages is narrowed by it, and to ask it of every page's audiences anew took most of the
list's time.
"""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef

from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.queries.audiences import STANDINGS


def column_of(standing: str) -> str:
    """Return the column of PageRecord that says whether an audience stands so (STANDINGS)."""
    return f"any_{standing.replace('-', '_')}"


def note_standings(page_ids: Iterable[str] | None = None) -> int:
    """Write down how the audiences of these pages stand now, or of all pages; one query.

    Returns how many pages said otherwise: no other is written.
    """
    of_page = AudienceRecord.objects.filter(page_id=OuterRef("page_id"))
    now = {column_of(name): Exists(of_page.filter(so)) for name, so in STANDINGS.items()}
    pages = PageRecord.objects.all()
    if page_ids is not None:
        pages = pages.filter(page_id__in=page_ids)
    return pages.exclude(**now).update(**now)
