"""Count the deviations of responses from the specification; one query for known ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from django.db.models import F, QuerySet
from django.utils import timezone

from dashboard.ledger.models import DeviationRecord

MAX_DEVIATIONS = 500
"""Rows, those of browsers not counted."""
BROWSER = "Browser"
"""The `operation` of browser reports. Any signed-in user can forge them."""
MAX_BROWSER_REPORTS = 100
"""Rows of browser reports, counted apart so that they never displace the service's."""


@dataclass(frozen=True)
class ContractDeviation:
    """One deviation from the specification in one response."""

    operation: str
    kind: str
    place: str
    message: str
    example: str

    @property
    def digest(self) -> str:
        """Identifies the deviation: equal ones are counted together."""
        return sha256("\n".join((self.operation, self.kind, self.place)).encode()).hexdigest()


def record_deviations(deviations: Sequence[ContractDeviation]) -> None:
    """Count each deviation of one response."""
    _record(deviations, DeviationRecord.objects.exclude(operation=BROWSER), at_most=MAX_DEVIATIONS)


def record_browser_report(report: ContractDeviation) -> None:
    """Count a deviation reported by a browser."""
    _record(
        [report], DeviationRecord.objects.filter(operation=BROWSER), at_most=MAX_BROWSER_REPORTS
    )


def _record(
    deviations: Sequence[ContractDeviation], rows: QuerySet[DeviationRecord], *, at_most: int
) -> None:
    by_digest = {each.digest: each for each in deviations}
    if not by_digest:
        return
    now, example = timezone.now(), deviations[-1].example[:2_000]
    known = DeviationRecord.objects.filter(digest__in=by_digest)
    if known.update(count=F("count") + 1, last_at=now, example=example) == len(by_digest):
        return
    existing = set(known.values_list("digest", flat=True))
    room = max(0, at_most - rows.count())
    fresh = [each for digest, each in by_digest.items() if digest not in existing][:room]
    new = [
        DeviationRecord(
            digest=each.digest,
            operation=each.operation[:64],
            kind=each.kind[:64],
            place=each.place[:200],
            message=each.message[:200],
            example=each.example[:2_000],
            first_at=now,
            last_at=now,
        )
        for each in fresh
    ]
    DeviationRecord.objects.bulk_create(new, ignore_conflicts=True)
