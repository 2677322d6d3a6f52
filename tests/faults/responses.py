"""Faults in a response: its status, its form, its content."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from tests.faults.kinds import Kind
from tests.faults.pages import good_answer

LISTS = {"List pages", "List audiences", "List people", "Search people"}
CONTINUED = {"List pages", "List people", "Search people"}
MIB = 1024 * 1024
Make = Callable[[str, httpx.Request], httpx.Response]


@dataclass(frozen=True)
class Fault:
    """A response in place of a good one, what it means, and a sentence that must be shown."""

    name: str
    make: Make
    kind: Kind
    sentence: str = ""
    of: frozenset[str] = frozenset()
    """Operations that can have the fault; empty for all."""


def status(code: int, kind: Kind, sentence: str, **headers: str) -> Fault:
    """A response with that status, and a message from the service if the status allows a body."""

    def make(operation: str, request: httpx.Request) -> httpx.Response:
        if code in {204, 304}:
            return httpx.Response(code, headers=headers)
        return httpx.Response(code, json={"detail": "The kettle is empty"}, headers=headers)

    name = " ".join([str(code), *(f"with {header}" for header in headers)])
    return Fault(name, make, kind, sentence or f"The service returned {code}: The kettle is empty.")


def content(name: str, body: bytes, kind: Kind, sentence: str, **headers: str) -> Fault:
    """A 200 with this body."""
    # As a stream, because httpx would decompress a complete body at once.
    return Fault(
        name, lambda *_: httpx.Response(200, content=iter([body]), headers=headers), kind, sentence
    )


def changed(
    name: str, change: Callable[[Any], Any], kind: Kind, sentence: str = "", **of: Any
) -> Fault:
    """A good response with a change."""

    def make(operation: str, request: httpx.Request) -> httpx.Response:
        body = json.dumps(change(good_answer(operation, request)))
        return httpx.Response(200, content=body, headers={"content-type": "application/json"})

    return Fault(name, make, kind, sentence, **of)


def half(operation: str, request: httpx.Request) -> httpx.Response:
    whole = json.dumps(good_answer(operation, request))
    return httpx.Response(200, content=whole[: len(whole) // 2])


def partial_content(operation: str, request: httpx.Request) -> httpx.Response:
    return httpx.Response(206, json=good_answer(operation, request))


def forty_mib(operation: str, request: httpx.Request) -> httpx.Response:
    def pieces() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * MIB

    return httpx.Response(200, content=pieces())


def elsewhere(host: str) -> Callable[[str, httpx.Request], httpx.Response]:
    return lambda *_: httpx.Response(302, headers={"location": f"{host}/v0/persons"})


def without_a_required_field(answer: Any) -> Any:
    for name in ("items", "messages", "pageId", "versionId", "subscriptionId"):
        if name in answer:
            return {key: value for key, value in answer.items() if key != name}
    raise AssertionError(answer)


def fifty(bad: Any) -> Callable[[Any], Any]:
    """Fifty items, one of them bad."""

    def change(answer: Any) -> Any:
        item, name = answer["items"][0], _id_of(answer["items"][0])
        rest = [item | {name: f"more_{number}"} for number in range(48)]
        return answer | {"items": [item, *rest[:20], bad, *rest[20:]], "totalCount": 50}

    return change


def many(count: int) -> Callable[[Any], Any]:
    def change(answer: Any) -> Any:
        item, name = answer["items"][0], _id_of(answer["items"][0])
        more = [item | {name: f"more_{number}"} for number in range(count - 1)]
        return answer | {"items": [item, *more], "totalCount": count}

    return change


def doubled(answer: Any) -> Any:
    return answer | {"items": answer["items"] * 3, "totalCount": 3}


def continued_for_ever(answer: Any) -> Any:
    return answer | {"hasMore": True, "nextCursor": "again", "totalCount": 2**40}


def _id_of(item: Any) -> str:
    return next(name for name in ("audienceId", "pageId", "personId") if name in item)


def everywhere(text: str) -> Callable[[Any], Any]:
    """Append a text to every string except ids, dates and enum values."""
    spared = ("Id", "At", "status", "pageType", "url", "events", "Url")

    def change(value: Any, name: str = "") -> Any:
        match value:
            case dict():
                return {key: change(item, key) for key, item in value.items()}
            case list():
                return [change(item, name) for item in value]
            case str() if not name.endswith(spared):
                return value + text
        return value

    return change


def enormous(value: Any, name: str = "") -> Any:
    """Replace every number by 2^60."""
    match value:
        case dict():
            return {key: enormous(item, key) for key, item in value.items()}
        case list():
            return [enormous(item) for item in value]
        case bool():
            return value
        case int() | float():
            return 2**60
    return value


FAULTS = [
    Fault("302 to the same host", elsewhere("http://fake.service"), Kind.FAULT, "returned 302"),
    Fault("302 to another host", elsewhere("http://evil.example"), Kind.FAULT, "returned 302"),
    status(301, Kind.FAULT, ""),
    status(307, Kind.FAULT, "", location="http://evil.example/v0/pages"),
    status(204, Kind.UNREADABLE, "can’t be read: (the whole response): not JSON."),
    Fault("206", partial_content, Kind.NONE),
    status(304, Kind.FAULT, "The service returned 304: Not Modified."),
    *(status(code, Kind.REFUSED, "") for code in (400, 405, 409, 413, 415, 422)),
    *(status(code, Kind.KEY_REFUSED, "") for code in (401, 403)),
    status(404, Kind.NOT_THERE, ""),
    status(410, Kind.GONE, ""),
    status(408, Kind.FAULT, ""),
    status(429, Kind.WAIT, ""),
    status(429, Kind.WAIT, "", **{"retry-after": "3600"}),
    status(429, Kind.WAIT, "", **{"retry-after": "soon"}),
    *(status(code, Kind.FAULT, "") for code in (500, 502, 503, 504, 520)),
    status(503, Kind.FAULT, "", **{"retry-after": "120"}),
    content("HTML", b"<h1>Welcome</h1>", Kind.UNREADABLE, "not JSON"),
    content("nothing", b"", Kind.UNREADABLE, "not JSON"),
    content("no UTF-8", b"\xff\xfe\x00{", Kind.UNREADABLE, "not JSON"),
    content("bad gzip", b"no", Kind.UNREADABLE, "decompressed", **{"content-encoding": "gzip"}),
    *(
        content(f"{name} on top", body, Kind.UNREADABLE, "can’t be read")
        for name, body in {"list": b"[]", "null": b"null"}.items()
    ),
    content("an empty object", b"{}", Kind.UNREADABLE, "Field required"),
    content("deep", b"[" * 200_000, Kind.UNREADABLE, "can’t be read"),
    content("1e999", b"1e999", Kind.UNREADABLE, "can’t be read"),
    Fault("truncated JSON", half, Kind.UNREADABLE, "not JSON"),
    Fault("40 MiB", forty_mib, Kind.UNREADABLE, "larger than 32 MiB"),
    changed(
        "a missing required field", without_a_required_field, Kind.UNREADABLE, "Field required"
    ),
    changed(
        "numbers beyond 2^53",
        enormous,
        Kind.UNREADABLE,
        "less than or equal to 9007199254740991",
        of=frozenset({*LISTS, "Get page", "Create page", "Publish audience version"}),
    ),
    changed("a time beyond 2^53", enormous, Kind.NONE, of=frozenset({"Get audience messages"})),
    changed("NUL", everywhere("\0"), Kind.NONE),
    changed("lone surrogates", everywhere("\ud800"), Kind.NONE),
    changed("unknown fields", lambda answer: answer | {"weather": {"is": [1, None]}}, Kind.NONE),
    *(
        changed(f"one bad item of fifty: {bad!r}", fifty(bad), Kind.NONE, of=frozenset(LISTS))
        for bad in (None, {"pageId": 5, "audienceId": 5, "personId": 5})
    ),
    changed("ids three times", doubled, Kind.NONE, of=frozenset(LISTS)),
    changed(
        "a cursor that repeats for ever", continued_for_ever, Kind.NONE, of=frozenset(CONTINUED)
    ),
    changed("1,000 items", many(1_000), Kind.NONE, of=frozenset(LISTS)),
]
LARGE_FAULTS = [changed("10,000 items", many(10_000), Kind.NONE, of=frozenset(LISTS))]
"""Faults that take seconds, for `--exhaustive` only."""
