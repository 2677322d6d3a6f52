"""Record an event, once, in the transaction of what has happened.

One row and nothing else: it refers to nothing that another transaction may delete, as PostgreSQL
would then undo what has happened, too. A worker finds its recipients (`recipients.py`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from dashboard import clock
from dashboard.ledger.models.operations import actor_name
from dashboard.notifications.models import Event

MAX_FACT = 200
"""Characters of a name in a notification."""


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
    """Return a part of a key for ids of the service, which are of any length."""
    return sha256("\n".join(map(str, ids)).encode()).hexdigest()


class Draft(NamedTuple):
    key: str
    """Identifies what happened: unique for good."""
    subject: Subject
    facts: Mapping[str, Any]
    """The names and numbers of the kind's sentence."""


def record_event(
    kind: str,
    key: str,
    subject: Subject,
    facts: Mapping[str, Any],
    *,
    actor: User | None = None,
    owners: Iterable[User | None] = (),
) -> None:
    """Record an event, unless one with this key is on record."""
    record_events(kind, [Draft(key, subject, facts)], actor=actor, owners=owners)


def record_events(
    kind: str,
    drafts: Iterable[Draft],
    *,
    actor: User | None = None,
    owners: Iterable[User | None] = (),
) -> None:
    """Record those events of one kind that are not on record. One query."""
    now = clock.now()
    owner_ids = sorted({user.pk for user in owners if user})
    Event.objects.bulk_create(
        [
            Event(
                kind=kind,
                key=draft.key,
                at=now,
                wake_at=now,
                actor_id=actor.pk if actor else None,
                actor_name=actor_name(actor) if actor else "",
                owner_ids=owner_ids,
                facts={name: _short(fact) for name, fact in draft.facts.items()},
                **vars(draft.subject),
            )
            # In one order: two processes may notice the same at the same moment.
            for draft in sorted(drafts, key=lambda draft: draft.key)
        ],
        ignore_conflicts=True,
    )


def _short(fact: Any) -> Any:
    is_long = isinstance(fact, str) and len(fact) > MAX_FACT
    return f"{fact[: MAX_FACT - 1]}…" if is_long else fact
