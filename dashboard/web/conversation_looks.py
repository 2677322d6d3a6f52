"""What a reader has seen of a conversation, so that a later look finds what is new."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest

from dashboard.contract.conversations import ConversationFacts
from dashboard.contract.wire import WireModel
from dashboard.web.asked import count_in
from dashboard.web.conversation_reading import ShownConversation


@dataclass(frozen=True)
class Look:
    """What stands on the reader's page: how many messages, and prints of them and of the rest."""

    count: int
    since: int
    """How many messages there were when the page was opened."""
    messages: str
    pending: str
    """The print of the pending changes."""
    context: str
    line: str
    """The message up to which it was published, as its print."""
    moved: bool = False
    """Whether the line is known to be elsewhere now. It stays where the page was opened with it."""
    failed: bool = False
    """Whether the look before brought no answer."""

    @classmethod
    def at(cls, shown: ShownConversation) -> "Look":
        """Return the first look at a conversation."""
        count = len(shown.messages)
        return cls(count, count, _messages_print(shown, count), *_rest_prints(shown))

    @classmethod
    def of_request(cls, request: HttpRequest) -> "Look":
        """Return the look that an address names; what is missing or no number counts as none."""
        asked = request.GET
        return cls(
            count=count_in(asked.get("count", "")),
            since=count_in(asked.get("since", "")),
            messages=asked.get("messages", ""),
            pending=asked.get("pending", ""),
            context=asked.get("context", ""),
            line=asked.get("line", ""),
            moved="moved" in asked,
            failed="failed" in asked,
        )

    def again(self, shown: ShownConversation) -> "Look":
        """Return the look after this one."""
        count = len(shown.messages)
        pending, context, line = _rest_prints(shown)
        return replace(
            self,
            count=count,
            messages=_messages_print(shown, count),
            pending=pending,
            context=context,
            moved=self.moved or self.line != line,
            failed=False,
        )

    def is_outdated_by(self, shown: ShownConversation) -> bool:
        """Tell whether messages that stand on the page are no longer what they were."""
        return self.messages != _messages_print(shown, self.count)

    @property
    def new(self) -> int:
        """How many messages came since the page was opened."""
        return self.count - self.since

    @property
    def first_new(self) -> str:
        """The place of the first message that came since."""
        return f"m{self.since + 1}"

    @property
    def query(self) -> str:
        """The look in an address."""
        asked = {
            "count": self.count,
            "since": self.since,
            "messages": self.messages,
            "pending": self.pending,
            "context": self.context,
            "line": self.line,
        }
        flags = {"moved": self.moved, "failed": self.failed}
        return urlencode(asked | {name: 1 for name, is_set in flags.items() if is_set})


def _messages_print(shown: ShownConversation, count: int) -> str:
    return _print_of(each.message for each in shown.messages[:count])


def _rest_prints(shown: ShownConversation) -> tuple[str, str, str]:
    """Return the prints of the pending changes, the context, and the line."""
    whole = shown.conversation
    line = ConversationFacts(published_message_id=whole.conversation.published_message_id)
    return _print_of(whole.pending_changes), _print_of([whole.context]), _print_of([line])


def _print_of(things: Iterable[WireModel]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for thing in things:
        digest.update(thing.model_dump_json(by_alias=True).encode() + b"\0")
    return digest.hexdigest()
