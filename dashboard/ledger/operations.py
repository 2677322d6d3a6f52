"""Operations: recorded before the call is sent, settled once, never sent twice by accident.

Inserting an operation's key is the lock: the caller that inserts it sends, all others find it. The
outcome of an operation follows from the outcomes of its attempts. If they leave it unknown, a check
of the target may settle it.
"""

import json
import secrets
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from textwrap import wrap
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.utils.crypto import salted_hmac

from dashboard import clock
from dashboard.clock import interrupted_after
from dashboard.ledger import feed
from dashboard.ledger.attribution import detach_publications
from dashboard.ledger.models import Attempt, FeedEntry, FeedKind, Installation, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome, actor_name
from dashboard.ledger.signals import emergency_begun, operation_ended
from dashboard.texts import redact_secret
from dashboard.work.tasks import WorkerTask

OPEN = (Outcome.SENDING, Outcome.UNKNOWN)
"""Outcomes that may still change."""

MAX_RESPONSE_CHARACTERS = 20_000


@dataclass(frozen=True)
class Target:
    """The object that an operation changes; fields that do not apply are empty."""

    page_id: str = ""
    audience_id: str = ""
    version_id: str = ""
    version_number: int | None = None
    subscription_id: str = ""
    target_name: str = ""
    rolled_back_id: str = ""
    rolled_back_number: int | None = None


@dataclass(frozen=True)
class AttemptResult:
    outcome: Outcome
    message: str = ""
    status_code: int | None = None
    response_body: str = ""
    page_id: str = ""
    """Id of the page that was created, if any."""


@dataclass(frozen=True)
class Clearance:
    """Grounds for sending an operation although the approval rule covers it."""

    approval_id: int | None = None
    digest: str = ""
    """Digest of the target as read just before."""
    emergency_reason: str = ""
    """Reason that an administrator gave for bypassing the approval."""


NO_CLEARANCE = Clearance()


class OperationKeyConflictError(Exception):
    def __init__(self, operation: Operation) -> None:
        super().__init__("The operation key is already recorded for another request.")
        self.operation = operation


def publish_key(page_id: str, audience_id: str, version_id: str) -> str:
    """Return the operation key for publishing this version now, the same for all users.

    It changes only when the previous operation is settled. So two tabs, two users, two processes
    and a reload share one key, an unknown outcome keeps its key, and publishing again after a
    response gets a new one.
    """
    publishes = Operation.publishes.filter(
        page_id=page_id, audience_id=audience_id, version_id=version_id
    )
    before = list(publishes.values_list("operation_key", "outcome"))
    for key, outcome in before:
        if outcome in OPEN:
            return key
    nonce = Installation.objects.values_list("nonce", flat=True).get(pk=1)
    intent = repr((page_id, audience_id, version_id, len(before)))
    digits = salted_hmac("operation key", intent, secret=nonce, algorithm="sha256").hexdigest()
    return "-".join(["pr", *wrap(digits[:20], width=4)])


def note_restore() -> None:
    """Make all future keys differ from earlier ones, for a ledger restored from a backup.

    Versions that went live before now don't count as published outside Pressroom. The change feed
    starts over: its id follows from the nonce, and its old positions may come from another server.
    """
    values = {"nonce": secrets.token_hex(), "restored_at": clock.now(), "feed_pruned_to": 0}
    with transaction.atomic():
        Installation.objects.update_or_create(pk=1, defaults=values)
        FeedEntry.objects.all().delete()


def combined_outcome(attempts: Collection[str]) -> Outcome:
    """Return the outcome of an operation from the outcomes of its attempts, at least one.

    An accepted attempt decides. While any attempt is in flight or unknown, a rejected one proves
    nothing: the other may have been executed.
    """
    order = (Outcome.ACCEPTED, *OPEN, Outcome.REJECTED, Outcome.NOT_SENT)
    return Outcome(min(attempts, key=order.index))


