"""Three hundred conversations, with user and agent messages for each version."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from dashboard.contract.audiences import VersionStatus
from dashboard.contract.dates import read_date
from dashboard.embedded_api.lifecycle import Dates
from dashboard.embedded_api.models import Conversation, Version
from dashboard.embedded_api.sample import conversation_words as words
from dashboard.embedded_api.sample.audiences import AudienceStory
from dashboard.embedded_api.sample.pending_changes import (
    APPLIED,
    MOVED,
    READY,
    change,
    pending_changes,
)
from dashboard.embedded_api.sample.randomness import mark, sample_id, seeded_random
from dashboard.embedded_api.sample.tool_calls import any_call, large_call, update_call

COUNT = 300
_LENGTHS = ((5, 12), (8, 24), (20, 60), (60, 150))
_FIXED_LENGTHS = {3: 200, 5: 5, 90: 200, 150: 200}
_WITH_LARGE_RESULTS = {0, 3, 40, 90, 150, 222}


@dataclass
class _ConversationBuilder:
    """Collect the messages of a conversation."""

    story: AudienceStory
    rng: Random
    now: datetime
    messages: list[dict[str, Any]] = field(default_factory=list)

    def add_message(self, moment: datetime, **parts: Any) -> None:
        """Add a message without the parts that are None."""
        key = (self.story.audience.pk, len(self.messages))
        milliseconds = int(moment.timestamp() * 1000)
        message: dict[str, Any] = {"messageId": sample_id("msg", *key), "timestamp": milliseconds}
        message |= {name: part for name, part in parts.items() if part is not None}
        self.messages.append(message)

    def words(self, texts: tuple[str, ...]) -> str:
        """Return one of the texts, filled in for the company."""
        company, rng = self.story.company, self.rng
        return rng.choice(texts).format(
            short=" ".join(company.name.split()[:2]),
            contact=self.story.contact,
            town=rng.choice(company.country.towns),
            worry=rng.choice(words.WORRIES),
            fleet=company.fleet,
            price_12=f"{company.fleet * 372:,}",
            price_24=f"{company.fleet * 342:,}",
            price_36=f"{company.fleet * 312:,}",
        )


def conversations(stories: list[AudienceStory], now: datetime) -> Iterator[Conversation]:
    """Yield the conversations of the first dozen audiences and of random others."""
    first, others = stories[:12], stories[12:]
    chosen = first + seeded_random("conversations").sample(others, COUNT - len(first))
    for number, story in enumerate(chosen):
        yield _conversation(number, story, now)


def _conversation(number: int, story: AudienceStory, now: datetime) -> Conversation:
    rng = seeded_random("conversation", number)
    builder = _ConversationBuilder(story, rng, now)
    published_message_id = None
    for part, version in zip(_message_counts(number, rng, story), story.versions, strict=True):
        _add_version(builder, version, part)
        if Dates.of(version).status(now) is VersionStatus.PUBLISHED:
            published_message_id = builder.messages[-1]["messageId"]
    if number in _WITH_LARGE_RESULTS:
        _add_large_results(builder, number)
    times = [message["timestamp"] / 1000 for message in builder.messages]
    kinds = [READY, APPLIED, MOVED]
    if number > 0:
        has_changes = rng.random() < 0.6
        kinds = rng.choices(kinds, (5, 2, 2), k=rng.randint(1, 4)) if has_changes else []
    return Conversation(
        id=sample_id("conv", number),
        audience=story.audience,
        messages=builder.messages,
        pending_changes=pending_changes(rng, story, kinds),
        published_message_id=published_message_id,
        created_at=mark(datetime.fromtimestamp(times[0], now.tzinfo), rng),
        updated_at=mark(datetime.fromtimestamp(times[-1], now.tzinfo), rng),
    )


def _message_counts(number: int, rng: Random, story: AudienceStory) -> list[int]:
    """Return the number of messages per version: 5 to 200 in all, most for the last two."""
    count = len(story.versions)
    random_length = rng.randint(*rng.choices(_LENGTHS, (5, 7, 3, 1))[0])
    length = _FIXED_LENGTHS.get(number, random_length)
    parts = [2] * count
    parts[-1] += max(0, length - sum(parts))
    if count > 1:
        parts[-2] += parts[-1] // 2 - 1
        parts[-1] -= parts[-1] // 2 - 1
    return parts


def _add_version(builder: _ConversationBuilder, version: Version, count: int) -> None:
    """Add the messages of a version: a request, the agent's version, then a dialogue."""
    rng = builder.rng
    for place, moment in enumerate(_message_times(builder, version, count)):
        if place == 0:
            asks = words.ASKS if builder.messages else words.ASKS[:1]
            builder.add_message(moment, content=builder.words(asks), hasSnapshot=False)
        elif place == 1:
            _add_version_message(builder, version, moment)
        elif place % 2 == 0:
            _add_user_message(builder, moment)
        elif rng.random() < 0.06:
            cut, reasoning = builder.words(words.CUT_OFF), rng.choice(words.REASONING)
            builder.add_message(moment, content=cut, reasoning=reasoning, isInterrupted=True)
        else:
            _add_agent_message(builder, moment)


