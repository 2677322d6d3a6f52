"""The rows of what users follow: what is compared of each, and its changes in words. Pure."""

from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from dashboard.ledger.changes import body_digest
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.service.subscriptions import parse_subscription


class AudienceRow(NamedTuple):
    """An audience, or a page of a view of pages."""

    page_id: str
    audience_id: str
    name: str
    latest: int | None
    live: int | None
    archived: bool
    created_at: datetime | None

    @classmethod
    def of_page(cls, page_id: str, name: str) -> "AudienceRow":
        """Return a page, which has neither versions nor anything else to compare."""
        return cls(page_id, "", name, None, None, archived=False, created_at=None)

    @property
    def key(self) -> str:
        """Identifies it in a snapshot."""
        return f"{self.page_id}\n{self.audience_id}"

    @property
    def state(self) -> list[Any]:
        """What is compared, after the name."""
        return [self.name, self.latest, self.live, self.archived]

    def entered(self) -> list[str]:
        """Return that it is in a saved view, in words."""
        return [ENTERED]

    def changes_since(self, before: list[Any]) -> list[str]:
        """Return the changes from an earlier state, in words."""
        _, latest, live, was_archived = before
        what = []
        if self.latest != latest and self.latest is not None:
            what.append(f"version {self.latest} is the latest")
        if self.live != live:
            what.append("nothing is live" if self.live is None else f"version {self.live} is live")
        if self.archived != was_archived:
            what.append("is archived" if self.archived else "is no longer archived")
        return what


class SubscriptionRow(NamedTuple):
    """A webhook subscription."""

    key: str
    """Its id."""
    name: str
    is_on: bool
    url_digest: str
    """Instead of the URL, which may contain a secret."""
    events: list[str] | None
    created_at: datetime | None
    """When it was added to Pressroom."""

    @classmethod
    def of(cls, record: SubscriptionRecord) -> "SubscriptionRow":
        """Return a subscription as last seen."""
        found = parse_subscription(record)
        events = sorted(found.events) if found and found.events is not None else None
        return cls(
            key=record.subscription_id,
            name=str(record),
            is_on=record.active,
            url_digest=body_digest(record.url),
            events=events,
            created_at=record.first_seen_at,
        )

    @property
    def state(self) -> list[Any]:
        """What is compared, after the name."""
        return [self.name, self.is_on, self.url_digest, self.events]

    def entered(self) -> list[str]:
        """Return that it is in a saved view, in words."""
        return [ENTERED]

    def changes_since(self, before: list[Any]) -> list[str]:
        """Return the changes from an earlier state, in words."""
        _, was_on, url_digest, events = before
        what = []
        if self.is_on != was_on:
            what.append("is turned on" if self.is_on else "is turned off")
        if self.url_digest != url_digest:
            what.append("has another URL")
        if self.events != events:
            what.append("has other events")
        return what


class OperationRow(NamedTuple):
    """An operation."""

    key: str
    """Its operation key."""
    name: str
    """Such as "Publish version 3 of Acme"."""
    outcome: str
    created_at: datetime | None

    @classmethod
    def of(cls, operation: Operation) -> "OperationRow":
        """Return an operation as recorded."""
        target = operation.target_name or operation.subscription_id
        link = " of " if operation.kind == OperationKind.PUBLISH_VERSION else " "
        name = link.join(filter(None, [operation.title, target]))
        return cls(operation.operation_key, name, operation.outcome, operation.requested_at)

    @property
    def state(self) -> list[Any]:
        """What is compared, after the name."""
        return [self.name, self.outcome]

    def entered(self) -> list[str]:
        """Return its outcome, in the words of Activity."""
        return [Outcome(self.outcome).label.lower()]

    def changes_since(self, before: list[Any]) -> list[str]:
        """Return its outcome, if it changed since an earlier state."""
        return [] if self.outcome == before[1] else self.entered()


Row: TypeAlias = AudienceRow | SubscriptionRow | OperationRow
ENTERED = "is in this view now"
