"""Three hundred conversations with user and agent messages for each version.

Some of the agent's tool calls are small, some fail, and some have results of 200 KB.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from dashboard.contract.wire import read_date
from dashboard.embedded_api.models import Conversation, Version
from dashboard.embedded_api.sample.audiences import AudienceHistory
from dashboard.embedded_api.sample.people import Company
from dashboard.embedded_api.sample.randomness import TEXTS, fill, mark, sample_id, seeded_random
from dashboard.embedded_api.serializers import effective_metadata

LARGE_ROWS = 1_700
"""Rows of a large result, which has a little over 200 KB as JSON."""
COUNT = 300
READY, APPLIED, MOVED = "ready", "applied", "moved"
"""Kinds of pending changes: the current text is the old text, the new text, or neither."""
_TEXTS = TEXTS["conversation"]
_LENGTHS = ((5, 12), (8, 24), (20, 60), (60, 150))
_FIXED_LENGTHS = {3: 200, 5: 5, 90: 200, 150: 200}
_WITH_LARGE_RESULTS = {0, 3, 40, 90, 150, 222}


def update_call(version: Version, key: object) -> dict[str, Any]:
    arguments = {"audienceId": version.audience_id, "text": version.supplementary_context or ""}
    result = {"versionNumber": version.version_number, "status": "draft", "warnings": None}
    return _call(key, "update_supplementary_context", arguments, result=result)


def any_call(rng: Random, company: Company, contact: str, key: object) -> dict[str, Any]:
    """Return a random call that collects facts. Some calls fail."""
    templates = _TEXTS["tool_calls"]
    template = rng.choices(templates, [call["weight"] for call in templates])[0]
    name = template["name"]
    values = {
        "name": company.name,
        "slug": company.slug,
        "first_word": company.slug.split("-")[0],
        "domain": company.domain,
        "two_towns": ", ".join(company.towns[:2]),
        "contact": contact,
        "family_name": contact.rsplit(maxsplit=1)[-1].lower(),
        "person_id": sample_id("prospect", company.slug),
        "nothing": None,
    }
    values |= _RANDOM_VALUES[name](rng, values) if name in _RANDOM_VALUES else {}
    if "error" in template:
        return _call(key, name, fill(template["arguments"], values), error=template["error"])
    result = fill(template["result"], values) if values.get("is_found", True) else None
    return _call(key, name, fill(template["arguments"], values), result=result)


def _notes(rng: Random, values: dict[str, Any]) -> dict[str, Any]:
    notes = _TEXTS["crm_notes"][: rng.randint(1, 3)]
    return {"notes": [fill(note, values) | {"pinned": rng.random() < 0.2} for note in notes]}


def _payback(rng: Random, _: dict[str, Any]) -> dict[str, Any]:
    vehicles, loads, months = rng.randint(20, 400), rng.randint(1, 14), rng.uniform(4, 19)
    table = [
        {"month": month, "balance": round((month - round(months, 1)) * vehicles * 11.5)}
        for month in (1, 6, 12, 24)
    ]
    return {"vehicles": vehicles, "loads": loads, "months": round(months, 1), "table": table}


_RANDOM_VALUES: dict[str, Callable[[Random, dict[str, Any]], dict[str, Any]]] = {
    "find_person": lambda rng, _: {"is_found": rng.random() < 0.85},
    "read_crm_notes": _notes,
    "calculate_payback": _payback,
    "fetch_og_image": lambda rng, _: {"picture": rng.randint(2, 9)},
}


def large_call(rng: Random, company: Company, key: object) -> dict[str, Any]:
    """Return a call with a result of 200 KB."""
    rows = [
        {
            "vehicle": f"{company.slug[:3].upper()}-{number % 97:03}",
            "at": f"2026-{1 + number % 9:02}-{1 + number % 28:02}T{number % 24:02}:00:00Z",
            "second": number % 3600,
            "town": rng.choice(company.towns),
            "degrees": round(rng.uniform(-24, 6), 1),
            "doorOpen": rng.random() < 0.1,
            "litres": None if rng.random() < 0.2 else rng.randint(20, 400),
        }
        for number in range(LARGE_ROWS)
    ]
    arguments = {"company": company.slug, "from": "2026-01-01", "format": "rows"}
    result = {"count": LARGE_ROWS, "rows": rows}
    return _call(key, "export_vehicle_positions", arguments, result=result)


def _call(key: object, name: str, arguments: dict[str, Any], **end: Any) -> dict[str, Any]:
    """Return a call. `end` is its result or error."""
    return {"id": sample_id("call", key, name), "name": name, "arguments": arguments, **end}


@dataclass
class _ConversationBuilder:
    history: AudienceHistory
    rng: Random
    now: datetime
    messages: list[dict[str, Any]] = field(default_factory=list)

    def add_message(self, moment: datetime, **parts: Any) -> None:
        """Add a message without the parts that are None."""
        key = (self.history.audience.pk, len(self.messages))
        milliseconds = int(moment.timestamp() * 1000)
        message: dict[str, Any] = {"messageId": sample_id("msg", *key), "timestamp": milliseconds}
        message |= {name: part for name, part in parts.items() if part is not None}
        self.messages.append(message)

    def words(self, texts: list[str]) -> str:
        company, rng = self.history.company, self.rng
        text = rng.choice(texts)
        values = {
            "short": company.short_name,
            "contact": self.history.contact,
            "town": rng.choice(company.towns),
            "worry": rng.choice(_TEXTS["worries"]),
            "fleet": company.fleet,
            "price_12": f"{company.fleet * 372:,}",
            "price_24": f"{company.fleet * 342:,}",
            "price_36": f"{company.fleet * 312:,}",
        }
        return str(fill(text, values))


def conversations(histories: list[AudienceHistory], now: datetime) -> Iterator[Conversation]:
    first, others = histories[:12], histories[12:]
    chosen = first + seeded_random("conversations").sample(others, COUNT - len(first))
    for number, history in enumerate(chosen):
        yield _conversation(number, history, now)


def _conversation(number: int, history: AudienceHistory, now: datetime) -> Conversation:
    rng = seeded_random("conversation", number)
    builder = _ConversationBuilder(history, rng, now)
    for part, version in zip(_message_counts(number, rng, history), history.versions, strict=True):
        _add_version(builder, version, part)
    if number in _WITH_LARGE_RESULTS:
        _add_large_results(builder, number)
    times = [message["timestamp"] / 1000 for message in builder.messages]
    kinds = [READY, APPLIED, MOVED]
    if number > 0:
        has_changes = rng.random() < 0.6
        kinds = rng.choices(kinds, (5, 2, 2), k=rng.randint(1, 4)) if has_changes else []
    return Conversation(
        id=sample_id("conv", number),
        audience=history.audience,
        messages=builder.messages,
        pending_changes=_pending_changes(rng, history, kinds),
        created_at=mark(datetime.fromtimestamp(times[0], now.tzinfo), rng),
        updated_at=mark(datetime.fromtimestamp(times[-1], now.tzinfo), rng),
    )


def _message_counts(number: int, rng: Random, history: AudienceHistory) -> list[int]:
    """Return the number of messages for each version: 5 to 200 in all, most for the last two."""
    count = len(history.versions)
    random_length = rng.randint(*rng.choices(_LENGTHS, (5, 7, 3, 1))[0])
    length = _FIXED_LENGTHS.get(number, random_length)
    parts = [2] * count
    parts[-1] += max(0, length - sum(parts))
    if count > 1:
        parts[-2] += parts[-1] // 2 - 1
        parts[-1] -= parts[-1] // 2 - 1
    return parts


def _add_version(builder: _ConversationBuilder, version: Version, count: int) -> None:
    rng = builder.rng
    for place, moment in enumerate(_message_times(builder, version, count)):
        if place == 0:
            asks = _TEXTS["asks"] if builder.messages else _TEXTS["asks"][:1]
            builder.add_message(moment, content=builder.words(asks), hasSnapshot=False)
        elif place == 1:
            _add_version_message(builder, version, moment)
        elif place % 2 == 0:
            _add_user_message(builder, moment)
        elif rng.random() < 0.06:
            cut, reasoning = builder.words(_TEXTS["cut_off"]), rng.choice(_TEXTS["reasoning"])
            builder.add_message(moment, content=cut, reasoning=reasoning, isInterrupted=True)
        else:
            _add_agent_message(builder, moment)


def _message_times(builder: _ConversationBuilder, version: Version, count: int) -> list[datetime]:
    """Return the sorted times of the messages, around the version's creation but before now."""
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
    rng, history = builder.rng, builder.history
    calls = [update_call(version, version.pk)]
    if rng.random() < 0.7:
        calls.insert(0, any_call(rng, history.company, history.contact, (version.pk, "facts")))
    content = builder.words(_TEXTS["answers"])
    builder.add_message(
        moment,
        content=content,
        contentParts=[{"type": "text", "text": content}],
        reasoning=rng.choice(_TEXTS["reasoning"]),
        hasSnapshot=True,
        toolCalls=calls,
        changes=_changes(history, version) or None,
    )


