"""Operations as shown in Activity: requests, responses and changed fields.

Those that a release sent are one entry, placed at the newest of them.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.utils.functional import cached_property

from dashboard.client.response_parsing import parse_json
from dashboard.client.session import path
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import show_interrupted
from dashboard.ledger.queries.operations import with_publications
from dashboard.ledger.states import State, operation_state, time_to_live
from dashboard.releases.models import Release, ReleaseItem
from dashboard.texts import redact_secret, redact_unless
from dashboard.web.releases.summary import ReleaseSummary, summarize_all
from dashboard.web.ui.csv import Cell
from dashboard.web.ui.query_params import int_param

ITEMS = Prefetch(
    "release_items",
    ReleaseItem.objects.select_related("release")
    .only(
        *("operation_id", "release__name", "release__has_own_name", "release__created_at"),
        "release__note",
    )
    .order_by("pk"),
)
"""The releases of operations, without the bodies of versions; two queries for any number."""
RELATED = ("attempts", ITEMS, "approval")
"""What a record needs of operations, to be prefetched."""


def for_records(operations: QuerySet[Operation]) -> QuerySet[Operation]:
    """Return the operations with all that their records need."""
    return with_publications(operations).prefetch_related(*RELATED)


@dataclass(frozen=True)
class Exchange:
    attempt: Attempt
    response: Any
    """The body: parsed JSON, or the text if it isn't JSON; "" without a response."""
    is_json: bool


@dataclass(frozen=True)
class ChangedField:
    name: str
    before: Any
    after: Any
    is_known_before: bool


@dataclass(frozen=True)
class OperationRecord:
    operation: Operation
    attempts: list[Attempt]
    shows_secrets: bool = False
    """Whether the receiver's secret is shown in the URL of a subscription."""

    @cached_property
    def release(self) -> Release | None:
        """The release that sent it; the first one, if several followed it."""
        items = list(self.operation.release_items.all())
        return items[0].release if items else None

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def actors(self) -> list[str]:
        """The names of who requested it and who retried it, in order; each once."""
        names = [self.operation.actor_name, *(attempt.actor_name for attempt in self.attempts)]
        return list(dict.fromkeys(names))

    @property
    def state(self) -> State:
        """Its state; of a publish that was accepted, that of its version."""
        return operation_state(self.operation)

    @property
    def duration(self) -> timedelta | None:
        """The time until it was over: of a publish until its version was live; None before.

        Of all others the total duration of the attempts.
        """
        is_publish = self.operation.kind == OperationKind.PUBLISH_VERSION
        if is_publish and self.operation.outcome == Outcome.ACCEPTED:
            return time_to_live(self.operation)
        times = [attempt.duration for attempt in self.attempts if attempt.duration is not None]
        return sum(times, timedelta()) if times else None

    @property
    def method(self) -> str:
        return "PATCH" if self.operation.kind == OperationKind.UPDATE_SUBSCRIPTION else "POST"

    @property
    def path(self) -> str:
        operation = self.operation
        match OperationKind(operation.kind):
            case OperationKind.PUBLISH_VERSION:
                audience = ("pages", operation.page_id, "audiences", operation.audience_id)
                return path(*audience, "versions", operation.version_id, "publish")
            case OperationKind.CREATE_PAGE:
                return path("pages")
            case OperationKind.UPDATE_SUBSCRIPTION:
                return path("webhook_subscriptions", operation.subscription_id)

    @property
    def is_keyed(self) -> bool:
        """Whether it takes an idempotency key: only publishing does (spec)."""
        return self.operation.kind == OperationKind.PUBLISH_VERSION

    @property
    def may_duplicate(self) -> bool:
        """Whether a retry may create a second object."""
        return self.operation.kind == OperationKind.CREATE_PAGE

    @property
    def may_retry(self) -> bool:
        """Whether it may be retried: its outcome is unknown, and a created object was checked."""
        if self.operation.outcome != Outcome.UNKNOWN:
            return False
        checked_at, last = self.operation.checked_at, self.last
        is_checked = checked_at is not None and last is not None and checked_at > last.sent_at
        return is_checked or not self.may_duplicate

    @property
    def body(self) -> Any:
        return redact_unless(self.operation.body_sent, self.shows_secrets)

    @property
    def exchanges(self) -> list[Exchange]:
        return [_exchange(attempt, self.response_text(attempt)) for attempt in self.attempts]

    def response_text(self, attempt: Attempt | None) -> str:
        text = attempt.response_body if attempt else ""
        return text if self.shows_secrets else redact_secret(text)

    @property
    def changes(self) -> list[ChangedField]:
        """The fields that a subscription update changes, before and after."""
        if self.operation.kind != OperationKind.UPDATE_SUBSCRIPTION:
            return []
        operation = self.operation
        before = operation.before if isinstance(operation.before, dict) else {}
        before = redact_unless(before, self.shows_secrets)
        sent = self.body if isinstance(operation.body_sent, dict) else {}
        return [
            ChangedField(name, before.get(name), after, is_known_before=name in before)
            for name, after in sent.items()
        ]