def begin(
    *,
    operation_key: str,
    kind: OperationKind,
    actor: User,
    target: Target,
    body: Any,
    before: Any = None,
    clearance: Clearance = NO_CLEARANCE,
    reason: str = "",
    note: str = "",
    by_program: str = "",
) -> tuple[Operation, Attempt | None]:
    """Record an operation and return it with the attempt to send now.

    `reason` is a PublicationReason if the operation publishes a version; `note` is text that a
    person typed. `by_program` names the token and the program that the actor used.

    The attempt is None if the same request is already recorded: then nothing may be sent. Raises
    OperationKeyConflictError if the key belongs to another request. Also marks interrupted attempts
    as unknown.
    """
    mark_interrupted_unknown()
    now = clock.now()
    try:
        with transaction.atomic():
            operation = Operation.objects.create(
                operation_key=operation_key,
                kind=kind,
                actor=actor,
                actor_name=actor_name(actor),
                requested_at=now,
                changed_at=now,
                body_sent=body,
                before=before,
                approval_id=clearance.approval_id,
                emergency_reason=clearance.emergency_reason,
                reason=reason,
                note=note,
                by_program=by_program,
                **asdict(target),
            )
            _add_to_feed(operation, actor)
            if operation.emergency_reason:
                emergency_begun.send_robust(sender=Operation, operation=operation)
            return operation, _create_attempt(operation, 1, actor, now, clearance.digest)
    except IntegrityError:
        recorded = Operation.objects.filter(operation_key=operation_key).first()
        if recorded is None:
            # The actor's account was deleted at this moment.
            raise
        operation = recorded
    if not is_same_request(operation, kind=kind, target=target, body=body):
        raise OperationKeyConflictError(operation)
    return operation, None


def is_same_request(
    operation: Operation, *, kind: OperationKind, target: Target, body: Any
) -> bool:
    ids = ("page_id", "audience_id", "version_id", "subscription_id")
    # The id of a created page was recorded later, and is not part of the request.
    is_same_target = all(
        getattr(operation, name) == getattr(target, name) for name in ids if getattr(target, name)
    )
    as_stored = json.loads(json.dumps(body))
    return operation.kind == kind and is_same_target and operation.body_sent == as_stored


def begin_retry(operation: Operation, *, actor: User, digest: str = "") -> Attempt | None:
    """Record another attempt with the same key; return None unless the outcome is unknown.

    `digest` is the target's, as read just before.
    """
    with transaction.atomic():
        # The update locks the row until the attempt is inserted: only one of two users gets
        # through.
        unknown = Operation.objects.filter(pk=operation.pk, outcome=Outcome.UNKNOWN)
        if not unknown.update(outcome=Outcome.SENDING, changed_at=clock.now()):
            return None
        _add_to_feed(operation, actor)
        number = operation.attempts.count() + 1
        return _create_attempt(operation, number, actor, clock.now(), digest)


def end(attempt: Attempt, result: AttemptResult) -> Operation:
    """Record the result of an attempt, and update the operation unless it is already settled."""
    now = clock.now()
    with transaction.atomic():
        # Locked, so that two attempts that end together see each other's result.
        operation = Operation.objects.select_for_update().get(pk=attempt.operation_id)
        attempt.ended_at = now
        attempt.outcome = result.outcome
        attempt.message = redact_secret(result.message)
        attempt.status_code = result.status_code
        attempt.response_body = result.response_body[:MAX_RESPONSE_CHARACTERS]
        # Not the actor, whose account may have been deleted since.
        columns = ["ended_at", "outcome", "message", "status_code", "response_body"]
        attempt.save(update_fields=columns)
        if result.page_id and not operation.page_id:
            operation.page_id = result.page_id
            operation.save(update_fields=["page_id"])
        if operation.outcome in OPEN:
            outcomes = set(operation.attempts.values_list("outcome", flat=True))
            _set_outcome(operation, combined_outcome(outcomes), now)
        _add_to_feed(operation)
    return operation


def settle(operation: Operation, outcome: Outcome, *, detail: str, page_id: str = "") -> Operation:
    """Record the result of a check of the target, and the outcome that follows from it.

    `operation` is in the state that was checked. UNKNOWN leaves the outcome unchanged: the check
    proved nothing. `page_id` is the id of the created page, if the check found one.
    """
    now, checked = clock.now(), operation
    with transaction.atomic():
        operation = Operation.objects.select_for_update().get(pk=operation.pk)
        operation.checked_at, operation.check_result = now, redact_secret(detail)
        operation.page_id = operation.page_id or page_id
        operation.save(update_fields=["checked_at", "check_result", "page_id"])
        # A retry that began since the check may still be accepted.
        is_proved = outcome == Outcome.ACCEPTED or operation.changed_at == checked.changed_at
        if is_proved and operation.outcome in OPEN and outcome not in OPEN:
            _set_outcome(operation, outcome, now)
        if (operation.outcome, operation.check_result) != (checked.outcome, checked.check_result):
            _add_to_feed(operation)
    return operation


