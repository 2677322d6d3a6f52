"""An operation as Activity shows it: what was sent, what came back, what changed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from dashboard.client.calls import path
from dashboard.client.reading import read_json
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Kind, Outcome


@dataclass(frozen=True)
class Exchange:
    """One attempt: what the service answered to it."""

    attempt: Attempt
    answer: Any
    """The answer's body as JSON, or as text where it is none; empty text where there was none."""
    is_json: bool


@dataclass(frozen=True)
class Changed:
    """One field of a subscription, before and after."""

    name: str
    before: Any
    after: Any
    is_known_before: bool


@dataclass(frozen=True)
class Record:
    """One operation with its attempts. Makes no query where the attempts are prefetched."""

    operation: Operation
    attempts: list[Attempt]

    COLUMNS: ClassVar = [
        "operation key",
        "kind",
        "outcome",
        "requested at (UTC)",
        "settled at (UTC)",
        "person",
        "on",
        "page id",
        "audience id",
        "version id",
        "version number",
        "subscription id",
        "attempts",
        "took (s)",
        "status code",
        "the service said",
        "last look found",
        "body sent",
        "answer received",
        "each attempt",
    ]

    @property
    def last(self) -> Attempt | None:
        """The last attempt."""
        return self.attempts[-1] if self.attempts else None

    @property
    def people(self) -> list[str]:
        """Who asked for it, and who sent it again, in order; each once."""
        names = [self.operation.actor_name, *(attempt.actor_name for attempt in self.attempts)]
        return list(dict.fromkeys(names))

    @property
    def took(self) -> timedelta | None:
        """How long the attempts took together; None where none has ended."""
        times = [attempt.took for attempt in self.attempts if attempt.took is not None]
        return sum(times, timedelta()) if times else None

    @property
    def method(self) -> str:
        """The HTTP method of the request."""
        return "PATCH" if self.operation.kind == Kind.UPDATE_SUBSCRIPTION else "POST"

    @property
    def path(self) -> str:
        """The path of the request."""
        of = self.operation
        match Kind(of.kind):
            case Kind.PUBLISH_VERSION:
                audience = ("pages", of.page_id, "audiences", of.audience_id)
                return path(*audience, "versions", of.version_id, "publish")
            case Kind.CREATE_PAGE:
                return path("pages")
            case Kind.UPDATE_SUBSCRIPTION:
                return path("webhook_subscriptions", of.subscription_id)

    @property
    def is_keyed(self) -> bool:
        """Whether the service is told that it is a repeat: publishing alone takes a key (spec)."""
        return self.operation.kind == Kind.PUBLISH_VERSION

    @property
    def makes_another(self) -> bool:
        """Whether a repeat may make a second thing."""
        return self.operation.kind == Kind.CREATE_PAGE

    @property
    def may_send_again(self) -> bool:
        """Whether it may be sent once more: of unknown outcome, and what it makes looked for."""
        of = self.operation
        if of.outcome != Outcome.UNKNOWN:
            return False
        looked, last = of.looked_at, self.last
        is_looked_for = looked is not None and last is not None and looked > last.sent_at
        return is_looked_for or not self.makes_another

    @property
    def exchanges(self) -> list[Exchange]:
        """Each attempt with its answer, in order."""
        return [_exchange(attempt) for attempt in self.attempts]

    @property
    def changes(self) -> list[Changed]:
        """The fields that a subscription update asked for, before and after."""
        if self.operation.kind != Kind.UPDATE_SUBSCRIPTION:
            return []
        return list(_changes(self.operation))

    def cells(self) -> list[object]:
        """Return the operation as a row of COLUMNS."""
        of, last = self.operation, self.last
        return [
            of.operation_key,
            of.get_kind_display(),
            of.get_outcome_display(),
            _utc(of.requested_at),
            _utc(of.settled_at),
            of.actor_name,
            of.target_name,
            of.page_id,
            of.audience_id,
            of.version_id,
            of.version_number,
            of.subscription_id,
            len(self.attempts),
            None if self.took is None else round(self.took.total_seconds(), 3),
            last.status_code if last else None,
            last.said if last else "",
            of.look_found,
            "" if of.body_sent is None else json.dumps(of.body_sent, ensure_ascii=False),
            last.answer if last else "",
            "; ".join(_told(attempt) for attempt in self.attempts),
        ]


def record_of(operation: Operation) -> Record:
    """Return an operation with its attempts."""
    return Record(operation, list(operation.attempts.all()))


def _exchange(attempt: Attempt) -> Exchange:
    try:
        return Exchange(attempt, read_json(attempt.answer), is_json=True)
    except ValueError:
        return Exchange(attempt, attempt.answer, is_json=False)


def _told(attempt: Attempt) -> str:
    """Return an attempt as one text: its number, person, time, outcome and status."""
    status = [] if attempt.status_code is None else [str(attempt.status_code)]
    said = [attempt.actor_name, _utc(attempt.sent_at), attempt.get_outcome_display(), *status]
    return f"{attempt.number}: {', '.join(said)}"


def _changes(operation: Operation) -> Iterator[Changed]:
    before = operation.before if isinstance(operation.before, dict) else {}
    sent = operation.body_sent if isinstance(operation.body_sent, dict) else {}
    for name, after in sent.items():
        yield Changed(name, before.get(name), after, is_known_before=name in before)


def _utc(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds") if moment else ""
