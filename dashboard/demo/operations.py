"""The operations of the past weeks that fit the versions, pages and subscriptions in the ledger."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from dashboard.client import APIError, ConnectError, ResponseLostError, StatusError
from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.pages import PageRequest, PageStatus
from dashboard.contract.wire import WireModel, read_date
from dashboard.demo.history import TEXTS
from dashboard.ledger.models import (
    Attempt,
    AudienceRecord,
    Operation,
    PageRecord,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import MAX_RESPONSE_CHARACTERS, OPEN, AttemptResult, Target
from dashboard.operations.execution import attempt_result_for

IN_USE = timedelta(days=42)
SEND_DELAY = timedelta(milliseconds=180)
"""Time between sending a request and the service's own date for it."""
CHECKED_AFTER = timedelta(minutes=3)
TIME_LIMIT_S = 30.0
PUBLISH, UPDATE = OperationKind.PUBLISH_VERSION, OperationKind.UPDATE_SUBSCRIPTION
CREATE_PAGE = OperationKind.CREATE_PAGE
FAILURES = TEXTS["failures"]


def add_operations(now: datetime, accounts: dict[str, User]) -> None:
    rng = Random("past")  # noqa: S311 (not for security)
    attempts = [*_publishes(rng, now), *_pages_created(rng, now), *_subscriptions_changed(rng, now)]
    attempts.sort(key=lambda attempt: attempt.sent_at)
    weights = TEXTS["colleagues"]
    dice = Random("operations")  # noqa: S311 (not for security)
    for attempt in attempts:
        operation = attempt.operation
        name = dice.choices(list(weights), list(weights.values()))[0]
        operation.actor = accounts.get(name)
        operation.actor_name = attempt.actor_name = name
        key = UUID(int=dice.getrandbits(128), version=4)
        operation.operation_key = str(key)
        if operation.kind == OperationKind.PUBLISH_VERSION:
            # The form of the dashboard's own keys.
            groups = (key.hex[start : start + 4] for start in range(0, 20, 4))
            operation.operation_key = f"pr-{'-'.join(groups)}"
            operation.body_sent = {"operationKey": operation.operation_key}
    Operation.objects.bulk_create(attempt.operation for attempt in attempts)
    Attempt.objects.bulk_create(attempts)


def _attempt(
    kind: OperationKind,
    at: datetime,
    target: Target,
    result: AttemptResult,
    took_s: float,
    **columns: Any,
) -> Attempt:
    """Return the only attempt of a past operation; `columns` are the operation's."""
    ended = at + timedelta(seconds=took_s)
    operation = Operation(
        kind=kind,
        outcome=result.outcome,
        requested_at=at,
        settled_at=None if result.outcome in OPEN else ended,
        changed_at=ended,
        **asdict(target),
        **columns,
    )
    return Attempt(
        operation=operation,
        number=1,
        sent_at=at,
        ended_at=ended,
        outcome=result.outcome,
        message=result.message,
        status_code=result.status_code,
        response_body=result.response_body[:MAX_RESPONSE_CHARACTERS],
    )


def _failure(
    rng: Random,
    kind: OperationKind,
    at: datetime,
    target: Target,
    failure: dict[str, Any],
    **columns: Any,
) -> Attempt:
    """Return a failed attempt: with the problem from the service, or without a response."""
    error: APIError = ConnectError(failure["detail"])
    if status := failure.get("status"):
        body = json.dumps({"type": "about:blank", **failure})
        error = StatusError(status_code=status, message=failure["detail"], body=body)
    took_s = rng.uniform(0.05, 0.4)
    return _attempt(kind, at, target, attempt_result_for(error), took_s, **columns)


def _publishes(rng: Random, now: datetime) -> Iterator[Attempt]:
    """Yield publishes for most of the recorded versions, some with failures.

    The response for the version that has been queued longest was lost.
    """
    names = {
        (row.page_id, row.audience_id): row.name
        for row in AudienceRecord.objects.only("page_id", "audience_id", "name")
    }
    waiting = [
        (version.queued_at or "~", version.version_id)
        for record in AudienceRecord.objects.filter(latest_status=VersionStatus.QUEUED)
        if (version := record.audience.latest_version)
    ]
    _, stuck_id = min(waiting, default=("", ""))
    for record in VersionRecord.objects.order_by("pk"):
        version, queued = record.version, read_date(record.version.queued_at)
        if not queued or queued < now - IN_USE:
            continue
        name = names.get((record.page_id, record.audience_id), "")
        version_ids = (record.page_id, record.audience_id, record.version_id)
        target = Target(*version_ids, record.version_number, target_name=name)
        if record.version_id == stuck_id:
            yield _lost_response(target, version, queued)
        elif rng.random() < 0.72:
            yield from _publish(rng, target, version, queued)


