"""Queries of versions that were published outside Pressroom."""

from datetime import datetime

from django.db.models import Q, QuerySet

from dashboard.ledger.models import OutsidePublish


def find_outside_publishes(
    *, since: datetime | None = None, target: str = ""
) -> QuerySet[OutsidePublish]:
    """Return what was noticed since then, newest first; `target` is any id of its version."""
    found = OutsidePublish.objects.all()
    if since:
        found = found.filter(noticed_at__gte=since)
    if target:
        found = found.filter(Q(page_id=target) | Q(audience_id=target) | Q(version_id=target))
    return found


def outside_publishes_before(
    found: QuerySet[OutsidePublish], last: OutsidePublish
) -> QuerySet[OutsidePublish]:
    """Return those after `last`, in the order newest first."""
    same_moment = Q(noticed_at=last.noticed_at, pk__lt=last.pk)
    return found.filter(Q(noticed_at__lt=last.noticed_at) | same_moment)


def outside_publishes_of_versions(
    page_id: str, audience_id: str, version_ids: list[str]
) -> list[OutsidePublish]:
    """Return when these versions of an audience were published outside Pressroom, newest first."""
    found = OutsidePublish.objects.filter(page_id=page_id, audience_id=audience_id)
    return list(found.filter(version_id__in=version_ids))
