"""Queries of releases for other pages: what is planned there, and which release sent what."""

from collections.abc import Iterable
from typing import Any

from django.db.models import F

from dashboard.compiled_query import CompiledQuery
from dashboard.releases.drafting import AudienceKey
from dashboard.releases.models import ItemState, ReleaseItem, ReleaseState

PLANNED = (
    *(ReleaseState.WAITING_FOR_APPROVAL, ReleaseState.SCHEDULED),
    *(ReleaseState.RUNNING, ReleaseState.HELD),
)
"""States of releases that a person decided to publish, and whose versions may still be sent."""


def planned_publishes(page_ids: Iterable[str]) -> dict[AudienceKey, list[Any]]:
    """Return the versions on these pages that wait in a release, by audience; one query.

    The next one due comes first. Each has the `release_id`, `release_name`, `release_state`,
    `due_at`, `time_zone`, `version_id` and `version_number`; one without `due_at` is not scheduled.
    """
    found: dict[AudienceKey, list[Any]] = {}
    for row in _PLANNED.rows(sorted(set(page_ids))):
        found.setdefault((row.page_id, row.audience_id), []).append(row)
    return found


_PLANNED = CompiledQuery(
    lambda page_ids: (
        ReleaseItem.objects.filter(
            page_id__in=page_ids, state=ItemState.WAITING, release__state__in=PLANNED
        )
        .annotate(
            release_name=F("release__name"),
            release_state=F("release__state"),
            due_at=F("release__due_at"),
            time_zone=F("release__time_zone"),
        )
        .order_by(F("release__due_at").asc(nulls_first=True), "release_id")
        .values_list(
            *("page_id", "audience_id", "version_id", "version_number", "release_id"),
            *("release_name", "release_state", "due_at", "time_zone"),
            named=True,
        )
    )
)


def releases_of_operations(operation_ids: Iterable[int]) -> dict[int, Any]:
    """Return the item by which each operation was sent, by the operation's key; one query.

    Each has the `release_id`, `release_name` and `position`. An operation of no release is left
    out; of one that several releases followed, the first counts.
    """
    items = ReleaseItem.objects.filter(operation__in=list(operation_ids)).order_by("-pk")
    rows = items.annotate(release_name=F("release__name")).values_list(
        "operation_id", "release_id", "release_name", "position", named=True
    )
    return {row.operation_id: row for row in rows if row.operation_id}
