"""Count the deviations of responses from the specification; one query for known ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from django.db import transaction
from django.db.models import F, QuerySet

from dashboard import clock
from dashboard.ledger import feed
from dashboard.ledger.models import DeviationRecord, FeedEntry, FeedKind
from dashboard.ledger.signals import deviations_found
from dashboard.texts import redact_secret

MAX_DEVIATIONS = 500
"""Maximum number of rows, not counting those of browsers and events."""
BROWSER = "Browser"
"""The `operation` of browser reports. Any signed-in user can forge them."""
MAX_BROWSER_REPORTS = 100
"""Maximum number of rows of browser reports, counted apart so that they never displace the
service's."""
EVENTS = "Webhook events"
"""The `operation` of events that were received. Without a signature, anybody can forge them."""
MAX_EVENT_NAMES = 20
"""Maximum number of rows of unknown events, counted apart for the same reason."""


@dataclass(frozen=True)
class ContractDeviation:
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
    of_responses = DeviationRecord.objects.exclude(operation__in=(BROWSER, EVENTS))
    _record(deviations, of_responses, at_most=MAX_DEVIATIONS)


def record_browser_report(report: ContractDeviation) -> None:
    _record(
        [report], DeviationRecord.objects.filter(operation=BROWSER), at_most=MAX_BROWSER_REPORTS
    )


def record_unknown_event(event: ContractDeviation) -> None:
    """Count an event whose name is unknown; beyond MAX_EVENT_NAMES only names already counted.

    No signal is sent: with a forged name, anybody could have administrators notified.
    """
    rows = DeviationRecord.objects.filter(operation=EVENTS)
    _record([event], rows, at_most=MAX_EVENT_NAMES, is_signaled=False)


def _record(
    deviations: Sequence[ContractDeviation],
    rows: QuerySet[DeviationRecord],
    *,
    at_most: int,
    is_signaled: bool = True,
) -> None:
    by_digest = {deviation.digest: deviation for deviation in deviations}
    if not by_digest:
        return
    now, example = clock.now(), redact_secret(deviations[-1].example)[:2_000]
    records = DeviationRecord.objects.filter(digest__in=by_digest)
    if records.update(count=F("count") + 1, last_at=now, example=example) == len(by_digest):
        return
    existing = set(records.values_list("digest", flat=True))
    room = max(0, at_most - rows.count())
    fresh = [deviation for digest, deviation in by_digest.items() if digest not in existing][:room]
    new = [
        DeviationRecord(
            digest=deviation.digest,
            operation=deviation.operation[:64],
            kind=deviation.kind[:64],
            place=deviation.place[:200],
            message=redact_secret(deviation.message)[:200],
            example=redact_secret(deviation.example)[:2_000],
            first_at=now,
            last_at=now,
        )
        for deviation in fresh
    ]
    if not new:
        return
    with transaction.atomic():
        DeviationRecord.objects.bulk_create(new, ignore_conflicts=True)
        feed.add(FeedEntry(kind=FeedKind.SERVICE))
        if is_signaled:
            deviations_found.send_robust(sender=DeviationRecord, deviations=new)