def _changes(history: AudienceHistory, version: Version) -> list[dict[str, Any]]:
    for old, new in pairwise(history.versions):
        if new is version:
            before = (old.supplementary_context or "").split("\n\n")
            after = (new.supplementary_context or "").split("\n\n")
            before += [""] * (len(after) - len(before))
            after += [""] * (len(before) - len(after))
            pairs = [(was, now) for was, now in zip(before, after, strict=True) if was != now]
            return [_change((new.pk, place), *pair) for place, pair in enumerate(pairs)]
    return [_change((version.pk, 0), "", version.supplementary_context or "")]


def _add_user_message(builder: _ConversationBuilder, moment: datetime) -> None:
    rng = builder.rng
    if rng.random() < 0.02:
        builder.add_message(moment, content="")
        return
    text = builder.words(_TEXTS["follow_ups"] if rng.random() < 0.6 else _TEXTS["asks"])
    parts = None
    if rng.random() < 0.04:
        parts = [
            {"type": "text", "text": text},
            {"type": "file_reference", "text": f"{builder.history.company.slug}-call-notes.pdf"},
        ]
    builder.add_message(moment, content=text, contentParts=parts)


def _add_agent_message(builder: _ConversationBuilder, moment: datetime) -> None:
    rng, history = builder.rng, builder.history
    key = (history.audience.pk, len(builder.messages))
    calls = None
    if rng.random() < 0.35:
        calls = [
            any_call(rng, history.company, history.contact, (key, n))
            for n in range(rng.randint(1, 3))
        ]
    content = _TEXTS["hostile"] if rng.random() < 0.015 else builder.words(_TEXTS["answers"])
    builder.add_message(
        moment,
        content=None if rng.random() < 0.05 else content,
        contentParts=[{"type": "text", "text": content}] if rng.random() < 0.8 else None,
        reasoning=rng.choice(_TEXTS["reasoning"]) if rng.random() < 0.5 else None,
        hasSnapshot=False,
        toolCalls=calls,
    )


