"""Queries of audiences, their versions and publications, and what was rolled back.

All screens, exports and notifications that show what is or was live use these.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from dashboard.compiled_query import compiled
from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.wire import read_date
from dashboard.ledger.models import AudienceRecord, PageRecord, Publication, VersionRecord
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.queries.rows import AudienceKey

_IDS = {"page_id": OuterRef("page_id"), "audience_id": OuterRef("audience_id")}
_LIVE = Publication.objects.filter(**_IDS, ended_at=None)
_IN_FLIGHT = VersionRecord.objects.filter(**_IDS, status__in=IN_FLIGHT).order_by("-last_seen_at")
AUDIENCE_TIMES = {
    "live_since": Subquery(_LIVE.values("started_at")[:1]),
    "is_live_since_seen": Subquery(_LIVE.values("is_start_seen")[:1]),
    "seen_in_flight_at": Subquery(_IN_FLIGHT.values("last_seen_at")[:1]),
}
"""Columns of an audience in a list: since when its version is live, whether that is only when it
was seen, and when a version was last seen in flight. The service returns only the latest and the
live version, so an earlier one that is published again is not returned until it is live."""
_NEWEST_FIRST = F("created_at").desc(nulls_last=True)
"""Rows without a date come last; PostgreSQL would put them first."""
HISTORY_BEGINS = (PublicationReason.FIRST_SEEN, PublicationReason.AFTER_RESTORE)
"""Reasons of publications before which others may be missing."""


def of_audiences(keys: Iterable[AudienceKey]) -> Q:
    """Match rows of these audiences, and of others that combine the same ids."""
    page_ids, audience_ids = set(), set()
    for page_id, audience_id in keys:
        page_ids.add(page_id)
        audience_ids.add(audience_id)
    return Q(page_id__in=page_ids, audience_id__in=audience_ids)


def audience_last_known(page_id: str, audience_id: str) -> AudienceRecord | None:
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
    audiences = AudienceRecord.objects.filter(prospect_id=person_id)
    return audiences.annotate(page_name=Subquery(page.values("name")[:1])).order_by(
        _NEWEST_FIRST, "-pk"
    )


def in_progress_since(version: AudienceVersion | None) -> datetime | None:
    """Return since when a version is in progress; None if it isn't, or has no such date.

    A pending version is in progress since its creation, any other since it was queued.
    """
    if version is None or version.status not in IN_FLIGHT:
        return None
    created_at = version.created_at if version.status == "pending" else None
    return read_date(version.queued_at) or read_date(created_at)


def first_seen_in_progress(page_id: str, audience_id: str) -> datetime | None:
    record = audience_last_known(page_id, audience_id)
    return record.in_progress_since if record else None


def audiences_in_flight() -> QuerySet[AudienceRecord]:
    """Return the audiences whose latest version is in flight, latest start first.

    Each has `since`: its start, or else its last seen change. Pending ones come last.
    """
    waits = Case(When(latest_status="pending", then=1), default=0)
    audiences = AudienceRecord.objects.filter(latest_status__in=IN_FLIGHT)
    return audiences.annotate(since=Coalesce("in_progress_since", "changed_at")).order_by(
        waits, "-since", "-pk"
    )


def versions_in_flight() -> QuerySet[VersionRecord]:
    """Return the versions in flight, last seen first.

    Includes those that are neither the latest nor the live version of their audience. The service
    doesn't return these until they are live.
    """
    return VersionRecord.objects.filter(status__in=IN_FLIGHT).order_by("-last_seen_at", "-pk")


def versions_seen(page_id: str, audience_id: str) -> QuerySet[VersionRecord]:
    return VersionRecord.objects.filter(page_id=page_id, audience_id=audience_id).order_by(
        "-version_number", "-pk"
    )


class LiveStatusRow(NamedTuple):
    audience_id: str
    live_status: str
    live_since: datetime | None
    is_live_since_seen: bool | None
    seen_in_flight_at: datetime | None


def audience_states(page_id: str) -> dict[str, LiveStatusRow]:
    return {row.audience_id: row for row in _states.rows(page_id)}


@compiled(LiveStatusRow._make)
def _states(page_id: str) -> "QuerySet[AudienceRecord, Any]":
    audiences = AudienceRecord.objects.filter(page_id=page_id).annotate(**AUDIENCE_TIMES)
    return audiences.values_list(*LiveStatusRow._fields)


def version_last_known(page_id: str, audience_id: str, version_id: str) -> VersionRecord | None:
    if "\0" in version_id:  # PostgreSQL rejects NUL even in a filter.
        return None
    return versions_seen(page_id, audience_id).filter(version_id=version_id).first()


def find_version(
    audience: Audience, page_id: str, audience_id: str, version_id: str
) -> AudienceVersion | None:
    """Return a version as read if it is the latest or the live one, else as last known."""
    for version in (audience.latest_version, audience.published_version):
        if version and version.version_id == version_id:
            return version
    record = version_last_known(page_id, audience_id, version_id)
    return record.version if record else None


def live_publication(page_id: str, audience_id: str) -> Publication | None:
    return live_publications([(page_id, audience_id)]).get((page_id, audience_id))


def live_publications(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Publication]:
    keys = set(keys)
    live = Publication.objects.filter(of_audiences(keys), ended_at=None).select_related("operation")
    by_key = {(publication.page_id, publication.audience_id): publication for publication in live}
    return {key: by_key[key] for key in keys & by_key.keys()}


def list_publications(page_id: str, audience_id: str, *, limit: int) -> list[Publication]:
    publications = _of(page_id, audience_id).select_related("operation__approval")
    return list(publications.order_by("-started_at", "-pk")[:limit])


def publications_at(moment: datetime) -> QuerySet[Publication]:
    return Publication.objects.filter(
        Q(ended_at=None) | Q(ended_at__gt=moment), started_at__lte=moment
    )


def publications_since(moment: datetime) -> QuerySet[Publication]:
    """Return the publications that started since a moment.

    Leaves out versions that may have been live before: first seen without a usable date, or seen
    again with an earlier one.
    """
    may_be_earlier = Q(
        is_start_seen=True, reason__in=(PublicationReason.FIRST_SEEN, PublicationReason.SEEN_AGAIN)
    )
    return Publication.objects.filter(~may_be_earlier, started_at__gte=moment)


def publication_at(page_id: str, audience_id: str, moment: datetime) -> Publication | None:
    of_audience = publications_at(moment).filter(page_id=page_id, audience_id=audience_id)
    return of_audience.last()


def rolled_back_by(page_id: str, audience_id: str, version_id: str) -> Publication | None:
    return rollback_of(list(_of(page_id, audience_id)), version_id)


def rolled_back_versions(
    keys: Iterable[tuple[str, str]],
) -> dict[tuple[str, str, str], Publication]:
    """Return the publications that rolled versions back, by ids of page, audience and version.

    One query; `keys` are the ids of page and audience.
    """
    return {
        (*key, version_id): successor
        for key, history in _histories(keys).items()
        for version_id in {publication.version_id for publication in history}
        if (successor := rollback_of(history, version_id))
    }


def rollback_target(page_id: str, audience_id: str) -> Publication | None:
    """Return the publication to roll back to; None if nothing is live, or nothing was before.

    It is the latest one of a version that was live before and wasn't rolled back itself.
    """
    return rollback_targets([(page_id, audience_id)]).get((page_id, audience_id))


def rollback_targets(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Publication]:
    """Return the `rollback_target` of audiences that have one, by the ids of page and audience.

    One query.
    """
    return {
        key: target for key, history in _histories(keys).items() if (target := target_in(history))
    }


def rollback_of(history: Sequence[Publication], version_id: str) -> Publication | None:
    """Return the publication that rolled a version back; None if none did. Pure.

    Only the version's last publication counts. `history` are the publications of its audience,
    oldest first.
    """
    places = [
        place for place, publication in enumerate(history) if publication.version_id == version_id
    ]
    if not places or places[-1] + 1 == len(history):
        return None
    successor = history[places[-1] + 1]
    return successor if is_rollback(successor, history[: places[-1] + 1]) else None


def is_rollback(publication: Publication, earlier: Sequence[Publication]) -> bool:
    """Return whether a publication rolled back the last of those before it.

    It did if its version is older and was live before, or may have been. What was live before the
    first read isn't known. If no read found the last one live, what was live between two reads
    isn't either.
    """
    if not earlier or publication.version_number >= earlier[-1].version_number:
        return False
    is_unsure = earlier[-1].last_seen_at is None or earlier[-1].reason in HISTORY_BEGINS
    return is_unsure or publication.version_id in {before.version_id for before in earlier}


def target_in(history: Sequence[Publication]) -> Publication | None:
    """Return the `rollback_target` of the publications of an audience, oldest first."""
    if not history or not history[-1].is_live:
        return None
    live = history[-1].version_id
    return next(
        (
            publication
            for publication in reversed(history)
            if publication.version_id != live and not rollback_of(history, publication.version_id)
        ),
        None,
    )


def _histories(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[Publication]]:
    histories: dict[tuple[str, str], list[Publication]] = {key: [] for key in keys}
    for publication in Publication.objects.filter(of_audiences(histories)):
        key = (publication.page_id, publication.audience_id)
        if key in histories:
            histories[key].append(publication)
    return histories


def publications_of_versions(
    page_id: str, audience_id: str, version_ids: Iterable[str]
) -> list[Publication]:
    publications = _of(page_id, audience_id).filter(version_id__in=version_ids)
    return list(publications.select_related("operation").order_by("-started_at", "-pk"))


def outside_publications(
    *, since: datetime | None = None, target: str = ""
) -> QuerySet[Publication]:
    """Return the publications outside Pressroom that were noticed since then, newest first.

    `target` is the id of a page, an audience or a version.
    """
    publications = Publication.objects.filter(reason=PublicationReason.OUTSIDE)
    if since:
        publications = publications.filter(seen_at__gte=since)
    if target:
        is_target = Q(page_id=target) | Q(audience_id=target) | Q(version_id=target)
        publications = publications.filter(is_target)
    return publications.order_by("-seen_at", "-pk")


def _of(page_id: str, audience_id: str) -> QuerySet[Publication]:
    return Publication.objects.filter(page_id=page_id, audience_id=audience_id)
