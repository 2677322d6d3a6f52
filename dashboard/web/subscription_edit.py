"""What an edit of a subscription changes, and what to make of a change by somebody else.

Pure. A form carries what the subscription held when it was drawn. Only what differs from that is
sent, and where the service holds something else by now, nothing is: the operator sees both.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription


@dataclass(frozen=True)
class Held:
    """The part of a subscription that is edited in the form."""

    url: str
    events: tuple[str, ...] | None

    @classmethod
    def by(cls, subscription: WebhookSubscription) -> "Held":
        """Return what a subscription holds."""
        events = subscription.events
        return cls(subscription.url, None if events is None else tuple(events))

    @classmethod
    def read(cls, text: str) -> "Held | None":
        """Read what a form carries; None where it is none of ours."""
        try:
            data = json.loads(text)
            url, events = data["url"], data["events"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        is_ours = isinstance(url, str) and (events is None or _is_texts(events))
        return cls(url, None if events is None else tuple(events)) if is_ours else None

    def written(self) -> str:
        """Return the text for a form to carry."""
        return json.dumps({"url": self.url, "events": self.events})


@dataclass(frozen=True)
class Moved:
    """A field that the service holds differently by now."""

    name: str
    before: Any
    now: Any
    typed: Any
    """What the operator asks for; None with `is_kept` false where the field was left alone."""
    is_kept: bool


def body_of(base: Held, wanted: Held) -> dict[str, Any]:
    """Return the body to send: what differs, and nothing else. Empty where nothing does."""
    changes: dict[str, Any] = {}
    if wanted.url != base.url:
        changes["url"] = wanted.url
    if wanted.events is not None and not _are_same(base.events, wanted.events):
        changes["events"] = list(wanted.events)
    return SubscriptionPatch(**changes).to_wire()


def shown_as(body: dict[str, Any]) -> str:
    """Return the text by which a form says which body it has shown."""
    return json.dumps(body)


def moves(base: Held, wanted: Held, now: Held) -> list[Moved]:
    """Return the fields that the service holds differently from `base`."""
    asked = body_of(base, wanted)
    found = []
    if now.url != base.url:
        found.append(Moved("url", base.url, now.url, wanted.url, "url" in asked))
    if not _are_same(base.events, now.events):
        found.append(Moved("events", base.events, now.events, wanted.events, "events" in asked))
    return found


def merged(base: Held, wanted: Held, now: Held) -> Held:
    """Return what is wanted over what the service holds now: only what was typed stays typed."""
    asked = body_of(base, wanted)
    if "url" in asked:
        now = replace(now, url=wanted.url)
    return replace(now, events=wanted.events) if "events" in asked else now


def not_as_asked(body: dict[str, Any], answer: WebhookSubscription) -> list[str]:
    """Return the fields that an answer in 2xx shows otherwise than they were asked for."""
    now = answer.to_wire()
    return [name for name, wanted in body.items() if now.get(name) != wanted]


def _are_same(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    """Tell whether two lists select the same; their order is not said to mean anything."""
    if one is None or other is None:
        return one is other
    return set(one) == set(other)


def _is_texts(events: Any) -> bool:
    return isinstance(events, list) and all(isinstance(name, str) for name in events)
