"""Publish a version: validate the form, record the operation, report its progress."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.ledger.queries.audiences import IN_FLIGHT
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.operations.checking import VersionSnapshot
from dashboard.operations.publish_progress import POLLING_PERIOD, Progress, publish_progress
from dashboard.operations.publish_review import PublishReview, PublishTarget
from dashboard.operations.typical_times import typical_times
from dashboard.operations.verdicts import compared_fields, is_unchanged

LIST_LAG = timedelta(minutes=1)
"""How long the service's list may lag behind the response to a publish. A version unchanged for
longer was reset, and may be published again. Source: our choice."""


def begin_publish(review: PublishReview, *, actor: User) -> tuple[Operation, Attempt | None]:
    """Record the publish; the attempt is None if its key is already recorded."""
    version, (page_id, audience_id, version_id) = review.version, review.target.ids
    return begin(
        operation_key=review.operation_key,
        kind=OperationKind.PUBLISH_VERSION,
        actor=actor,
        target=Target(
            page_id=page_id,
            audience_id=audience_id,
            version_id=version_id,
            version_number=version.version_number if version else None,
            target_name=review.audience.name or audience_id,
        ),
        body={"operationKey": review.operation_key},
        before=compared_fields(version),
    )


def record_not_sent(review: PublishReview, *, actor: User) -> Operation:
    """Record a publish that is not sent, because the service could not be read first."""
    operation, attempt = begin_publish(review, actor=actor)
    if attempt is None:
        return operation
    message = f"The pre-publish checks couldn’t run. {review.reading.error}"
    return end(attempt, AttemptResult(Outcome.NOT_SENT, message))


def find_publish(target: PublishTarget, operation_key: str) -> Operation | None:
    """Return the publish of this version with this key, or None."""
    operation = operation_by_key(operation_key)
    return operation if operation and target.matches(operation) else None


def has_changed(review: PublishReview, shown: str) -> bool:
    """Return whether the review differs from the one that the form has shown (`shown`).

    An old form has no `shown`: it is displayed again if the number has to be typed.
    """
    return shown != review.shown if shown else review.asks_for_number


def submit_problem(review: PublishReview, typed: str) -> str:
    """Return the reason why the publish can't be sent, or ""."""
    if review.is_off or review.version is None:
        return "Not published: publishing is disabled for the reasons above."
    number = str(review.version.version_number)
    if review.asks_for_number and typed.strip() != number:
        return f"Not published. Review the warnings, then type {number}."
    return ""


def publish_in_progress(review: PublishReview) -> Operation | None:
    """Return the last publish of the version if it is not over: no other may begin before."""
    last = review.last
    return last if last and _is_in_progress(review, last) else None


def _is_in_progress(review: PublishReview, last: Operation) -> bool:
    version = review.version
    if last.is_open or last.outcome != Outcome.ACCEPTED or version is None:
        return last.is_open
    if is_unchanged(last.before, version) and _was_just_settled(last):
        return True
    # The service returns only the latest and the live version: polling any other is useless.
    is_visible = review.is_returned or timezone.now() - last.requested_at < POLLING_PERIOD
    return is_visible and version.status in IN_FLIGHT


def _was_just_settled(operation: Operation) -> bool:
    settled_at = operation.settled_at or operation.requested_at
    return timezone.now() - settled_at < LIST_LAG


def current_progress(operation: Operation, snapshot: VersionSnapshot) -> Progress:
    """Return the progress of a recorded publish, from a snapshot of its version."""
    return publish_progress(
        outcome=operation.outcome,
        version=snapshot.version,
        live=snapshot.live,
        is_returned=snapshot.is_returned,
        requested_at=operation.requested_at,
        usual=typical_times(),
        now=timezone.now(),
    )
