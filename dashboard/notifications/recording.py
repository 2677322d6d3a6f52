"""Record an event once, in the transaction of what happened.

It writes one row without foreign keys. If another transaction deleted a referenced row, PostgreSQL
would undo what happened, too. A worker finds the recipients (`recipients.py`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import QuerySet

from dashboard import clock
from dashboard.ledger.models.operations import actor_name
from dashboard.notifications.models import Event

MAX_FACT = 200
"""Maximum length of a name in a notification, in characters."""


@dataclass(frozen=True)
class Subject:
    path: str
    page_id: str = ""
    audience_id: str = ""
    version_id: str = ""
    operation_key: str = ""
    release_id: int | None = None
    approval_id: int | None = None


def digest_of(*ids: object) -> str:
    """Return a hash of ids for an event's key. Ids of the service may have any length."""
    return sha256("\n".join(map(str, ids)).encode()).hexdigest()


class Draft(NamedTuple):
    key: str
    """Identifies what happened. It is never used twice."""
    subject: Subject
    facts: Mapping[str, Any]
    """Names and numbers that fill the kind's sentence."""


def record_event(
    kind: str,
    key: str,
    subject: Subject,
    facts: Mapping[str, Any],
    *,
    actor: User | None = None,
    owners: Iterable[User | None] = (),
    wake_at: datetime | None = None,
) -> None:
    """Record an event, unless one with this key exists."""
    drafts = [Draft(key, subject, facts)]
    record_events(kind, drafts, actor=actor, owners=owners, wake_at=wake_at)


def record_events(
    kind: str,
    drafts: Iterable[Draft],
    *,
    actor: User | None = None,
    owners: Iterable[User | None] = (),
    wake_at: datetime | None = None,
) -> None:
    """Record events of one kind, except those whose key exists. One query.

    `wake_at` is when users are notified of them; None means now.
    """
    now = clock.now()
    owner_ids = sorted({user.pk for user in owners if user})
    Event.objects.bulk_create(
        [
            Event(
                kind=kind,
                key=draft.key,
                at=now,
                wake_at=wake_at or now,
                actor_id=actor.pk if actor else None,
                actor_name=actor_name(actor) if actor else "",
                owner_ids=owner_ids,
                facts={name: _short(fact) for name, fact in draft.facts.items()},
                **vars(draft.subject),
            )
            # In a fixed order: two processes may record the same events at the same moment.
            for draft in sorted(drafts, key=lambda draft: draft.key)
        ],
        ignore_conflicts=True,
    )


def drop_events(events: QuerySet[Event]) -> None:
    """Delete events of which no worker is notifying anybody."""
    # Lock them first: a notification added before the deletion would undo the transaction.
    locked = [event.pk for event in events.select_for_update()]
    Event.objects.filter(pk__in=locked).delete()


def _short(fact: Any) -> Any:
    is_long = isinstance(fact, str) and len(fact) > MAX_FACT
    return f"{fact[: MAX_FACT - 1]}…" if is_long else fact