def _publish(
    rng: Random, target: Target, version: AudienceVersion, queued: datetime
) -> Iterator[Attempt]:
    at = queued - SEND_DELAY
    if rng.random() < 0.03:
        earlier = at - timedelta(seconds=rng.uniform(40, 600))
        yield _failure(rng, PUBLISH, earlier, target, rng.choice(FAILURES["publishes"]))
    if rng.random() < 0.02:
        attempt = _lost_response(target, version, queued)
        # A check settled it later.
        checked = attempt.operation
        checked.checked_at = checked.settled_at = checked.changed_at = queued + CHECKED_AFTER
        checked.outcome = Outcome.ACCEPTED
        checked.check_result = (
            f"version {target.version_number} is queued: the request was executed"
        )
        yield attempt
    else:
        unset = ("published_at", "cancelled_at", "obsolete_at", "archived_at", "queue_duration_ms")
        as_queued = dict.fromkeys(unset) | {"status": VersionStatus.QUEUED.value}
        response = _accepted(200, version.model_copy(update=as_queued))
        took_s, before = rng.uniform(0.2, 1.1), _draft_fields(version)
        yield _attempt(PUBLISH, at, target, response, took_s, before=before)
    cancelled = read_date(version.cancelled_at)
    if cancelled and rng.random() < 0.3:
        later = cancelled + timedelta(seconds=rng.uniform(30, 900))
        yield _failure(rng, PUBLISH, later, target, FAILURES["canceled"])


def _lost_response(target: Target, version: AudienceVersion, queued: datetime) -> Attempt:
    """Return a publish that was executed, but whose response was lost; a check can settle it."""
    message = f"The service didn’t respond within {TIME_LIMIT_S:g} s."
    lost = attempt_result_for(ResponseLostError(message))
    at, before = queued - SEND_DELAY, _draft_fields(version)
    return _attempt(PUBLISH, at, target, lost, TIME_LIMIT_S, before=before)


def _draft_fields(version: AudienceVersion) -> Any:
    draft = {"status": VersionStatus.DRAFT.value, "queued_at": None, "published_at": None}
    return version.model_copy(update=draft).publish_state


def _pages_created(rng: Random, now: datetime) -> Iterator[Attempt]:
    names = [field.alias or "" for field in PageRequest.model_fields.values()]
    for record in PageRecord.objects.filter(created_at__gte=now - IN_USE).order_by("created_at"):
        page = record.page
        at = (record.created_at or now) - SEND_DELAY
        wire = page.to_wire()
        for action in wire["actions"]:
            action.pop("actionIndex", None)
        body = {name: wire[name] for name in names if wire.get(name) is not None}
        if rng.random() < 0.25:
            earlier = at - timedelta(seconds=rng.uniform(30, 200))
            refused = {"body_sent": body | {"pageContext": " "}}
            nowhere, failure = Target(target_name=record.name), FAILURES["context"]
            yield _failure(rng, CREATE_PAGE, earlier, nowhere, failure, **refused)
        as_created = {
            "audiences_count": 0,
            "status": PageStatus.DRAFT.value,
            "updated_at": page.created_at,
            "archived_at": None,
        }
        target = Target(record.page_id, target_name=record.name)
        response = _accepted(201, page.model_copy(update=as_created))
        yield _attempt(CREATE_PAGE, at, target, response, rng.uniform(0.4, 1.3), body_sent=body)


def _subscriptions_changed(rng: Random, now: datetime) -> Iterator[Attempt]:
    """Yield some updates of `active`, and a URL that the service rejected today."""
    for number, record in enumerate(SubscriptionRecord.objects.order_by("pk")):
        target = Target(subscription_id=record.subscription_id, target_name=record.label)
        at = now - timedelta(days=rng.uniform(2, 5))
        for active in (record.active, not record.active) * rng.randint(1, 3):
            before = record.subscription.model_copy(update={"active": not active}).to_wire()
            response = _accepted(200, record.subscription.model_copy(update={"active": active}))
            columns = {"body_sent": {"active": active}, "before": before}
            yield _attempt(UPDATE, at, target, response, rng.uniform(0.1, 0.5), **columns)
            at -= timedelta(days=rng.uniform(0.01, 6))
        if number == 1:
            body = {"url": record.url.replace("https", "htps", 1)}
            today = now - timedelta(minutes=52)
            yield _failure(rng, UPDATE, today, target, FAILURES["url"], body_sent=body)


def _accepted(status_code: int, body: WireModel) -> AttemptResult:
    response = body.to_json()
    return AttemptResult(Outcome.ACCEPTED, status_code=status_code, response_body=response)
