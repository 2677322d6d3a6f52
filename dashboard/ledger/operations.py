"""Operations: on record before the call leaves, settled once, never sent twice by accident.

The insert of an operation's key is the lock: whoever inserts it sends, everyone else finds it.
The outcome of an operation follows from those of its attempts; a look at the target settles what
no attempt could tell.
"""

import secrets
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from dashboard.ledger.actors import actor_name
from dashboard.ledger.models import Attempt, Installation, Operation
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.statements import Statement

OPEN = (Outcome.SENDING, Outcome.UNKNOWN)
"""Outcomes that may still become another."""

ANSWER_KEPT_CHARACTERS = 20_000

_PUBLISHES_BEFORE = Statement(
    lambda page_id, audience_id, version_id: Operation.objects.filter(
        kind=Kind.PUBLISH_VERSION, page_id=page_id, audience_id=audience_id, version_id=version_id
    ).values_list("outcome", "operation_key", named=True)
)
_INSTALLATION = Statement(
    lambda: Installation.objects.filter(pk=1).values_list("nonce", named=True)
)


@dataclass(frozen=True)
class Target:
    """What an operation is about; empty where it does not apply."""

    page_id: str = ""
    audience_id: str = ""
    version_id: str = ""
    version_number: int | None = None
    subscription_id: str = ""
    target_name: str = ""


@dataclass(frozen=True)
class Ending:
    """How one attempt ended."""

    outcome: Outcome
    said: str = ""
    status_code: int | None = None
    answer: str = ""
    page_id: str = ""
    """Of the page that was created, where one was."""


def publish_key(page_id: str, audience_id: str, version_id: str) -> str:
    """Return the operation key of publishing this version now: the same for everyone who asks.

    It changes only when the operation before it is settled. So two tabs, two people, two
    processes and a reload share one key, an unknown outcome keeps its key, and publishing again
    after an answer, or an earlier version later, has its own.
    """
    before = _PUBLISHES_BEFORE.rows(page_id, audience_id, version_id)
    for publish in before:
        if publish.outcome in OPEN:
            return str(publish.operation_key)
    installation = _INSTALLATION.first() or Installation.objects.get_or_create(pk=1)[0]
    intent = repr((page_id, audience_id, version_id, len(before)))
    secret = salted_hmac("operation key", intent, secret=installation.nonce, algorithm="sha256")
    digits = secret.hexdigest()
    return "pr-" + "-".join(digits[start : start + 4] for start in range(0, 20, 4))


def renew_keys() -> None:
    """Let no key of this ledger come again. For a restored one, which forgot what came later."""
    Installation.objects.update_or_create(pk=1, defaults={"nonce": secrets.token_hex()})


def outcome_of(attempts: Collection[str]) -> Outcome:
    """Return the outcome of an operation from those of its attempts, of which there is one or more.

    One that was accepted decides. While any is under way or lost, a refusal of another says
    nothing: the lost one may have been carried out.
    """
    order = (
        Outcome.ACCEPTED,
        Outcome.SENDING,
        Outcome.UNKNOWN,
        Outcome.REJECTED,
        Outcome.NOT_SENT,
    )
    return next(outcome for outcome in order if outcome in attempts)


def begin(
    *,
    operation_key: str,
    kind: Kind,
    actor: User,
    target: Target,
    body: Any,
    before: Any = None,
) -> tuple[Operation, Attempt | None]:
    """Write an operation down and return it with the attempt to send now.

    The attempt is None where the key is on record already: then nothing may be sent.
    """
    now = timezone.now()
    try:
        with transaction.atomic():
            operation = Operation.objects.create(
                operation_key=operation_key,
                kind=kind,
                actor=actor,
                actor_name=actor_name(actor),
                requested_at=now,
                body_sent=body,
                before=before,
                **asdict(target),
            )
            return operation, _attempt(operation, 1, actor, now)
    except IntegrityError:
        return Operation.objects.get(operation_key=operation_key), None


def begin_again(operation: Operation, *, actor: User) -> Attempt | None:
    """Open another attempt with the same key; None unless the outcome is unknown."""
    now = timezone.now()
    with transaction.atomic():
        # The update holds the row until the attempt is in: of two persons one gets through.
        claimed = Operation.objects.filter(pk=operation.pk, outcome=Outcome.UNKNOWN).update(
            outcome=Outcome.SENDING
        )
        if not claimed:
            return None
        return _attempt(operation, operation.attempts.count() + 1, actor, now)


def end(attempt: Attempt, ending: Ending) -> Operation:
    """Write down how an attempt ended; the operation follows unless it is settled already."""
    now = timezone.now()
    with transaction.atomic():
        # Two attempts that end together must see each other's end.
        operation = Operation.objects.select_for_update().get(pk=attempt.operation_id)
        attempt.ended_at = now
        attempt.outcome = ending.outcome
        attempt.said = ending.said
        attempt.status_code = ending.status_code
        attempt.answer = ending.answer[:ANSWER_KEPT_CHARACTERS]
        attempt.save()
        if ending.page_id and not operation.page_id:
            operation.page_id = ending.page_id
            operation.save(update_fields=["page_id"])
        if operation.outcome in OPEN:
            _move(operation, outcome_of(_attempt_outcomes(operation)), now)
    return operation


def settle(operation: Operation, outcome: Outcome, *, found: str, page_id: str = "") -> Operation:
    """Write down what a look at the target found, and the outcome that follows from it.

    UNKNOWN leaves the outcome as it is: the look told nothing. `page_id` is of the page that was
    found to have been created.
    """
    now = timezone.now()
    with transaction.atomic():
        operation = Operation.objects.select_for_update().get(pk=operation.pk)
        operation.looked_at, operation.look_found = now, found
        operation.page_id = operation.page_id or page_id
        operation.save(update_fields=["looked_at", "look_found", "page_id"])
        if operation.outcome in OPEN and outcome not in OPEN:
            _move(operation, outcome, now)
    return operation


def give_up_on_interrupted(*, limit: timedelta) -> int:
    """Call unknown what has been in flight longer than a call can take; return how many.

    A process that was killed between sending and answering leaves such attempts behind: they
    keep no end. An answer that comes all the same, from a process that only stood still, counts.
    """
    before = timezone.now() - limit
    cut_off = Attempt.objects.filter(outcome=Outcome.SENDING, sent_at__lt=before)
    stuck = list(cut_off.values_list("operation_id", flat=True))
    if not stuck:
        return 0
    with transaction.atomic():
        # Locked in the order in which `end` locks: the operation, then its attempts.
        locked = Operation.objects.select_for_update().filter(pk__in=stuck).order_by("pk")
        sending = [found.pk for found in locked if found.outcome == Outcome.SENDING]
        cut_off.update(outcome=Outcome.UNKNOWN)
        under_way = Attempt.objects.filter(outcome=Outcome.SENDING).values("operation_id")
        interrupted = Operation.objects.filter(pk__in=sending).exclude(pk__in=under_way)
        return interrupted.update(outcome=Outcome.UNKNOWN)


def _attempt(operation: Operation, number: int, actor: User, now: datetime) -> Attempt:
    return Attempt.objects.create(
        operation=operation, number=number, actor_name=actor_name(actor), sent_at=now
    )


def _attempt_outcomes(operation: Operation) -> set[str]:
    return set(operation.attempts.values_list("outcome", flat=True))


def _move(operation: Operation, outcome: Outcome, now: datetime) -> None:
    operation.outcome = outcome
    operation.settled_at = None if outcome in OPEN else now
    operation.save(update_fields=["outcome", "settled_at"])
