"""Operations as Activity shows them: requests, responses and changed fields.

The operations of a release are one entry, in the place of the newest of them.
"""

import json
from collections.abc import Iterable
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

ITEMS = Prefetch(
    "release_items",
    ReleaseItem.objects.select_related("release")
    .only(
        *("operation_id", "release__name", "release__has_own_name", "release__created_at"),
        "release__note",
    )
    .order_by("pk"),
)
"""Prefetches the releases of operations without the bodies of versions, in two queries."""
RELATED = ("attempts", ITEMS, "approval")
"""Relations of an operation to prefetch for its record."""


def for_records(operations: QuerySet[Operation]) -> QuerySet[Operation]:
    """Add everything to the query that the records of the operations need."""
    return with_publications(operations).prefetch_related(*RELATED)


@dataclass(frozen=True)
class Exchange:
    attempt: Attempt
    response: Any
    """Body as parsed JSON, or as text if it isn't JSON; "" without a response."""
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
    """Whether the URL of a subscription shows the receiver's secret."""

    @cached_property
    def release(self) -> Release | None:
        """The release that sent the operation; the first one if several contain it."""
        items = list(self.operation.release_items.all())
        return items[0].release if items else None

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def actors(self) -> list[str]:
        """Names of the users who requested and retried it, in order and without duplicates."""
        names = [self.operation.actor_name, *(attempt.actor_name for attempt in self.attempts)]
        return list(dict.fromkeys(names))

    @property
    def state(self) -> State:
        """State of the operation; for an accepted publish, the state of its version."""
        return operation_state(self.operation)

    @property
    def duration(self) -> timedelta | None:
        """How long it took: for an accepted publish, until its version was live; None before that.

        For other operations, the total duration of the attempts.
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
        """Whether it takes an idempotency key. Source: spec, which has one for publishing only."""
        return self.operation.kind == OperationKind.PUBLISH_VERSION

    @property
    def may_duplicate(self) -> bool:
        """Whether a retry may create a second object."""
        return self.operation.kind == OperationKind.CREATE_PAGE

    @property
    def may_retry(self) -> bool:
        """Whether the outcome is unknown and a retry is safe.

        A creation must be checked since its last attempt, as a retry might create a duplicate.
        """
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
        """The fields that a subscription update changes, with their values before and after."""
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
    """Return the record of an operation. An interrupted operation has an unknown outcome.

    Expects an operation from `with_publications`. Makes no query if the attempts are prefetched.
    """
    attempts = list(operation.attempts.all())
    show_interrupted(operation, attempts)
    return OperationRecord(operation, attempts, shows_secrets)


def of_release(operations: QuerySet[Operation], release_id: int) -> QuerySet[Operation]:
    items = ReleaseItem.objects.filter(release_id=release_id, operation__isnull=False)
    return operations.filter(pk__in=items.values("operation"))


def newest_of_releases(operations: QuerySet[Operation]) -> QuerySet[Operation]:
    """Return the newest operation of each release, and all operations without a release."""
    later = ReleaseItem.objects.filter(
        operation=OuterRef("pk"), release__items__operation__gt=OuterRef("pk")
    )
    return operations.filter(~Exists(later))


def summaries_by_pk(pks: Iterable[int]) -> dict[int, ReleaseSummary]:
    """Return summaries of releases by primary key. Makes two queries, or none without keys."""
    pks = set(pks)
    releases = Release.objects.filter(pk__in=pks)
    summaries = summarize_all(releases) if pks else []
    return {summary.release.pk: summary for summary in summaries}


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


def _json(body: object) -> str:
    return "" if body is None else json.dumps(body, ensure_ascii=False)


EXPORT = (
    Cell("operation key", "operation.operation_key"),
    Cell("type", "operation.act"),
    Cell("outcome", "state.label"),
    Cell("requested at (UTC)", lambda record: _utc(record.operation.requested_at)),
    Cell("completed at (UTC)", lambda record: _utc(record.operation.settled_at)),
    Cell("user", "operation.actor_name"),
    Cell("by", "operation.by_program"),
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
    Cell("status code", "last.status_code"),
    Cell("message", "last.message"),
    Cell("last check", "operation.check_result"),
    Cell("request body", lambda record: _json(record.body)),
    Cell("response body", lambda record: record.response_text(record.last)),
    Cell("attempt log", lambda record: "; ".join(map(_attempt_text, record.attempts))),
    Cell("release", "release.name"),
    Cell("release ID", "release.pk"),
    Cell("release note", "release.note"),
    Cell("approved by", "operation.approval.decided_by_name"),
    Cell("approval ID", "operation.approval.pk"),
    Cell("reason without approval", "operation.emergency_reason"),
)
