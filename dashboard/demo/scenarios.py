"""The operations of the past weeks that fit the versions, pages and subscriptions in the ledger."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from dashboard.client import (
    APIError,
    AuthenticationError,
    ConflictError,
    ConnectError,
    InvalidRequestError,
    RateLimitedError,
    ResponseLostError,
)
from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.contract.pages import PageItem, PageRequest, PageStatus
from dashboard.contract.wire import WireModel
from dashboard.demo.operations import PastOperation
from dashboard.ledger.models import AudienceRecord, PageRecord, SubscriptionRecord, VersionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target
from dashboard.operations.execution import attempt_result_for
from dashboard.operations.verdicts import compared_fields

IN_USE = timedelta(days=42)
SEND_DELAY = timedelta(milliseconds=180)
"""Between sending a request and the time recorded by the service."""
TIME_LIMIT_S = 30.0


def past_operations(now: datetime) -> Iterator[PastOperation]:
    """Yield all operations, unsorted."""
    rng = Random("past")  # noqa: S311 (not for security)
    yield from _publishes(rng, now)
    yield from _pages_created(rng, now)
    yield from _subscriptions_changed(rng, now)


def _publishes(rng: Random, now: datetime) -> Iterator[PastOperation]:
    """Yield publishes for most of the recorded versions, some with failures."""
    names = {
        (row.page_id, row.audience_id): row.name
        for row in AudienceRecord.objects.only("page_id", "audience_id", "name")
    }
    stuck_id = _longest_queued_id()
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
) -> Iterator[PastOperation]:
    at = queued - SEND_DELAY
    if rng.random() < 0.03:
        earlier = at - timedelta(seconds=rng.uniform(40, 600))
        yield _failure(
            rng, OperationKind.PUBLISH_VERSION, earlier, target, error=rng.choice(_ERRORS)
        )
    lost = _lost_response(target, version, queued)
    if rng.random() < 0.02:
        yield replace(
            lost,
            checked_at=queued + timedelta(minutes=3),
            found=f"version {target.version_number} is queued: the request was executed",
            outcome=Outcome.ACCEPTED,
        )
    else:
        unset = ("published_at", "cancelled_at", "obsolete_at", "archived_at", "queue_duration_ms")
        as_queued = dict.fromkeys(unset) | {"status": VersionStatus.QUEUED.value}
        response = _accepted(200, version.model_copy(update=as_queued))
        yield replace(lost, result=response, took_s=rng.uniform(0.2, 1.1))
    cancelled = read_date(version.cancelled_at)
    if cancelled and rng.random() < 0.3:
        later = cancelled + timedelta(seconds=rng.uniform(30, 900))
        yield _failure(rng, OperationKind.PUBLISH_VERSION, later, target, error=_CANCELLED)


def _lost_response(target: Target, version: AudienceVersion, queued: datetime) -> PastOperation:
    """Return a publish that was executed, but whose response was lost; a check can settle it."""
    message = f"The service didn't respond within {TIME_LIMIT_S:g} s."
    lost = attempt_result_for(ResponseLostError(message))
    draft = {"status": VersionStatus.DRAFT.value, "queued_at": None, "published_at": None}
    before = compared_fields(version.model_copy(update=draft))
    kind, at = OperationKind.PUBLISH_VERSION, queued - SEND_DELAY
    return PastOperation(kind, at, target, None, lost, TIME_LIMIT_S, before=before)


def _failure(
    rng: Random,
    kind: OperationKind,
    at: datetime,
    target: Target,
    *,
    error: APIError,
    body: Any = None,
) -> PastOperation:
    return PastOperation(kind, at, target, body, attempt_result_for(error), rng.uniform(0.05, 0.4))


def _pages_created(rng: Random, now: datetime) -> Iterator[PastOperation]:
    for record in PageRecord.objects.filter(created_at__gte=now - IN_USE).order_by("created_at"):
        page = record.page
        at = (record.created_at or now) - SEND_DELAY
        target = Target(record.page_id, target_name=record.name)
        body = _request_of(page)
        if rng.random() < 0.25:
            earlier = at - timedelta(seconds=rng.uniform(30, 200))
            nowhere = Target(target_name=record.name)
            refused = body | {"pageContext": " "}
            yield _failure(
                rng, OperationKind.CREATE_PAGE, earlier, nowhere, error=_NO_CONTEXT, body=refused
            )
        new = page.model_copy(
            update={
                "audiences_count": 0,
                "status": PageStatus.DRAFT.value,
                "updated_at": page.created_at,
                "archived_at": None,
            }
        )
        response = _accepted(201, new)
        yield PastOperation(
            OperationKind.CREATE_PAGE, at, target, body, response, rng.uniform(0.4, 1.3)
        )


def _subscriptions_changed(rng: Random, now: datetime) -> Iterator[PastOperation]:
    """Yield some updates of `active`, and a URL that the service rejected today."""
    records = list(SubscriptionRecord.objects.order_by("pk"))
    for number, record in enumerate(records):
        target = Target(subscription_id=record.subscription_id, target_name=record.label)
        at = now - timedelta(days=rng.uniform(2, 5))
        for active in (record.active, not record.active) * rng.randint(1, 3):
            before = record.subscription.model_copy(update={"active": not active}).to_wire()
            response = _accepted(200, record.subscription.model_copy(update={"active": active}))
            kind, took_s = OperationKind.UPDATE_SUBSCRIPTION, rng.uniform(0.1, 0.5)
            yield PastOperation(
                kind, at, target, {"active": active}, response, took_s, before=before
            )
            at -= timedelta(days=rng.uniform(0.01, 6))
        if number == 1:
            body = {"url": record.url.replace("https", "htps", 1)}
            today = now - timedelta(minutes=52)
            yield _failure(
                rng, OperationKind.UPDATE_SUBSCRIPTION, today, target, error=_NO_ADDRESS, body=body
            )


def _longest_queued_id() -> str:
    """Return the id of the version that has been queued longest, or ""."""
    waiting = [
        version
        for record in AudienceRecord.objects.filter(latest_status=VersionStatus.QUEUED)
        if (version := record.audience.latest_version)
    ]
    return min((v.queued_at or "~", v.version_id) for v in waiting)[1] if waiting else ""


def _request_of(page: PageItem) -> dict[str, Any]:
    """Return the request that created a page."""
    sent = page.to_wire()
    sent["actions"] = [
        {name: value for name, value in action.items() if name != "actionIndex"}
        for action in sent["actions"]
    ]
    names = [field.alias or "" for field in PageRequest.model_fields.values()]
    return {name: sent[name] for name in names if sent.get(name) is not None}


def _accepted(status_code: int, body: WireModel) -> AttemptResult:
    response = body.to_json()
    return AttemptResult(Outcome.ACCEPTED, status_code=status_code, response_body=response)


def _problem(status: int, title: str, detail: str, **more: Any) -> dict[str, Any]:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return {"status_code": status, "message": detail, "body": json.dumps(body)}


def _invalid(path: str, message: str) -> InvalidRequestError:
    errors = [{"path": path, "message": message}]
    detail = "The request was not accepted."
    return InvalidRequestError(**_problem(422, "Unprocessable Entity", detail, errors=errors))


_CANCELLED = ConflictError(
    **_problem(409, "Conflict", "This version was canceled, so it can't be published.")
)
_NO_CONTEXT = _invalid("pageContext", "must not be blank")
_NO_ADDRESS = _invalid("url", "must be an absolute http or https URL with a host")
_BAD_KEY = "The x-api-key header is missing, or its key is unknown or revoked."
_TOO_MANY = _problem(429, "Too Many Requests", "Too many requests: wait 20 seconds.")
_ERRORS: tuple[APIError, ...] = (
    ConnectError("Couldn't reach the service: service.kestrel.example refused the connection."),
    ConnectError("Couldn't reach the service: unknown host service.kestrel.example."),
    AuthenticationError(**_problem(401, "Unauthorized", _BAD_KEY)),
    RateLimitedError(**_TOO_MANY, retry_after_s=20.0),
)
"""Errors of publishes that were not executed."""
