"""Counting differences: a place that was seen before costs one query for all of an answer's."""

from collections.abc import Sequence

from django.db.models import F, QuerySet
from django.utils import timezone

from dashboard.ledger.models import Difference
from dashboard.ledger.sightings import Sighting

MOST = 500
"""Rows; a service that differs in more places has made its point."""


def note_differences(sightings: Sequence[Sighting]) -> None:
    """Count each difference once."""
    by_digest = {each.digest: each for each in sightings}
    if not by_digest:
        return
    now, example = timezone.now(), sightings[-1].example[:2_000]
    known = Difference.objects.filter(digest__in=by_digest)
    if known.update(count=F("count") + 1, last_at=now, example=example) == len(by_digest):
        return
    there = set(known.values_list("digest", flat=True))
    room = max(0, MOST - Difference.objects.count())
    fresh = [each for digest, each in by_digest.items() if digest not in there][:room]
    rows = [
        Difference(
            digest=each.digest,
            operation=each.operation[:64],
            kind=each.kind[:64],
            place=each.place[:200],
            said=each.said[:200],
            example=each.example[:2_000],
            first_at=now,
            last_at=now,
        )
        for each in fresh
    ]
    Difference.objects.bulk_create(rows, ignore_conflicts=True)


def list_differences() -> QuerySet[Difference]:
    """Return all, the last seen first."""
    return Difference.objects.all()


def forget_differences() -> None:
    """Begin to count anew, after the service was mended."""
    Difference.objects.all().delete()
