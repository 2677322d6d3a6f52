"""What colleagues did in the past weeks, worked out from what the ledger has seen happen."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from dashboard.client import (
    APIError,
    ConflictError,
    InvalidRequestError,
    KeyRefusedError,
    LostAnswerError,
    NotReachedError,
    RateLimitedError,
)
from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.contract.pages import PageItem, PageRequest, PageStatus
from dashboard.contract.wire import WireModel
from dashboard.ledger.models import AudienceRecord, PageRecord, SubscriptionRecord, VersionRecord
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.operations import Ending, Target
from dashboard.web.demo.operations import Past
from dashboard.web.evidence import version_before
from dashboard.web.operations import ending_of

IN_USE = timedelta(days=42)
A_MOMENT = timedelta(milliseconds=180)
"""Between the button and what the service notes."""
TIME_LIMIT_S = 30.0


def everything_done(now: datetime) -> Iterator[Past]:
    """Return all that was done, in no order."""
    dice = Random("past")  # noqa: S311 (nothing is guarded by it)
    yield from _publishes(dice, now)
    yield from _pages_created(dice, now)
    yield from _subscriptions_changed(dice, now)


def _publishes(dice: Random, now: datetime) -> Iterator[Past]:
    """Return the publishes behind what was seen, most of them made here; some failed before."""
    names = {
        (row.page_id, row.audience_id): row.name
        for row in AudienceRecord.objects.only("page_id", "audience_id", "name")
    }
    stuck = _longest_queued()
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
        if record.version_id == stuck:
            yield _never_answered(target, version, queued)
        elif dice.random() < 0.72:
            yield from _publish(dice, target, version, queued)


def _publish(
    dice: Random, target: Target, version: AudienceVersion, queued: datetime
) -> Iterator[Past]:
    at = queued - A_MOMENT
    if dice.random() < 0.03:
        earlier = at - timedelta(seconds=dice.uniform(40, 600))
        yield _failed(dice, Kind.PUBLISH_VERSION, earlier, target, error=dice.choice(_REFUSED))
    if dice.random() < 0.02:
        lost = _never_answered(target, version, queued)
        yield replace(
            lost,
            looked_at=queued + timedelta(minutes=3),
            found=f"version {target.version_number} is queued: the request was carried out",
            outcome=Outcome.ACCEPTED,
        )
    else:
        answer = Ending(Outcome.ACCEPTED, status_code=200, answer=_wire(_as_queued(version)))
        yield replace(
            _never_answered(target, version, queued), ending=answer, took_s=dice.uniform(0.2, 1.1)
        )
    cancelled = read_date(version.cancelled_at)
    if cancelled and dice.random() < 0.3:
        later = cancelled + timedelta(seconds=dice.uniform(30, 900))
        yield _failed(dice, Kind.PUBLISH_VERSION, later, target, error=_CANCELLED)


def _never_answered(target: Target, version: AudienceVersion, queued: datetime) -> Past:
    """A publish that arrived though its answer did not: a look can find that out."""
    lost = ending_of(LostAnswerError(f"The service did not answer within {TIME_LIMIT_S:g} s."))
    draft = {"status": VersionStatus.DRAFT.value, "queued_at": None, "published_at": None}
    before = version_before(version.model_copy(update=draft))
    at = queued - A_MOMENT
    return Past(Kind.PUBLISH_VERSION, at, target, None, lost, TIME_LIMIT_S, before=before)


def _failed(
    dice: Random, kind: Kind, at: datetime, target: Target, *, error: APIError, body: Any = None
) -> Past:
    return Past(kind, at, target, body, ending_of(error), dice.uniform(0.05, 0.4))


def _pages_created(dice: Random, now: datetime) -> Iterator[Past]:
    for record in PageRecord.objects.filter(created_at__gte=now - IN_USE).order_by("created_at"):
        page = record.page
        at = (record.created_at or now) - A_MOMENT
        target = Target(record.page_id, target_name=record.name)
        body = _request_of(page)
        if dice.random() < 0.25:
            earlier = at - timedelta(seconds=dice.uniform(30, 200))
            nowhere = Target(target_name=record.name)
            refused = body | {"pageContext": " "}
            yield _failed(dice, Kind.CREATE_PAGE, earlier, nowhere, error=_NO_CONTEXT, body=refused)
        new = page.model_copy(
            update={
                "audiences_count": 0,
                "status": PageStatus.DRAFT.value,
                "updated_at": page.created_at,
                "archived_at": None,
            }
        )
        answer = Ending(Outcome.ACCEPTED, status_code=201, answer=_wire(new))
        yield Past(Kind.CREATE_PAGE, at, target, body, answer, dice.uniform(0.4, 1.3))


def _subscriptions_changed(dice: Random, now: datetime) -> Iterator[Past]:
    """Return some switching off and on again, and an address that the service refused today."""
    records = list(SubscriptionRecord.objects.order_by("pk"))
    for number, record in enumerate(records):
        target = Target(subscription_id=record.subscription_id, target_name=record.label)
        at = now - timedelta(days=dice.uniform(2, 5))
        for active in (record.active, not record.active) * dice.randint(1, 3):
            yield _switched(dice, record, target, at, active=active)
            at -= timedelta(days=dice.uniform(0.01, 6))
        if number == 1:
            body = {"url": record.url.replace("https", "htps", 1)}
            today = now - timedelta(minutes=52)
            yield _failed(
                dice, Kind.UPDATE_SUBSCRIPTION, today, target, error=_NO_ADDRESS, body=body
            )


def _switched(
    dice: Random, record: SubscriptionRecord, target: Target, at: datetime, *, active: bool
) -> Past:
    subscription = record.subscription
    before = subscription.model_copy(update={"active": not active}).to_wire()
    after = _wire(subscription.model_copy(update={"active": active}))
    answer = Ending(Outcome.ACCEPTED, status_code=200, answer=after)
    took_s = dice.uniform(0.1, 0.5)
    body = {"active": active}
    return Past(Kind.UPDATE_SUBSCRIPTION, at, target, body, answer, took_s, before=before)


def _longest_queued() -> str:
    """Return the id of the version that has been queued longest and still is, or nothing."""
    waiting = [
        version
        for record in AudienceRecord.objects.filter(latest_status=VersionStatus.QUEUED)
        if (version := record.audience.latest_version)
    ]
    return min((v.queued_at or "~", v.version_id) for v in waiting)[1] if waiting else ""


def _as_queued(version: AudienceVersion) -> AudienceVersion:
    """Return a version as it was when its publish was answered."""
    later = ("published_at", "cancelled_at", "obsolete_at", "archived_at", "queue_duration_ms")
    queued = {"status": VersionStatus.QUEUED.value}
    return version.model_copy(update=dict.fromkeys(later) | queued)


def _request_of(page: PageItem) -> dict[str, Any]:
    """Return the request that made a page."""
    sent = page.to_wire()
    sent["actions"] = [
        {name: value for name, value in action.items() if name != "actionIndex"}
        for action in sent["actions"]
    ]
    names = [field.alias or "" for field in PageRequest.model_fields.values()]
    return {name: sent[name] for name in names if sent.get(name) is not None}


def _wire(thing: WireModel) -> str:
    return thing.model_dump_json(by_alias=True, exclude_unset=True)


def _problem(status: int, title: str, detail: str, **more: Any) -> dict[str, Any]:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return {"status_code": status, "said": detail, "body": json.dumps(body)}


_CANCELLED = ConflictError(
    **_problem(
        409,
        "Conflict",
        "This version was cancelled, and a cancelled version can't be published.",
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
        errors=[
            {"path": "url", "message": "must be an absolute http or https address with a host"}
        ],
    )
)
_REFUSED: tuple[APIError, ...] = (
    NotReachedError(
        "The service could not be reached: service.kestrel.example refused the connection."
    ),
    NotReachedError(
        "The service could not be reached: the name service.kestrel.example is not known."
    ),
    KeyRefusedError(**_problem(401, "Unauthorized", "The API key is missing or not known.")),
    RateLimitedError(
        **_problem(429, "Too Many Requests", "Too many requests: wait 20 seconds."),
        retry_after_s=20.0,
    ),
)
"""What stopped some publishes before they could be carried out."""