def interrupted(since: datetime | None = None) -> Q:
    """Match operations in flight for longer than a call can take: their outcome is unknown.

    Until a worker or a change records that, they are only shown as unknown. `since` is the earliest
    start of a call that may still be in flight.
    """
    sending = Attempt.objects.filter(operation=OuterRef("pk"), outcome=Outcome.SENDING)
    since = since or clock.now() - interrupted_after()
    return Q(
        Exists(sending.filter(sent_at__lt=since)),
        ~Exists(sending.filter(sent_at__gte=since)),
        outcome=Outcome.SENDING,
    )


def show_interrupted(operation: Operation, attempts: Sequence[Attempt]) -> None:
    """Set an interrupted operation and its attempt to unknown in memory. Writes nothing."""
    if operation.outcome != Outcome.SENDING:
        return
    since = clock.now() - interrupted_after()
    without_end = [attempt for attempt in attempts if attempt.ended_at is None]
    if without_end and all(attempt.sent_at < since for attempt in without_end):
        operation.outcome = Outcome.UNKNOWN
        for attempt in without_end:
            attempt.outcome = Outcome.UNKNOWN


def mark_interrupted_unknown() -> int:
    """Mark interrupted operations as unknown; return how many there were.

    They have been in flight for longer than a call can take, because their process was killed. If
    it was only suspended, a response that arrives later still counts. This writes, so don't call it
    for a GET.
    """
    return mark_unknown(Attempt.objects.filter(sent_at__lte=clock.now() - interrupted_after()))


def earliest_interruption() -> "QuerySet[Attempt, Any]":
    """Return the time when the oldest attempt in flight counts as interrupted."""
    in_flight = Attempt.objects.filter(outcome=Outcome.SENDING).order_by("sent_at")
    at = ExpressionWrapper(F("sent_at") + interrupted_after(), output_field=DateTimeField())
    return in_flight.annotate(at=at).values_list("at", named=True)[:1]


MARK_INTERRUPTED = WorkerTask(lambda *_: mark_interrupted_unknown(), due=(earliest_interruption,))


def mark_unknown(attempts: QuerySet[Attempt]) -> int:
    """Mark the attempts in flight as unknown, and operations that have no other in flight.

    Returns the number of operations that were marked.
    """
    stale = attempts.filter(outcome=Outcome.SENDING)
    stuck = list(stale.values_list("operation_id", flat=True))
    if not stuck:
        return 0
    with transaction.atomic():
        # Locked in the same order as in `end`: the operation, then its attempts.
        locked = Operation.objects.select_for_update().filter(pk__in=stuck).order_by("pk")
        sending = [operation.pk for operation in locked if operation.outcome == Outcome.SENDING]
        stale.update(outcome=Outcome.UNKNOWN)
        in_flight = Attempt.objects.filter(outcome=Outcome.SENDING).values("operation_id")
        lost = list(Operation.objects.filter(pk__in=sending).exclude(pk__in=in_flight))
        for operation in lost:
            _set_outcome(operation, Outcome.UNKNOWN, clock.now())
            _add_to_feed(operation)
    return len(lost)


def _create_attempt(
    operation: Operation, number: int, actor: User, now: datetime, digest: str
) -> Attempt:
    return Attempt.objects.create(
        operation=operation,
        number=number,
        actor=actor,
        actor_name=actor_name(actor),
        sent_at=now,
        digest=digest,
    )


def _add_to_feed(operation: Operation, actor: User | None = None) -> None:
    """Add an operation to the feed, and the subscription that it changes, which has no page."""
    actor_id = actor.pk if actor else None
    entry = FeedEntry(
        kind=FeedKind.OPERATION,
        page_id=operation.page_id,
        audience_id=operation.audience_id,
        object_id=operation.operation_key,
        actor_id=actor_id,
    )
    webhook = FeedEntry(
        kind=FeedKind.SUBSCRIPTION, object_id=operation.subscription_id, actor_id=actor_id
    )
    feed.add(entry, *([webhook] if operation.subscription_id else []))


def _set_outcome(operation: Operation, outcome: Outcome, now: datetime) -> None:
    operation.outcome = outcome
    operation.settled_at = None if outcome in OPEN else now
    operation.changed_at = now
    operation.save(update_fields=["outcome", "settled_at", "changed_at"])
    if outcome in (Outcome.REJECTED, Outcome.NOT_SENT):
        detach_publications(operation)
    if outcome != Outcome.SENDING:
        operation_ended.send_robust(sender=Operation, operation=operation)
