"""Publishing a version: whether to, putting it on record or holding it back, how far it is."""

from datetime import timedelta

from django.core.cache import cache
from django.utils import timezone

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.operations import Ending, Target, begin, end
from dashboard.ledger.queries.audiences import IN_FLIGHT
from dashboard.ledger.queries.operations import operation_by_key
from dashboard.ledger.queries.queue_times import UsualTimes, usual_times
from dashboard.web.evidence import shows_nothing_yet, version_before
from dashboard.web.http import Request
from dashboard.web.looks import Sighting
from dashboard.web.preparation import Preparation, Subject
from dashboard.web.progress import WATCHED, Progress, progress_of

USUAL_TIMES_KEPT_S = 60

LISTS_LAG = timedelta(minutes=1)
"""How long the service's list may lag behind the answer that a publish was taken. Our choice: a
version that is as it was for longer was put back, and may be published again."""


def begin_publish(request: Request, preparation: Preparation) -> tuple[Operation, Attempt | None]:
    """Write the publish down; the attempt is None where its key is on record already."""
    version, (page_id, audience_id, version_id) = preparation.version, preparation.subject.ids
    return begin(
        operation_key=preparation.operation_key,
        kind=Kind.PUBLISH_VERSION,
        actor=request.user,
        target=Target(
            page_id=page_id,
            audience_id=audience_id,
            version_id=version_id,
            version_number=version.version_number if version else None,
            target_name=preparation.audience.name or audience_id,
        ),
        body={"operationKey": preparation.operation_key},
        before=version_before(version),
    )


def hold_back(request: Request, preparation: Preparation) -> Operation:
    """Write down a publish that is stopped here, because the service could not be read first."""
    operation, attempt = begin_publish(request, preparation)
    if attempt is None:
        return operation
    said = f"Stopped before sending, for nothing could be checked. {preparation.reading.error}"
    return end(attempt, Ending(Outcome.NOT_SENT, said))


def operation_of(subject: Subject, operation_key: str) -> Operation | None:
    """Return the publish of this version with that key, or None."""
    operation = operation_by_key(operation_key)
    return operation if operation and subject.is_of(operation) else None


def has_changed(preparation: Preparation, shown: str) -> bool:
    """Tell whether what there is to read now is not what a form has shown.

    A form without a word of it is an old one: it is shown again where there is a risk to read of.
    """
    return shown != preparation.shown if shown else preparation.asks_for_number


def problem_with(preparation: Preparation, typed: str) -> str:
    """Return why a publish is not begun; empty where nothing stands against it."""
    if preparation.is_off or preparation.version is None:
        return "Not published: publishing is off, for the reasons above."
    number = str(preparation.version.version_number)
    if preparation.asks_for_number and typed.strip() != number:
        return f"Not published. Read what was found, then type {number}."
    return ""


def under_way(preparation: Preparation) -> Operation | None:
    """Return the last publish of a version where it is to be watched before any other is begun."""
    last = preparation.last
    return last if last and _is_not_over(preparation, last) else None


def _is_not_over(preparation: Preparation, last: Operation) -> bool:
    version = preparation.version
    if last.is_open or last.outcome != Outcome.ACCEPTED or version is None:
        return last.is_open
    if shows_nothing_yet(last.before, version) and _is_just_settled(last):
        return True
    # The service names the latest and the live version alone; one out of sight is watched in vain.
    is_in_sight = preparation.is_named or timezone.now() - last.requested_at < WATCHED
    return is_in_sight and version.status in IN_FLIGHT


def _is_just_settled(operation: Operation) -> bool:
    settled_at = operation.settled_at or operation.requested_at
    return timezone.now() - settled_at < LISTS_LAG


def progress_now(operation: Operation, sighting: Sighting) -> Progress:
    """Return how far a publish on record has come, by what was seen of its version."""
    return progress_of(
        outcome=operation.outcome,
        version=sighting.version,
        live=sighting.live,
        is_named=sighting.is_named,
        requested_at=operation.requested_at,
        usual=usual_times_here(),
        now=timezone.now(),
    )


def usual_times_here() -> UsualTimes | None:
    """Return how long publishing took lately, worked out once a minute."""
    return cache.get_or_set("usual-times", usual_times, timeout=USUAL_TIMES_KEPT_S)
