"""Three hundred conversations: for each version, what was asked and how the agent wrote it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from dashboard.contract.audiences import VersionStatus
from dashboard.contract.dates import read_date
from dashboard.embedded_api.models import Conversation, Version
from dashboard.embedded_api.sample import conversation_words as words
from dashboard.embedded_api.sample.audiences import AudienceStory
from dashboard.embedded_api.sample.chance import chance, mark, sample_id
from dashboard.embedded_api.sample.conversation_words import filled
from dashboard.embedded_api.sample.pending_changes import (
    APPLIED,
    MOVED,
    READY,
    change,
    pending_changes,
    some_kinds,
)
from dashboard.embedded_api.sample.tool_calls import any_call, large_call, update_call

COUNT = 300
SHORTEST, LONGEST = 5, 200
_LENGTHS = ((5, 12), (8, 24), (20, 60), (60, 150))
_FIXED_LENGTHS = {3: LONGEST, 5: SHORTEST, 90: LONGEST, 150: LONGEST}
_WITH_LARGE_RESULTS = {0, 3, 40, 90, 150, 222}


@dataclass
class _Telling:
    """A conversation while it is made."""

    story: AudienceStory
    dice: Random
    now: datetime
    messages: list[dict[str, Any]] = field(default_factory=list)

    def say(self, moment: datetime, **parts: Any) -> None:
        """Add a message; parts that are empty are not sent."""
        key = (self.story.audience.pk, len(self.messages))
        milliseconds = int(moment.timestamp() * 1000)
        message = {"messageId": sample_id("msg", *key), "timestamp": milliseconds}
        self.messages.append(
            message | {name: part for name, part in parts.items() if part is not None}
        )

    def words(self, texts: tuple[str, ...]) -> str:
        """Return one of the texts, with the company's own words in its places."""
        return filled(self.dice.choice(texts), self.dice, self.story.company, self.story.contact)


def conversations(stories: list[AudienceStory], now: datetime) -> Iterator[Conversation]:
    """Make the conversations: of the first dozen audiences, and of others all over the pages."""
    first, others = stories[:12], stories[12:]
    chosen = first + chance("conversations").sample(others, COUNT - len(first))
    for number, story in enumerate(chosen):
        yield _conversation(number, story, now)


def _conversation(number: int, story: AudienceStory, now: datetime) -> Conversation:
    dice = chance("conversation", number)
    telling = _Telling(story, dice, now)
    published_message_id = None
    for part, version in zip(_parts(number, dice, story), story.versions, strict=True):
        _tell(telling, version, part)
        if version.dates.status(now) is VersionStatus.PUBLISHED and telling.messages:
            published_message_id = telling.messages[-1]["messageId"]
    if number in _WITH_LARGE_RESULTS:
        _look_at_positions(telling, number)
    times = [message["timestamp"] / 1000 for message in telling.messages]
    return Conversation(
        id=sample_id("conv", number),
        audience=story.audience,
        messages=telling.messages,
        pending_changes=pending_changes(dice, story, _kinds(number, dice)),
        published_message_id=published_message_id,
        created_at=mark(datetime.fromtimestamp(times[0], now.tzinfo), dice),
        updated_at=mark(datetime.fromtimestamp(times[-1], now.tzinfo), dice),
    )


def _parts(number: int, dice: Random, story: AudienceStory) -> list[int]:
    """Return how many messages each version gets: 5 to 200 in all, most to the last two."""
    count = len(story.versions)
    drawn = dice.randint(*dice.choices(_LENGTHS, (5, 7, 3, 1))[0])
    length = _FIXED_LENGTHS.get(number, drawn)
    parts = [2] * count
    parts[-1] += max(0, length - sum(parts), SHORTEST - sum(parts))
    if count > 1:
        parts[-2] += parts[-1] // 2 - 1
        parts[-1] -= parts[-1] // 2 - 1
    return parts


def _kinds(number: int, dice: Random) -> list[str]:
    if number == 0:
        return [READY, APPLIED, MOVED]
    return some_kinds(dice) if dice.random() < 0.6 else []


