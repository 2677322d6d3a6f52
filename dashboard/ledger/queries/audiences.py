"""Audiences and versions as last seen."""

from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, When

from dashboard.ledger.models import AudienceRecord, PageRecord, VersionRecord

IN_FLIGHT = ("pending", "queued", "processing")
"""Version statuses that are on their way to live."""
STANDINGS: dict[str, Q] = {
    "live": ~Q(live_version_id=""),
    "not-live": Q(live_version_id=""),
    "changed": ~Q(live_version_id="")
    & ~Q(latest_version_id="")
    & ~Q(latest_version_id=F("live_version_id")),
    "in-flight": Q(latest_status__in=IN_FLIGHT),
}
"""How an audience stands: a version is live, or none; the latest is another than the live one; the
latest is on its way."""
_NEWEST_FIRST = F("created_at").desc(nulls_last=True)
"""Those without a date last, as PostgreSQL by itself would not have them."""


def audience_last_known(page_id: str, audience_id: str) -> AudienceRecord | None:
    """Return an audience as last seen, or None."""
    return AudienceRecord.objects.filter(page_id=page_id, audience_id=audience_id).first()


def audiences_last_known(page_id: str) -> QuerySet[AudienceRecord]:
    """Return the audiences of a page as last seen, in the order the service gives: newest first."""
    return AudienceRecord.objects.filter(page_id=page_id).order_by(_NEWEST_FIRST, "-audience_id")


def audiences_of_person(person_id: str) -> QuerySet[AudienceRecord]:
    """Return the audiences made for a person, on any page, newest first; each has `page_name`.

    An audience's `prospectId` is taken to be a person's `personId`: both look alike (spec).
    """
    if not person_id:
        # An audience without a prospect has an empty one too.
        return AudienceRecord.objects.none()
    page = PageRecord.objects.filter(page_id=OuterRef("page_id"))
    found = AudienceRecord.objects.filter(prospect_id=person_id)
    return found.annotate(page_name=Subquery(page.values("name")[:1])).order_by(
        _NEWEST_FIRST, "-pk"
    )


def audiences_in_flight() -> QuerySet[AudienceRecord]:
    """Return the audiences whose latest version is on its way, those seen to change last first.

    Pending ones come after the others: some stay pending for weeks.
    """
    waits = Case(When(latest_status="pending", then=1), default=0)
    found = AudienceRecord.objects.filter(latest_status__in=IN_FLIGHT)
    return found.order_by(waits, "-changed_at")


def versions_seen(page_id: str, audience_id: str) -> QuerySet[VersionRecord]:
    """Return every version ever seen of an audience, newest first."""
    return VersionRecord.objects.filter(page_id=page_id, audience_id=audience_id).order_by(
        "-version_number", "-pk"
    )


def version_last_known(page_id: str, audience_id: str, version_id: str) -> VersionRecord | None:
    """Return a version as last seen, or None."""
    if "\0" in version_id:  # PostgreSQL takes none even to look for.
        return None
    return versions_seen(page_id, audience_id).filter(version_id=version_id).first()
