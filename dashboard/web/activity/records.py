"""Operations as shown in Activity: requests, responses and changed fields."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from dashboard.client.calls import path
from dashboard.client.response_parsing import parse_json
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import show_interrupted
from dashboard.redaction import redact_secret, redact_unless
from dashboard.releases.models import Release
from dashboard.web.activity.releases import ITEMS

RELATED = ("attempts", ITEMS, "approval")
"""What `record_of` needs of operations, to be prefetched."""


@dataclass(frozen=True)
class Exchange:
    """One attempt with the response to it."""

    attempt: Attempt
    response: Any
    """The body: parsed JSON, or the text if it isn't JSON; "" without a response."""
    is_json: bool


@dataclass(frozen=True)
class ChangedField:
    """One field of a subscription, before and after."""

    name: str
    before: Any
    after: Any
    is_known_before: bool


@dataclass(frozen=True)
class Record:
    """One operation with its attempts. Makes no query if the attempts are prefetched."""

    operation: Operation
    attempts: list[Attempt]
    release: Release | None = None
    """The release that sent it; the first one, if several followed it."""
    shows_secrets: bool = False
    """Whether the receiver's secret is shown in the URL of a subscription."""

    COLUMNS: ClassVar = (
        *("operation key", "type", "outcome", "requested at (UTC)", "completed at (UTC)"),
        *("user", "target", "page ID", "audience ID", "version ID", "version number"),
        *("subscription ID", "attempts", "duration (s)", "status code", "message", "last check"),
        *("request body", "response body", "attempt log"),
        *("release", "release ID", "release note"),
        *("approved by", "approval ID", "reason without approval"),
    )

    @property
    def last(self) -> Attempt | None:
        """The last attempt."""
        return self.attempts[-1] if self.attempts else None

    @property
    def actors(self) -> list[str]:
        """The names of who requested it and who retried it, in order; each once."""
        names = [self.operation.actor_name, *(attempt.actor_name for attempt in self.attempts)]
        return list(dict.fromkeys(names))

    @property
    def duration(self) -> timedelta | None:
        """The total duration of the attempts; None if none has ended."""
        times = [attempt.duration for attempt in self.attempts if attempt.duration is not None]
        return sum(times, timedelta()) if times else None

    @property
    def method(self) -> str:
        """The HTTP method of the request."""
        return "PATCH" if self.operation.kind == OperationKind.UPDATE_SUBSCRIPTION else "POST"

    @property
    def path(self) -> str:
        """The path of the request."""
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
    def has_no_effect(self) -> bool:
        """Whether it was rejected or not sent."""
        return self.operation.outcome in (Outcome.REJECTED, Outcome.NOT_SENT)

    @property
    def body(self) -> Any:
        """The body of the request."""
        return redact_unless(self.operation.body_sent, self.shows_secrets)

    @property
    def exchanges(self) -> list[Exchange]:
        """Each attempt with its response, in order."""
        return [_exchange(attempt, self._response_text(attempt)) for attempt in self.attempts]

    def _response_text(self, attempt: Attempt) -> str:
        text = attempt.response_body
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

    def cells(self) -> list[object]:
        """Return the operation as a row of COLUMNS."""
        operation, last = self.operation, self.last
        body, approval = self.body, operation.approval
        return [
            operation.operation_key,
            operation.get_kind_display(),
            operation.get_outcome_display(),
            _utc(operation.requested_at),
            _utc(operation.settled_at),
            operation.actor_name,
            operation.target_name,
            operation.page_id,
            operation.audience_id,
            operation.version_id,
            operation.version_number,
            operation.subscription_id,
            len(self.attempts),
            None if self.duration is None else round(self.duration.total_seconds(), 3),
            last.status_code if last else None,
            last.message if last else "",
            operation.check_result,
            "" if body is None else json.dumps(body, ensure_ascii=False),
            self._response_text(last) if last else "",
            "; ".join(_attempt_text(attempt) for attempt in self.attempts),
            *(
                (self.release.name, self.release.pk, self.release.note)
                if self.release
                else [""] * 3
            ),
            *((approval.decided_by_name, approval.pk) if approval else [""] * 2),
            operation.emergency_reason,
        ]


def record_of(operation: Operation, *, shows_secrets: bool = False) -> Record:
    """Return an operation with its attempts and its release; interrupted ones as unknown.

    No query is made if RELATED is prefetched.
    """
    attempts = list(operation.attempts.all())
    show_interrupted(operation, attempts)
    items = list(operation.release_items.all())
    return Record(operation, attempts, items[0].release if items else None, shows_secrets)


def _exchange(attempt: Attempt, response: str) -> Exchange:
    try:
        return Exchange(attempt, parse_json(response), is_json=True)
    except ValueError:
        return Exchange(attempt, response, is_json=False)


def _attempt_text(attempt: Attempt) -> str:
    """Format an attempt: its number, user, time, outcome and status."""
    status = [] if attempt.status_code is None else [str(attempt.status_code)]
    facts = [attempt.actor_name, _utc(attempt.sent_at), attempt.get_outcome_display(), *status]
    return f"{attempt.number}: {', '.join(facts)}"


def _utc(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds") if moment else ""