def _add_large_results(builder: _ConversationBuilder, number: int) -> None:
    """Give a message in the middle a tool result of 200 KB, or two if the number is odd."""
    answers = [message for message in builder.messages if "reasoning" in message]
    if answers:
        calls = [
            large_call(builder.rng, builder.history.company, (number, n))
            for n in range(1 + number % 2)
        ]
        answers[len(answers) // 2]["toolCalls"] = calls


def _change(key: object, previous: str, new: str) -> dict[str, Any]:
    """Return a change. It does not name its field."""
    return {"changeId": sample_id("chg", key), "previousValue": previous, "newValue": new}


def _pending_changes(
    rng: Random, history: AudienceHistory, kinds: list[str]
) -> list[dict[str, Any]]:
    audience, versions = history.audience, history.versions
    metadata = effective_metadata(audience, audience.page)
    present = (
        audience.supplementary_context,
        metadata.get("title"),
        metadata.get("description"),
        ", ".join(metadata.get("keywords") or []),
    )
    texts = [text for text in present if text]
    rng.shuffle(texts)
    changes = []
    for place, (kind, text) in enumerate(zip(kinds, texts, strict=False)):
        is_context = text == audience.supplementary_context and len(versions) > 1
        earlier = versions[-2].supplementary_context if is_context else None
        old = text if kind == READY else earlier or " ".join(text.split()[:-2])
        new = text if kind == APPLIED else _improved(text)
        changes.append(_change((audience.pk, place), old, new))
    return changes


def _improved(text: str) -> str:
    if "\n\n" in text:
        return text.replace("Lead with ", "Open with one number, then show ", 1)
    if ", " in text and len(text) < 80:
        return f"{text}, temperature alarms, payback"
    return f"{text.rstrip('.')}, first for the driver."
