"""The state of a conversation in the browser. Each poll sends it to find out what is new."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest

from dashboard.contract.wire import WireModel
from dashboard.web.conversations.thread import ConversationThread
from dashboard.web.ui.query_params import int_param


@dataclass(frozen=True)
class ConversationSnapshot:
    """What the browser shows: the number of messages and a hash of each section."""

    count: int
    since: int
    """The number of messages when the page was opened."""
    messages: str
    pending: str
    context: str
    line: str
    moved: bool = False
    """Whether the published line has moved. The page keeps showing it at its old place."""
    failed: bool = False
    """Whether the previous poll failed."""

    @classmethod
    def at(cls, thread: ConversationThread) -> "ConversationSnapshot":
        count = len(thread.messages)
        return cls(count, count, _messages_hash(thread, count), *_other_hashes(thread))

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

    def advance(self, thread: ConversationThread) -> "ConversationSnapshot":
        count = len(thread.messages)
        pending, context, line = _other_hashes(thread)
        return replace(
            self,
            count=count,
            messages=_messages_hash(thread, count),
            pending=pending,
            context=context,
            moved=self.moved or self.line != line,
            failed=False,
        )

    def is_outdated_by(self, thread: ConversationThread) -> bool:
        return self.messages != _messages_hash(thread, self.count)

    @property
    def new(self) -> int:
        """The number of messages added since the page was opened."""
        return self.count - self.since

    @property
    def query(self) -> str:
        return urlencode(
            {name: value for name, value in asdict(self).items() if value is not False}
        )


def _messages_hash(thread: ConversationThread, count: int) -> str:
    return _hash(message.message for message in thread.messages[:count])


def _other_hashes(thread: ConversationThread) -> tuple[str, str, str]:
    whole, line = thread.conversation, thread.line
    place = [whole.conversation.published_message_id, line.number, line.words]
    # The context says whether its text is live.
    context = _hash([whole.context, *filter(None, [line.live])])
    return _hash(whole.pending_changes), context, _hash_texts([json.dumps(place)])


def _hash(models: Iterable[WireModel]) -> str:
    return _hash_texts(model.model_dump_json(by_alias=True) for model in models)


def _hash_texts(texts: Iterable[str]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()
