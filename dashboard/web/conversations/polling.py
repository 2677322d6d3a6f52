"""The state of a conversation that the browser shows, sent with every poll to find what is new."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest

from dashboard.contract.conversations import ConversationFacts
from dashboard.contract.wire import WireModel
from dashboard.web.conversations.thread import ShownConversation
from dashboard.web.ui.query_params import int_param


@dataclass(frozen=True)
class ConversationSnapshot:
    """What the browser shows: the number of messages and a hash of each section."""

    count: int
    since: int
    """The number of messages when the page was opened."""
    messages: str
    pending: str
    """The hash of the pending changes."""
    context: str
    line: str
    """The hash of the id of the message up to which it was published."""
    moved: bool = False
    """Whether the published line has moved since; the page still shows it at its old place."""
    failed: bool = False
    """Whether the previous poll failed."""

    @classmethod
    def at(cls, shown: ShownConversation) -> "ConversationSnapshot":
        """Return the snapshot of a newly opened page."""
        count = len(shown.messages)
        return cls(count, count, _messages_hash(shown, count), *_other_hashes(shown))

    @classmethod
    def of_request(cls, request: HttpRequest) -> "ConversationSnapshot":
        """Parse the query string of a poll; missing or invalid numbers are 0."""
        params = request.GET
        return cls(
            count=int_param(params.get("count", "")),
            since=int_param(params.get("since", "")),
            messages=params.get("messages", ""),
            pending=params.get("pending", ""),
            context=params.get("context", ""),
            line=params.get("line", ""),
            moved="moved" in params,
            failed="failed" in params,
        )

    def advance(self, shown: ShownConversation) -> "ConversationSnapshot":
        """Return the next snapshot, of the conversation as it is now."""
        count = len(shown.messages)
        pending, context, line = _other_hashes(shown)
        return replace(
            self,
            count=count,
            messages=_messages_hash(shown, count),
            pending=pending,
            context=context,
            moved=self.moved or self.line != line,
            failed=False,
        )

    def is_outdated_by(self, shown: ShownConversation) -> bool:
        """Return whether messages that the browser shows have changed."""
        return self.messages != _messages_hash(shown, self.count)

    @property
    def new(self) -> int:
        """The number of messages added since the page was opened."""
        return self.count - self.since

    @property
    def query(self) -> str:
        """The query string of the next poll."""
        return urlencode(
            {name: value for name, value in asdict(self).items() if value is not False}
        )


def _messages_hash(shown: ShownConversation, count: int) -> str:
    return _hash(each.message for each in shown.messages[:count])


def _other_hashes(shown: ShownConversation) -> tuple[str, str, str]:
    """Return the hashes of the pending changes, the context and the published line."""
    whole = shown.conversation
    line = ConversationFacts(published_message_id=whole.conversation.published_message_id)
    return _hash(whole.pending_changes), _hash([whole.context]), _hash([line])


def _hash(models: Iterable[WireModel]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for model in models:
        digest.update(model.model_dump_json(by_alias=True).encode() + b"\0")
    return digest.hexdigest()
