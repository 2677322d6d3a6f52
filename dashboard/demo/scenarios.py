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
        target = Target(
            record.page_id,
            record.audience_id,
            record.version_id,
            record.version_number,
            target_name=name,
        )
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
    if rng.random() < 0.02:
        lost = _lost_response(target, version, queued)
        yield replace(
            lost,
            checked_at=queued + timedelta(minutes=3),
            found=f"version {target.version_number} is queued: the request was executed",
            outcome=Outcome.ACCEPTED,
        )
    else:
        answer = AttemptResult(
            Outcome.ACCEPTED, status_code=200, response_body=_to_json(_as_queued(version))
        )
        yield replace(
            _lost_response(target, version, queued), result=answer, took_s=rng.uniform(0.2, 1.1)
        )
    cancelled = read_date(version.cancelled_at)
    if cancelled and rng.random() < 0.3:
        later = cancelled + timedelta(seconds=rng.uniform(30, 900))
        yield _failure(rng, OperationKind.PUBLISH_VERSION, later, target, error=_CANCELLED)


def _lost_response(target: Target, version: AudienceVersion, queued: datetime) -> PastOperation:
    """Return a publish that was executed, but whose response was lost; a check can settle it."""
    lost = attempt_result_for(
        ResponseLostError(f"The service didn't respond within {TIME_LIMIT_S:g} s.")
    )
    draft = {"status": VersionStatus.DRAFT.value, "queued_at": None, "published_at": None}
    before = compared_fields(version.model_copy(update=draft))
    at = queued - SEND_DELAY
    return PastOperation(
        OperationKind.PUBLISH_VERSION, at, target, None, lost, TIME_LIMIT_S, before=before
    )


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
        answer = AttemptResult(Outcome.ACCEPTED, status_code=201, response_body=_to_json(new))
        yield PastOperation(
            OperationKind.CREATE_PAGE, at, target, body, answer, rng.uniform(0.4, 1.3)
        )


def _subscriptions_changed(rng: Random, now: datetime) -> Iterator[PastOperation]:
    """Yield some updates of `active`, and a URL that the service rejected today."""
    records = list(SubscriptionRecord.objects.order_by("pk"))
    for number, record in enumerate(records):
        target = Target(subscription_id=record.subscription_id, target_name=record.label)
        at = now - timedelta(days=rng.uniform(2, 5))
        for active in (record.active, not record.active) * rng.randint(1, 3):
            yield _switch(rng, record, target, at, active=active)
            at -= timedelta(days=rng.uniform(0.01, 6))
        if number == 1:
            body = {"url": record.url.replace("https", "htps", 1)}
            today = now - timedelta(minutes=52)
            yield _failure(
                rng, OperationKind.UPDATE_SUBSCRIPTION, today, target, error=_NO_ADDRESS, body=body
            )


def _switch(
    rng: Random, record: SubscriptionRecord, target: Target, at: datetime, *, active: bool
) -> PastOperation:
    subscription = record.subscription
    before = subscription.model_copy(update={"active": not active}).to_wire()
    after = _to_json(subscription.model_copy(update={"active": active}))
    answer = AttemptResult(Outcome.ACCEPTED, status_code=200, response_body=after)
    took_s = rng.uniform(0.1, 0.5)
    body = {"active": active}
    return PastOperation(
        OperationKind.UPDATE_SUBSCRIPTION, at, target, body, answer, took_s, before=before
    )


def _longest_queued_id() -> str:
    """Return the id of the version that has been queued longest, or ""."""
    waiting = [
        version
        for record in AudienceRecord.objects.filter(latest_status=VersionStatus.QUEUED)
        if (version := record.audience.latest_version)
    ]
    return min((v.queued_at or "~", v.version_id) for v in waiting)[1] if waiting else ""


def _as_queued(version: AudienceVersion) -> AudienceVersion:
    """Return the version in the response of its publish."""
    later = ("published_at", "cancelled_at", "obsolete_at", "archived_at", "queue_duration_ms")
    queued = {"status": VersionStatus.QUEUED.value}
    return version.model_copy(update=dict.fromkeys(later) | queued)


def _request_of(page: PageItem) -> dict[str, Any]:
    """Return the request that created a page."""
    sent = page.to_wire()
    sent["actions"] = [
        {name: value for name, value in action.items() if name != "actionIndex"}
        for action in sent["actions"]
    ]
    names = [field.alias or "" for field in PageRequest.model_fields.values()]
    return {name: sent[name] for name in names if sent.get(name) is not None}


def _to_json(thing: WireModel) -> str:
    return thing.model_dump_json(by_alias=True, exclude_unset=True)


def _problem(status: int, title: str, detail: str, **more: Any) -> dict[str, Any]:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return {"status_code": status, "message": detail, "body": json.dumps(body)}


_CANCELLED = ConflictError(
    **_problem(
        409,
        "Conflict",
        "This version was canceled, so it can't be published.",
    )
)
_NO_CONTEXT = InvalidRequestError(
    **_problem(
        422,
        "Unprocessable Entity",
        "The request was not accepted.",
        errors=[{"path": "pageContext", "message": "must not be blank"}],
    )
)
_NO_ADDRESS = InvalidRequestError(
    **_problem(
        422,
        "Unprocessable Entity",
        "The request was not accepted.",
        errors=[{"path": "url", "message": "must be an absolute http or https URL with a host"}],
    )
)
_ERRORS: tuple[APIError, ...] = (
    ConnectError("Couldn't reach the service: service.kestrel.example refused the connection."),
    ConnectError("Couldn't reach the service: unknown host service.kestrel.example."),
    AuthenticationError(
        **_problem(
            401,
            "Unauthorized",
            "The x-api-key header is missing, or its key is unknown or revoked.",
        )
    ),
    RateLimitedError(
        **_problem(429, "Too Many Requests", "Too many requests: wait 20 seconds."),
        retry_after_s=20.0,
    ),
)
"""Errors of publishes that were not executed."""
