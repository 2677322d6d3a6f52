"""Queries of audiences and versions as last seen."""

from datetime import datetime

from django.db.models import Case, F, OuterRef, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from dashboard.compiled_query import CompiledQuery
from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.dates import read_date
from dashboard.ledger.models import AudienceRecord, PageRecord, VersionRecord
from dashboard.ledger.models.audiences import IN_FLIGHT

_NEWEST_FIRST = F("created_at").desc(nulls_last=True)
"""Without a date last: PostgreSQL would put them first."""


def audience_last_known(page_id: str, audience_id: str) -> AudienceRecord | None:
    """Return an audience as last seen, or None."""
    return AudienceRecord.objects.filter(page_id=page_id, audience_id=audience_id).first()


def audiences_last_known(page_id: str) -> QuerySet[AudienceRecord]:
    """Return the audiences of a page as last seen, newest first as the service lists them."""
    return AudienceRecord.objects.filter(page_id=page_id).order_by(_NEWEST_FIRST, "-audience_id")


def audiences_of_person(person_id: str) -> QuerySet[AudienceRecord]:
    """Return the audiences made for a person, on any page, newest first; each has `page_name`.

    An audience's `prospectId` is assumed to be a `personId`: both have the same form (spec).
    """
    if not person_id:
        # The id of audiences without a prospect is empty, too.
        return AudienceRecord.objects.none()
    page = PageRecord.objects.filter(page_id=OuterRef("page_id"))
    found = AudienceRecord.objects.filter(prospect_id=person_id)
    return found.annotate(page_name=Subquery(page.values("name")[:1])).order_by(
        _NEWEST_FIRST, "-pk"
    )


def in_progress_since(version: AudienceVersion | None) -> datetime | None:
    """Return since when a version is in progress; None if it is not, or no date says so.

    A pending one is in progress since its creation, any other since it was queued.
    """
    if version is None or version.status not in IN_FLIGHT:
        return None
    created_at = version.created_at if version.status == "pending" else None
    return read_date(version.queued_at) or read_date(created_at)


def first_seen_in_progress(page_id: str, audience_id: str) -> datetime | None:
    """Return since when an audience's latest version is in progress, by the ledger."""
    record = audience_last_known(page_id, audience_id)
    return record.in_progress_since if record else None


def audiences_in_flight() -> QuerySet[AudienceRecord]:
    """Return the audiences whose latest version is in flight, latest start first.

    Each has `since`: its start, or else its last seen change. Pending ones come last.
    """
    waits = Case(When(latest_status="pending", then=1), default=0)
    found = AudienceRecord.objects.filter(latest_status__in=IN_FLIGHT)
    return found.annotate(since=Coalesce("in_progress_since", "changed_at")).order_by(
        waits, "-since", "-pk"
    )


def versions_seen(page_id: str, audience_id: str) -> QuerySet[VersionRecord]:
    """Return every version ever seen of an audience, newest first."""
    return VersionRecord.objects.filter(page_id=page_id, audience_id=audience_id).order_by(
        "-version_number", "-pk"
    )


def versions_in_progress(page_id: str, since: datetime) -> dict[str, datetime]:
    """Return audiences of a page with a version seen in progress after `since`, and when.

    Of any version: the service returns only the latest and the live one, so an earlier one that
    is published again is not returned until it is live.
    """
    seen = _IN_PROGRESS.rows(page_id)
    return {row.audience_id: row.last_seen_at for row in seen if row.last_seen_at > since}


_IN_PROGRESS = CompiledQuery(
    lambda page_id: VersionRecord.objects.filter(page_id=page_id, status__in=IN_FLIGHT).values_list(
        "audience_id", "last_seen_at", named=True
    )
)


def version_last_known(page_id: str, audience_id: str, version_id: str) -> VersionRecord | None:
    """Return a version as last seen, or None."""
    if "\0" in version_id:  # PostgreSQL rejects NUL even in a filter.
        return None
    return versions_seen(page_id, audience_id).filter(version_id=version_id).first()