def record_of(operation: Operation, *, shows_secrets: bool = False) -> OperationRecord:
    """Return an operation of `with_publications` with its attempts; interrupted ones as unknown.

    No query is made if the attempts are prefetched.
    """
    attempts = list(operation.attempts.all())
    show_interrupted(operation, attempts)
    return OperationRecord(operation, attempts, shows_secrets)


def of_release(operations: QuerySet[Operation], release_id: int) -> QuerySet[Operation]:
    items = ReleaseItem.objects.filter(release_id=release_id, operation__isnull=False)
    return operations.filter(pk__in=items.values("operation"))


def newest_of_releases(operations: QuerySet[Operation]) -> QuerySet[Operation]:
    """Return the operations of no release, and the newest one of each release."""
    later = ReleaseItem.objects.filter(
        operation=OuterRef("pk"), release__items__operation__gt=OuterRef("pk")
    )
    return operations.filter(~Exists(later))


def summaries_by_pk(pks: Iterable[int]) -> dict[int, ReleaseSummary]:
    """Return releases by primary key, with their items counted; two queries, none without any."""
    pks = set(pks)
    summaries = summarize_all(Release.objects.filter(pk__in=pks)) if pks else []
    return {summary.release.pk: summary for summary in summaries}


def moving_marks(summaries: Iterable[ReleaseSummary]) -> str:
    """Return the releases that are being published as text, for the URL of a poll: `7-1f.9-a0`."""
    return ".".join(
        f"{summary.release.pk}-{summary.mark}" for summary in summaries if summary.is_moving
    )


def changed_releases(marks: str) -> tuple[list[ReleaseSummary], list[ReleaseSummary]]:
    """Return the releases of `moving_marks` as they are now, and those that have changed since."""
    pairs = dict(mark.split("-", 1) for mark in marks.split(".") if "-" in mark)
    by_pk = {int_param(pk): mark for pk, mark in pairs.items()}
    summaries = list(summaries_by_pk(by_pk).values())
    return summaries, [
        summary for summary in summaries if summary.mark != by_pk[summary.release.pk]
    ]


def _exchange(attempt: Attempt, response: str) -> Exchange:
    try:
        return Exchange(attempt, parse_json(response), is_json=True)
    except ValueError:
        return Exchange(attempt, response, is_json=False)


def _attempt_text(attempt: Attempt) -> str:
    status = [] if attempt.status_code is None else [str(attempt.status_code)]
    facts = [attempt.actor_name, _utc(attempt.sent_at), attempt.get_outcome_display(), *status]
    return f"{attempt.number}: {', '.join(facts)}"


def _utc(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds") if moment else ""


def _seconds(record: OperationRecord) -> float | None:
    return None if record.duration is None else round(record.duration.total_seconds(), 3)


def _of_last(field: str) -> Callable[[OperationRecord], object]:
    return lambda record: getattr(record.last, field) if record.last else None


def _of_release(field: str) -> Callable[[OperationRecord], object]:
    return lambda record: getattr(record.release, field) if record.release else None


def _of_approval(field: str) -> Callable[[OperationRecord], object]:
    return lambda record: getattr(record.operation.approval, field, None)


def _json(body: object) -> str:
    return "" if body is None else json.dumps(body, ensure_ascii=False)


EXPORT = (
    Cell("operation key", "operation.operation_key"),
    Cell("type", "operation.act"),
    Cell("outcome", "state.label"),
    Cell("requested at (UTC)", lambda record: _utc(record.operation.requested_at)),
    Cell("completed at (UTC)", lambda record: _utc(record.operation.settled_at)),
    Cell("user", "operation.actor_name"),
    Cell("target", "operation.target_name"),
    Cell("page ID", "operation.page_id"),
    Cell("audience ID", "operation.audience_id"),
    Cell("version ID", "operation.version_id"),
    Cell("version number", "operation.version_number"),
    Cell("rolled back version ID", "operation.rolled_back_id"),
    Cell("rolled back version number", "operation.rolled_back_number"),
    Cell("reason", "operation.note"),
    Cell("subscription ID", "operation.subscription_id"),
    Cell("attempts", lambda record: len(record.attempts)),
    Cell("duration (s)", _seconds),
    Cell("status code", _of_last("status_code")),
    Cell("message", _of_last("message")),
    Cell("last check", "operation.check_result"),
    Cell("request body", lambda record: _json(record.body)),
    Cell("response body", lambda record: record.response_text(record.last)),
    Cell("attempt log", lambda record: "; ".join(map(_attempt_text, record.attempts))),
    Cell("release", _of_release("name")),
    Cell("release ID", _of_release("pk")),
    Cell("release note", _of_release("note")),
    Cell("approved by", _of_approval("decided_by_name")),
    Cell("approval ID", _of_approval("pk")),
    Cell("reason without approval", "operation.emergency_reason"),
)