def _tell(telling: _Telling, version: Version, count: int) -> None:
    """Tell how a version came about: somebody asks, the agent writes, then they talk on."""
    dice = telling.dice
    moments = _moments(telling, version, count)
    for place, moment in enumerate(moments):
        if place == 0:
            asks = words.ASKS if telling.messages else words.ASKS[:1]
            telling.say(moment, content=telling.words(asks), hasSnapshot=False)
        elif place == 1:
            _write(telling, version, moment)
        elif place % 2 == 0:
            _ask_on(telling, moment)
        elif dice.random() < 0.06:
            cut = telling.words(words.CUT_OFF)
            telling.say(
                moment, content=cut, reasoning=dice.choice(words.REASONING), isInterrupted=True
            )
        else:
            _answer(telling, moment)


def _moments(telling: _Telling, version: Version, count: int) -> list[datetime]:
    """Return when the messages were sent: in order, around the version's creation, before now."""
    created = read_date(version.created_at) or telling.now
    start = created - timedelta(minutes=2)
    if telling.messages:
        last = datetime.fromtimestamp(telling.messages[-1]["timestamp"] / 1000, telling.now.tzinfo)
        start = max(start, last + timedelta(seconds=10))
    room = (telling.now - start) / (count + 1)
    moments = [start]
    for _ in range(count - 1):
        moments.append(
            moments[-1] + min(room, timedelta(seconds=telling.dice.lognormvariate(4.2, 0.9)))
        )
    return moments


def _write(telling: _Telling, version: Version, moment: datetime) -> None:
    """The agent's message that made a version, with what it changed paragraph by paragraph."""
    dice, story = telling.dice, telling.story
    key = version.pk
    calls = [update_call(version, key)]
    if dice.random() < 0.7:
        calls.insert(0, any_call(dice, story.company, story.contact, (key, "facts")))
    content = telling.words(words.ANSWERS)
    telling.say(
        moment,
        content=content,
        contentParts=[{"type": "text", "text": content}],
        reasoning=dice.choice(words.REASONING),
        hasSnapshot=True,
        toolCalls=calls,
        changes=_changes(story, version) or None,
    )


def _changes(story: AudienceStory, version: Version) -> list[dict[str, Any]]:
    """Return what changed since the version before, a change for each paragraph that did."""
    for old, new in pairwise(story.versions):
        if new is version:
            before = (old.supplementary_context or "").split("\n\n")
            after = (new.supplementary_context or "").split("\n\n")
            before += [""] * (len(after) - len(before))
            after += [""] * (len(before) - len(after))
            pairs = [(was, now) for was, now in zip(before, after, strict=True) if was != now]
            return [change((new.pk, place), *pair) for place, pair in enumerate(pairs)]
    return [change((version.pk, 0), "", version.supplementary_context or "")]


def _ask_on(telling: _Telling, moment: datetime) -> None:
    dice = telling.dice
    if dice.random() < 0.02:
        telling.say(moment, content="")
        return
    text = telling.words(words.FOLLOW_UPS if dice.random() < 0.6 else words.ASKS)
    parts = None
    if dice.random() < 0.04:
        parts = [
            {"type": "text", "text": text},
            {"type": "file_reference", "text": f"{telling.story.company.slug}-call-notes.pdf"},
        ]
    telling.say(moment, content=text, contentParts=parts)


def _answer(telling: _Telling, moment: datetime) -> None:
    """An answer of the agent's: with or without reasoning and tool calls, as evidence falls."""
    dice, story = telling.dice, telling.story
    key = (story.audience.pk, len(telling.messages))
    calls = None
    if dice.random() < 0.35:
        calls = [
            any_call(dice, story.company, story.contact, (key, n))
            for n in range(dice.randint(1, 3))
        ]
    content = words.HOSTILE if dice.random() < 0.015 else telling.words(words.ANSWERS)
    telling.say(
        moment,
        content=None if dice.random() < 0.05 else content,
        contentParts=[{"type": "text", "text": content}] if dice.random() < 0.8 else None,
        reasoning=dice.choice(words.REASONING) if dice.random() < 0.5 else None,
        hasSnapshot=False,
        toolCalls=calls,
    )


def _look_at_positions(telling: _Telling, number: int) -> None:
    """Let an answer in the middle carry a result of 200 KB; a number of two calls, even two."""
    answers = [message for message in telling.messages if "reasoning" in message]
    if answers:
        calls = [
            large_call(telling.dice, telling.story.company, (number, n))
            for n in range(1 + number % 2)
        ]
        answers[len(answers) // 2]["toolCalls"] = calls
