"""Looking again: re-reading what an operation was about, to settle an unknown outcome."""

from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from django.utils import timezone

from dashboard.client import APIError
from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.ledger.models import Operation, PageRecord
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.operations import settle
from dashboard.ledger.queries.audiences import audience_last_known, version_last_known
from dashboard.web.evidence import (
    Verdict,
    page_verdict,
    publish_verdict,
    subscription_verdict,
)
from dashboard.web.readings import read_audience, read_pages
from dashboard.web.sending import longest_sending
from dashboard.web.subscription_reading import ask, remember_if_listed

REFUSALS_THAT_STAY = (400, 404, 409, 410, 422)
"""Answers that say no to this request, not to us for now (401, 403, 429)."""


@dataclass(frozen=True)
class Sighting:
    """One version and its surroundings, as seen at a moment."""

    version: AudienceVersion | None
    """As last seen anywhere; None where it never was."""
    is_named: bool
    """Whether the service named the version now: it names the latest and the live one alone."""
    live: AudienceVersion | None
    as_of: datetime
    error: APIError | None = None
    """Why this is not from now."""


def look(operation: Operation) -> Operation:
    """Re-read the target of an operation and settle it where that proves something.

    A look that fails is written down as such. Nothing is raised for want of an answer.
    """
    match Kind(operation.kind):
        case Kind.PUBLISH_VERSION:
            return settle_by(operation, see_version(operation))
        case Kind.CREATE_PAGE:
            return _look_for_page(operation)
        case Kind.UPDATE_SUBSCRIPTION:
            return _look_at_subscription(operation)


def see_version(operation: Operation) -> Sighting:
    """Re-read the audience of a publish; what was last known where the service does not answer."""
    try:
        reading = read_audience(operation.page_id, operation.audience_id)
    except APIError as error:
        return last_seen_version(operation, error=error)
    audience = reading.value.audience
    named = _version_in(audience, operation.version_id) if reading.value.is_as_listed else None
    return Sighting(
        version=named or _last_known(operation),
        is_named=named is not None and reading.is_live,
        live=audience.published_version,
        as_of=reading.as_of,
        error=reading.error,
    )


def last_seen_version(operation: Operation, *, error: APIError | None = None) -> Sighting:
    """Return what was last known of the version of a publish, without asking the service."""
    record = audience_last_known(operation.page_id, operation.audience_id)
    return Sighting(
        version=_last_known(operation),
        is_named=False,
        live=record.audience.published_version if record else None,
        as_of=timezone.now(),
        error=error,
    )


def settle_by(operation: Operation, sighting: Sighting) -> Operation:
    """Settle an unknown publish by what was seen, where that proves something."""
    if operation.outcome != Outcome.UNKNOWN:
        return operation
    if sighting.error:
        return _not_seen(operation, sighting.error)
    verdict = publish_verdict(
        number=operation.version_number,
        before=operation.before,
        version=sighting.version if sighting.is_named else None,
        live=sighting.live,
        requested_at=operation.requested_at,
        is_refused=_is_refused(operation),
    )
    return settle(operation, verdict.outcome, found=verdict.found)


def _look_for_page(operation: Operation) -> Operation:
    try:
        found = read_pages().items
    except APIError as error:
        return _not_seen(operation, error)
    accounted_for = _accounted_for(operation, [page.page_id for page in found])
    verdict, page = page_verdict(
        body_sent=operation.body_sent or {},
        newest=[page for page in found if page.page_id not in accounted_for],
        requested_at=operation.requested_at,
    )
    page_id = page.page_id if page else ""
    return settle(operation, verdict.outcome, found=verdict.found, page_id=page_id)


def _accounted_for(operation: Operation, page_ids: list[str]) -> set[str]:
    """Return those pages that were known before the operation, or that another one created."""
    known = PageRecord.objects.filter(
        page_id__in=page_ids, first_seen_at__lt=operation.requested_at
    )
    creations = Operation.objects.filter(kind=Kind.CREATE_PAGE, page_id__in=page_ids)
    of_others = creations.exclude(pk=operation.pk)
    ids = (seen.values_list("page_id", flat=True) for seen in (known, of_others))
    return set(chain.from_iterable(ids))


def _look_at_subscription(operation: Operation) -> Operation:
    try:
        subscription = ask(operation.subscription_id)
    except APIError as error:
        return _not_seen(operation, error)
    remember_if_listed(operation.subscription_id, subscription)
    verdict: Verdict = subscription_verdict(
        body_sent=operation.body_sent or {},
        before=operation.before,
        now=subscription.to_wire(),
    )
    return settle(operation, verdict.outcome, found=verdict.found)


def _not_seen(operation: Operation, error: APIError) -> Operation:
    return settle(operation, Outcome.UNKNOWN, found=f"nothing could be seen. {error}")


def _version_in(audience: Audience, version_id: str) -> AudienceVersion | None:
    # The live one first: where both name it, that it is live says more.
    named = (audience.published_version, audience.latest_version)
    return next((v for v in named if v and v.version_id == version_id), None)


def _last_known(operation: Operation) -> AudienceVersion | None:
    record = version_last_known(operation.page_id, operation.audience_id, operation.version_id)
    return record.version if record else None


def _is_refused(operation: Operation) -> bool:
    """Tell whether a repeat was refused when every lost attempt had had its time to arrive."""
    attempts = list(operation.attempts.all())
    refused = [
        attempt.sent_at
        for attempt in attempts
        if attempt.outcome == Outcome.REJECTED and attempt.status_code in REFUSALS_THAT_STAY
    ]
    lost = [attempt.sent_at for attempt in attempts if attempt.outcome == Outcome.UNKNOWN]
    return bool(refused and lost) and max(refused) >= max(lost) + longest_sending()