def _message_times(builder: _ConversationBuilder, version: Version, count: int) -> list[datetime]:
    """Return the sorted times of the messages, around the version's creation and before now."""
    created = read_date(version.created_at) or builder.now
    start = created - timedelta(minutes=2)
    if builder.messages:
        last = datetime.fromtimestamp(builder.messages[-1]["timestamp"] / 1000, builder.now.tzinfo)
        start = max(start, last + timedelta(seconds=10))
    room = (builder.now - start) / (count + 1)
    moments = [start]
    for _ in range(count - 1):
        pause = timedelta(seconds=builder.rng.lognormvariate(4.2, 0.9))
        moments.append(moments[-1] + min(room, pause))
    return moments


def _add_version_message(builder: _ConversationBuilder, version: Version, moment: datetime) -> None:
    """Add the agent's message that created a version, with a change for each paragraph."""
    rng, story = builder.rng, builder.story
    calls = [update_call(version, version.pk)]
    if rng.random() < 0.7:
        calls.insert(0, any_call(rng, story.company, story.contact, (version.pk, "facts")))
    content = builder.words(words.ANSWERS)
    builder.add_message(
        moment,
        content=content,
        contentParts=[{"type": "text", "text": content}],
        reasoning=rng.choice(words.REASONING),
        hasSnapshot=True,
        toolCalls=calls,
        changes=_changes(story, version) or None,
    )


def _changes(story: AudienceStory, version: Version) -> list[dict[str, Any]]:
    """Return the changed paragraphs since the previous version."""
    for old, new in pairwise(story.versions):
        if new is version:
            before = (old.supplementary_context or "").split("\n\n")
            after = (new.supplementary_context or "").split("\n\n")
            before += [""] * (len(after) - len(before))
            after += [""] * (len(before) - len(after))
            pairs = [(was, now) for was, now in zip(before, after, strict=True) if was != now]
            return [change((new.pk, place), *pair) for place, pair in enumerate(pairs)]
    return [change((version.pk, 0), "", version.supplementary_context or "")]


def _add_user_message(builder: _ConversationBuilder, moment: datetime) -> None:
    rng = builder.rng
    if rng.random() < 0.02:
        builder.add_message(moment, content="")
        return
    text = builder.words(words.FOLLOW_UPS if rng.random() < 0.6 else words.ASKS)
    parts = None
    if rng.random() < 0.04:
        parts = [
            {"type": "text", "text": text},
            {"type": "file_reference", "text": f"{builder.story.company.slug}-call-notes.pdf"},
        ]
    builder.add_message(moment, content=text, contentParts=parts)


def _add_agent_message(builder: _ConversationBuilder, moment: datetime) -> None:
    """Add an agent message, at random with reasoning and tool calls."""
    rng, story = builder.rng, builder.story
    key = (story.audience.pk, len(builder.messages))
    calls = None
    if rng.random() < 0.35:
        calls = [
            any_call(rng, story.company, story.contact, (key, n)) for n in range(rng.randint(1, 3))
        ]
    content = words.HOSTILE if rng.random() < 0.015 else builder.words(words.ANSWERS)
    builder.add_message(
        moment,
        content=None if rng.random() < 0.05 else content,
        contentParts=[{"type": "text", "text": content}] if rng.random() < 0.8 else None,
        reasoning=rng.choice(words.REASONING) if rng.random() < 0.5 else None,
        hasSnapshot=False,
        toolCalls=calls,
    )


def _add_large_results(builder: _ConversationBuilder, number: int) -> None:
    """Give a message in the middle a tool result of 200 KB, or two for odd numbers."""
    answers = [message for message in builder.messages if "reasoning" in message]
    if answers:
        calls = [
            large_call(builder.rng, builder.story.company, (number, n))
            for n in range(1 + number % 2)
        ]
        answers[len(answers) // 2]["toolCalls"] = calls
