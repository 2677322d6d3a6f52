"""Audience flags of each page, denormalised on PageRecord: the page list is filtered by them.

Computing them from the audiences took most of the list's time.
"""

from collections.abc import Iterable

from django.db.models import Exists, F, OuterRef, Q

from dashboard.contract.audiences import VersionStatus
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.audiences import IN_FLIGHT

AUDIENCE_FLAGS: dict[str, Q] = {
    "live": ~Q(live_version_id=""),
    "not-live": Q(live_version_id=""),
    "changed": ~Q(live_version_id="")
    & ~Q(latest_version_id="")
    & ~Q(latest_version_id=F("live_version_id"))
    & ~Q(latest_status__in=(VersionStatus.CANCELLED, *IN_FLIGHT)),
    "in-flight": Q(latest_status__in=IN_FLIGHT),
}
"""Conditions on an audience, by name: it has a live version, or none; its latest version is neither
the live one nor canceled nor in flight; its latest version is in flight."""


def flag_column(flag: str) -> str:
    """Return the column of PageRecord for one of AUDIENCE_FLAGS: whether any audience has it."""
    return f"any_{flag.replace('-', '_')}"


def update_page_flags(page_ids: Iterable[str] | None = None) -> int:
    """Update the flags of these pages, or of all; one query.

    Returns the number of pages whose flags changed; no other is written.
    """
    audiences = AudienceRecord.objects.filter(page_id=OuterRef("page_id"))
    flags = {flag_column(name): Exists(audiences.filter(q)) for name, q in AUDIENCE_FLAGS.items()}
    pages = PageRecord.objects.all()
    if page_ids is not None:
        pages = pages.filter(page_id__in=page_ids)
    return pages.exclude(**flags).update(**flags)
