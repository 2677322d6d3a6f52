"""Check the outcome of an operation by reading its target again."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Self

from dashboard import clock
from dashboard.client import APIError
from dashboard.clock import interrupted_after, recorded_after
from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import Operation, PageRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import OPEN, settle
from dashboard.ledger.queries.audiences import audience_last_known, version_last_known
from dashboard.operations.verdicts import (
    page_identity,
    page_verdict,
    publish_verdict,
    subscription_verdict,
)
from dashboard.service.reading import AudienceLookup, ReadResult, read_audience, read_pages
from dashboard.service.subscriptions import fetch_subscription, record_if_listed

FINAL_STATUS_CODES = (400, 404, 409, 410, 422)
"""Statuses that reject this request for good, unlike 401, 403 and 429."""


class PublishTarget(NamedTuple):
    """The version that a URL names, or that a publish is about."""

    page_id: str
    audience_id: str
    version_id: str

    @classmethod
    def of(cls, operation: Operation) -> Self:
        return cls(operation.page_id, operation.audience_id, operation.version_id)


@dataclass(frozen=True)
class VersionSnapshot:
    version: AudienceVersion | None
    """The version as last seen; None if it isn't recorded."""
    is_returned: bool
    """Whether the service returned it now: it returns only the latest and the live version."""
    live: AudienceVersion | None
    as_of: datetime
    error: APIError | None = None
    """Why this isn't current."""


def check_outcome(operation: Operation) -> Operation:
    """Read the target of an operation again, and settle the operation if that proves its outcome.

    Failed checks are recorded; no APIError is raised.
    """
    match OperationKind(operation.kind):
        case OperationKind.PUBLISH_VERSION:
            return settle_from_snapshot(operation, read_version_state(operation))
        case OperationKind.CREATE_PAGE:
            return _check_page(operation)
        case OperationKind.UPDATE_SUBSCRIPTION:
            return _check_subscription(operation)


def read_version_state(operation: Operation) -> VersionSnapshot:
    """Read the audience of a publish again, or load its last known state if that fails."""
    try:
        reading = read_audience(operation.page_id, operation.audience_id)
    except APIError as error:
        return load_version_state(operation, error=error)
    return snapshot_version(PublishTarget.of(operation), reading)


def snapshot_version(target: PublishTarget, reading: ReadResult[AudienceLookup]) -> VersionSnapshot:
    """Return the state of a version from its audience, or as last seen if the audience lacks it."""
    audience = reading.value.audience
    # The live version first, as one version may be both.
    listed = (audience.published_version, audience.latest_version)
    named = next(
        (version for version in listed if version and version.version_id == target.version_id), None
    )
    if not reading.value.is_as_listed:
        named = None
    return VersionSnapshot(
        version=named or _load_version(target),
        is_returned=named is not None and reading.is_live,
        live=audience.published_version,
        as_of=reading.as_of,
        error=reading.error,
    )


def load_version_state(operation: Operation, *, error: APIError | None = None) -> VersionSnapshot:
    record = audience_last_known(operation.page_id, operation.audience_id)
    return VersionSnapshot(
        version=_load_version(PublishTarget.of(operation)),
        is_returned=False,
        live=record.audience.published_version if record else None,
        as_of=clock.now(),
        error=error,
    )


def settle_from_snapshot(operation: Operation, snapshot: VersionSnapshot) -> Operation:
    if operation.outcome != Outcome.UNKNOWN:
        return operation
    if snapshot.error:
        return _record_failed_check(operation, snapshot.error)
    verdict = publish_verdict(
        number=operation.version_number,
        before=operation.before,
        version=snapshot.version if snapshot.is_returned else None,
        live=snapshot.live,
        requested_at=operation.requested_at,
        is_rejected=_was_rejected(operation),
    )
    return settle(operation, verdict.outcome, detail=verdict.detail)


def _check_page(operation: Operation) -> Operation:
    try:
        pages = read_pages().items
    except APIError as error:
        return _record_failed_check(operation, error)
    page_ids = [page.page_id for page in pages]
    # A list that was requested before the operation may have been read after it.
    before = operation.requested_at - recorded_after()
    earlier = PageRecord.objects.filter(page_id__in=page_ids, first_seen_at__lt=before)
    creations = Operation.objects.filter(kind=OperationKind.CREATE_PAGE).exclude(pk=operation.pk)
    of_others = creations.filter(page_id__in=page_ids)
    # Pages that were known before the operation, or created
    other_pages = {
        *earlier.values_list("page_id", flat=True),
        *of_others.values_list("page_id", flat=True),
    }
    body_sent = operation.body_sent or {}
    verdict, page = page_verdict(
        body_sent=body_sent,
        newest=[page for page in pages if page.page_id not in other_pages],
        requested_at=operation.requested_at,
        duplicates=[
            other.requested_at
            for other in creations.filter(outcome__in=OPEN, target_name=operation.target_name)
            if page_identity(other.body_sent or {}) == page_identity(body_sent)
        ],
    )
    page_id = page.page_id if page else ""
    return settle(operation, verdict.outcome, detail=verdict.detail, page_id=page_id)


def _check_subscription(operation: Operation) -> Operation:
    read_at = clock.now()
    try:
        subscription = fetch_subscription(operation.subscription_id)
    except APIError as error:
        return _record_failed_check(operation, error)
    record_if_listed(operation.subscription_id, subscription, read_at=read_at)
    body_sent, now = operation.body_sent or {}, subscription.to_wire()
    verdict = subscription_verdict(body_sent=body_sent, before=operation.before, now=now)
    return settle(operation, verdict.outcome, detail=verdict.detail)


def _record_failed_check(operation: Operation, error: APIError) -> Operation:
    return settle(operation, Outcome.UNKNOWN, detail=f"the check failed. {error}")


def _load_version(target: PublishTarget) -> AudienceVersion | None:
    record = version_last_known(*target)
    return record.version if record else None


def _was_rejected(operation: Operation) -> bool:
    """Return whether a retry was rejected after every lost attempt had time to arrive."""
    attempts = list(operation.attempts.all())
    rejected = [
        attempt.sent_at
        for attempt in attempts
        if attempt.outcome == Outcome.REJECTED and attempt.status_code in FINAL_STATUS_CODES
    ]
    lost = [attempt.sent_at for attempt in attempts if attempt.outcome == Outcome.UNKNOWN]
    return bool(rejected and lost) and max(rejected) >= max(lost) + interrupted_after()
