"""Sending again what nobody knows the outcome of: what it was about is read anew first.

What was lost may have been carried out since, and others may have gone on. So it is settled where
the reading proves something, and what speaks against a repeat is told before it leaves.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User

from dashboard.client import APIError
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import begin_again, settle
from dashboard.ledger.queries.operations import bodies_of_later_updates
from dashboard.web.evidence import subscription_verdict
from dashboard.web.looks import Sighting, settle_by
from dashboard.web.preparation import Preparation, Subject, prepare
from dashboard.web.sending import send
from dashboard.web.subscription_reading import ask, remember_if_listed


def send_again(operation: Operation, *, actor: User) -> Operation:
    """Send an operation once more, with the same key and body, unless it is settled by now."""
    attempt = begin_again(operation, actor=actor)
    if attempt is None:
        return Operation.objects.get(pk=operation.pk)
    return send(operation, attempt).operation


def prepare_again(operation: Operation) -> tuple[Operation, Preparation]:
    """Read anew all that is asked before a publish, and settle this one where that proves it.

    Raises APIError where the audience can't be read and was never seen.
    """
    subject = Subject(operation.page_id, operation.audience_id, operation.version_id)
    preparation = prepare(subject, with_conversation=True)
    return settle_by(operation, _seen_by(preparation)), preparation


def update_again(operation: Operation, *, actor: User) -> Operation:
    """Send a change of a subscription once more, unless the same was changed since.

    It takes no key (spec), so a repeat could undo what came later.
    """
    try:
        now = ask(operation.subscription_id)
    except APIError as error:
        found = f"nothing could be seen, so nothing was sent again. {error}"
        return settle(operation, Outcome.UNKNOWN, found=found)
    remember_if_listed(operation.subscription_id, now)
    body, held = operation.body_sent or {}, now.to_wire()
    verdict = subscription_verdict(body_sent=body, before=operation.before, now=held)
    if verdict.outcome != Outcome.UNKNOWN:
        return settle(operation, verdict.outcome, found=verdict.found)
    if since := changes_since(body, operation.before, held, bodies_of_later_updates(operation)):
        found = f"{'; '.join(since)}. So nothing was sent again"
        return settle(operation, Outcome.UNKNOWN, found=found)
    return send_again(operation, actor=actor)


def changes_since(
    body: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    now: Mapping[str, Any],
    later: Iterable[Mapping[str, Any]],
) -> list[str]:
    """Say of each field of `body` what happened to it since; pure, all as on the wire.

    `later` holds what was asked for here afterwards: a field that went there and back is as it
    was, and yet somebody's last word. `updatedAt` is not looked at: nobody knows whether the
    service moves it at the empty change by which we read.
    """
    asked_later = {name for other in later for name in other}
    return list(_changes_since(body, before or {}, now, asked_later))


def _changes_since(
    body: Mapping[str, Any], before: Mapping[str, Any], now: Mapping[str, Any], later: set[str]
) -> Iterator[str]:
    for name in body:
        is_now = f"{name} is {json.dumps(now.get(name), ensure_ascii=False)} now"
        if name not in before:
            yield f"{is_now}, and what it was before is not known"
        elif before[name] != now.get(name):
            yield f"{is_now}, and was {json.dumps(before[name], ensure_ascii=False)} before"
        elif name in later:
            yield f"{is_now}, and another change of it was asked for later"


def _seen_by(preparation: Preparation) -> Sighting:
    """Return what the preparation saw of the version: asking once is enough for both."""
    return Sighting(
        version=preparation.version,
        is_named=preparation.is_named,
        live=preparation.live,
        as_of=preparation.reading.as_of,
        error=preparation.reading.error,
    )
