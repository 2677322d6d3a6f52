"""What a message says: its events in words, with links."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import NoReverseMatch, reverse

from dashboard.notifications.kinds import TEST, sentence
from dashboard.notifications.models import Delivery, Event

MAX_LISTED = 14
"""Events listed in one message; the others are counted. An e-mail has 48 lines then. Our choice."""
NAMES = ("audience", "name", "release", "place")
"""Facts that are names from the service or from users."""


@dataclass(frozen=True)
class OutgoingMessage:
    message_id: str
    events: Sequence[Event]
    """At most MAX_LISTED, the earliest first."""
    total: int
    is_digest: bool = False

    @property
    def more(self) -> int:
        return self.total - len(self.events)


def message_of(delivery: Delivery) -> OutgoingMessage:
    """Return the message of a delivery. Two queries."""
    if delivery.tested_by_id:
        test = Event(
            kind=TEST, key=delivery.message_id, at=delivery.created_at, path=reverse("overview")
        )
        return OutgoingMessage(delivery.message_id, [test], 1)
    events = Event.objects.filter(
        pk__in=delivery.items.values("event_id")  # an event appears in a message once
    ).order_by("at", "pk")
    return OutgoingMessage(
        delivery.message_id,
        list(events[:MAX_LISTED]),
        events.count(),
        is_digest=delivery.digest_on is not None,
    )


def words_of(event: Event) -> str:
    return _in_one_line(sentence(event.kind, event.facts))


def names_in(event: Event) -> list[str]:
    return [_in_one_line(event.facts[fact]) for fact in NAMES if event.facts.get(fact)]


def _in_one_line(words: str) -> str:
    # A name may contain any characters. Joiners belong to the spelling of Persian and Hindi names,
    # and to emoji.
    line = "".join(
        letter if letter.isprintable() or letter in "\u200c\u200d" else " " for letter in words
    )
    return " ".join(line.split())


def link_to(path: str) -> str:
    return f"{settings.PUBLIC_URL}{path}"


def link_to_page(name: str) -> str:
    """Return the full URL of a page by its URL name, or of the overview if there is none."""
    try:
        return link_to(reverse(name))
    except NoReverseMatch:
        return link_to("/")


def fields_of(event: Event) -> dict[str, Any]:
    """Return an event as JSON fields: ids, names and a link. Empty fields are left out."""
    fields: dict[str, Any] = {
        "key": event.key,
        "kind": event.kind,
        "at": event.at.isoformat(),
        "text": words_of(event),
        "url": link_to(event.path),
        "pageId": event.page_id,
        "audienceId": event.audience_id,
        "versionId": event.version_id,
        "operationKey": event.operation_key,
        "releaseId": event.release_id,
        "approvalId": event.approval_id,
    }
    return {name: value for name, value in fields.items() if value not in ("", None)}
