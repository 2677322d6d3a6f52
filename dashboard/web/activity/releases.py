"""Operations that releases sent: a release is one entry of Activity, placed at its newest one."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from dashboard.ledger.models import Operation
from dashboard.releases.models import Release, ReleaseItem
from dashboard.web.releases.summary import ReleaseSummary, summarize_all
from dashboard.web.ui.query_params import int_param

ITEMS = Prefetch(
    "release_items",
    ReleaseItem.objects.select_related("release")
    .only(
        *("operation_id", "release__name", "release__has_own_name", "release__created_at"),
        "release__note",
    )
    .order_by("pk"),
)
"""The releases of operations, without the bodies of versions; two queries for any number."""


def of_release(operations: QuerySet[Operation], release_id: int) -> QuerySet[Operation]:
    items = ReleaseItem.objects.filter(release_id=release_id, operation__isnull=False)
    return operations.filter(pk__in=items.values("operation"))


def newest_of_releases(operations: QuerySet[Operation]) -> QuerySet[Operation]:
    """Return the operations of no release, and the newest one of each release."""
    later = ReleaseItem.objects.filter(
        operation=OuterRef("pk"), release__items__operation__gt=OuterRef("pk")
    )
    return operations.filter(~Exists(later))


def summaries_by_pk(pks: Iterable[int]) -> dict[int, ReleaseSummary]:
    """Return releases by primary key, with their items counted; two queries, none without any."""
    pks = set(pks)
    summaries = summarize_all(Release.objects.filter(pk__in=pks)) if pks else []
    return {summary.release.pk: summary for summary in summaries}


def moving_marks(summaries: Iterable[ReleaseSummary]) -> str:
    """Return the releases that are being published as text, for the URL of a poll: `7-1f.9-a0`."""
    return ".".join(
        f"{summary.release.pk}-{summary.mark}" for summary in summaries if summary.is_moving
    )


def changed_releases(marks: str) -> tuple[list[ReleaseSummary], list[ReleaseSummary]]:
    """Return the releases of `moving_marks` as they are now, and those that have changed since."""
    shown = dict(mark.split("-", 1) for mark in marks.split(".") if "-" in mark)
    by_pk = {int_param(pk): mark for pk, mark in shown.items()}
    summaries = list(summaries_by_pk(by_pk).values())
    return summaries, [
        summary for summary in summaries if summary.mark != by_pk[summary.release.pk]
    ]
