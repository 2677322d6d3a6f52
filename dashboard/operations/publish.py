"""Publish a version: validate the form, and record the operation."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from dashboard import clock
from dashboard.approvals.rule import is_rollback
from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import Attempt, AudienceRecord, Operation
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.operations import (
    NO_CLEARANCE,
    OPEN,
    AttemptResult,
    Clearance,
    Target,
    begin,
    end,
)
from dashboard.ledger.queries.operations import operation_by_key, publishes_of
from dashboard.operations.checking import PublishTarget
from dashboard.operations.execution import send
from dashboard.operations.publish_progress import POLLING_PERIOD
from dashboard.operations.publish_review import PublishReview
from dashboard.operations.verdicts import is_unchanged

LIST_LAG = timedelta(minutes=1)
"""How long the service's list may lag behind the response to a publish. A version unchanged for
longer was reset, and may be published again. Source: our choice."""


def begin_publish(
    target: PublishTarget,
    *,
    operation_key: str,
    version: AudienceVersion | None,
    live: AudienceVersion | None,
    audience_name: str,
    actor: User,
    clearance: Clearance = NO_CLEARANCE,
    reason: PublicationReason = PublicationReason.PUBLISH,
    note: str = "",
    by_program: str = "",
) -> tuple[Operation, Attempt | None]:
    """Record the publish of a version; the attempt is None if its key is already recorded.

    `version` and `live` are as read just before, for later comparison. If the version was live
    earlier than `live`, the operation is a rollback. `note` and `by_program` are as in `begin`.
    """
    rolled_back = live if is_rollback(version, live) else None
    return begin(
        operation_key=operation_key,
        kind=OperationKind.PUBLISH_VERSION,
        actor=actor,
        target=Target(
            **target._asdict(),
            version_number=version.version_number if version else None,
            target_name=audience_name or target.audience_id,
            rolled_back_id=rolled_back.version_id if rolled_back else "",
            rolled_back_number=rolled_back.version_number if rolled_back else None,
        ),
        body={"operationKey": operation_key},
        before=version.publish_state if version else None,
        clearance=clearance,
        reason=PublicationReason.ROLLBACK if rolled_back else reason,
        note=note,
        by_program=by_program,
    )


class OvertakenError(Exception):
    """Another version of the audience was published since the review: nothing was recorded."""


def begin_reviewed_publish(
    review: PublishReview, *, actor: User, note: str = "", emergency_reason: str = ""
) -> tuple[Operation, Attempt | None]:
    """Record the publish that a user has just reviewed, like `begin_publish`.

    Raises OvertakenError.
    """
    with audience_locked(review.target):
        if is_other_published_since(review.target, review.reading.as_of):
            raise OvertakenError
        return begin_publish(
            review.target,
            operation_key=review.operation_key,
            version=review.snapshot.version,
            live=review.snapshot.live,
            audience_name=review.audience.name or "",
            actor=actor,
            note=note,
            clearance=Clearance(digest=review.content_digest, emergency_reason=emergency_reason),
        )


def publish_reviewed(
    review: PublishReview, *, actor: User, note: str = "", emergency_reason: str = ""
) -> Operation:
    """Record the publish that a user has just reviewed, and send it once. Raises OvertakenError."""
    operation, attempt = begin_reviewed_publish(
        review, actor=actor, note=note, emergency_reason=emergency_reason
    )
    return send(operation, attempt).operation if attempt else operation


def is_other_published_since(target: PublishTarget, since: datetime | None) -> bool:
    """Return whether another version of the audience was published since it was read.

    Record the publish in the same `audience_locked`, so that the second of two sees the first.
    """
    publishes = publishes_of(target.page_id, target.audience_id).filter(requested_at__gte=since)
    others = publishes.exclude(version_id=target.version_id)
    return others.filter(outcome__in=(*OPEN, Outcome.ACCEPTED)).exists()


@contextmanager
def audience_locked(target: PublishTarget) -> Iterator[None]:
    """Lock the audience in a transaction."""
    audiences = AudienceRecord.objects.select_for_update().filter(
        page_id=target.page_id, audience_id=target.audience_id
    )
    with transaction.atomic():
        list(audiences.values_list("pk"))
        yield


def record_not_sent(review: PublishReview, *, actor: User) -> Operation:
    """Record a publish that is not sent, because the service could not be read first."""
    operation, attempt = begin_reviewed_publish(review, actor=actor)
    if attempt is None:
        return operation
    message = f"The pre-publish checks couldn’t run. {review.reading.error}"
    return end(attempt, AttemptResult(Outcome.NOT_SENT, message))


def find_publish(target: PublishTarget, operation_key: str) -> Operation | None:
    operation = operation_by_key(operation_key)
    if operation is None or operation.kind != OperationKind.PUBLISH_VERSION:
        return None
    return operation if PublishTarget.of(operation) == target else None


def has_changed(review: PublishReview, displayed_digest: str) -> bool:
    """Return whether the review differs from the one that the form displayed.

    An old form has no `displayed_digest`: it is displayed again if the number has to be typed.
    """
    return displayed_digest != review.display_digest if displayed_digest else review.asks_for_number


def submit_problem(review: PublishReview, entered_number: str) -> str:
    version = review.snapshot.version
    if review.is_off or version is None:
        return "Not published: publishing is disabled for the reasons above."
    number = str(version.version_number)
    if review.asks_for_number and entered_number.strip() != number:
        return f"Not published. Review the warnings, then type {number}."
    return ""


def may_not_be_listed(last: Operation, version: AudienceVersion) -> bool:
    """Return whether the service has just accepted a publish that its list may not show yet."""
    is_recent = clock.now() - (last.settled_at or last.requested_at) < LIST_LAG
    return last.outcome == Outcome.ACCEPTED and is_recent and is_unchanged(last.before, version)


def publish_in_progress(review: PublishReview) -> Operation | None:
    """Return the last publish of the version if it hasn't ended; another may begin only then."""
    last, version, now = review.last, review.snapshot.version, clock.now()
    if last is None or last.is_open:
        return last
    if last.outcome != Outcome.ACCEPTED or version is None:
        return None
    if may_not_be_listed(last, version):
        return last
    # The service returns only the latest and the live version: polling any other is useless.
    is_visible = review.snapshot.is_returned or now - last.requested_at < POLLING_PERIOD
    return last if is_visible and version.status in IN_FLIGHT else None
