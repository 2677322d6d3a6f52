"""Operations that releases sent: a release is one entry of Activity, placed at its newest one."""

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from dashboard.ledger.models import Operation
from dashboard.releases.models import ReleaseItem

ITEMS = Prefetch(
    "release_items",
    ReleaseItem.objects.select_related("release")
    .only("operation_id", "release__name", "release__note")
    .order_by("pk"),
)
"""The releases of operations, without the bodies of versions; two queries for any number."""


def of_release(operations: QuerySet[Operation], release_id: int) -> QuerySet[Operation]:
    """Return the operations that a release sent."""
    items = ReleaseItem.objects.filter(release_id=release_id, operation__isnull=False)
    return operations.filter(pk__in=items.values("operation"))


def newest_of_releases(operations: QuerySet[Operation]) -> QuerySet[Operation]:
    """Return the operations of no release, and the newest one of each release."""
    later = ReleaseItem.objects.filter(
        operation=OuterRef("pk"), release__items__operation__gt=OuterRef("pk")
    )
    return operations.filter(~Exists(later))
