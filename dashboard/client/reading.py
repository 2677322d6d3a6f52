"""Reading an answer: bytes to text, text to JSON, JSON to a model of the contract."""

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from dashboard.client.beyond_reading import (
    CONTAINERS,
    MAX_DEPTH,
    TOO_DEEP,
    BeyondReadingError,
    Odd,
    too_odd,
    with_items_set_aside,
)
from dashboard.client.errors import BadAnswerError
from dashboard.contract.envelope import UnreadableItem, problem_path
from dashboard.contract.wire import WireModel

BODY_HEAD = 2_000
"""Characters of a body kept with an error."""
WHOLE_ANSWER = problem_path(())

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ESCAPED_UNSTORABLE = re.compile(r"\\u(?:0000|d[89a-f])", re.IGNORECASE)
"""How they can still stand in text that `read_text` made storable."""
ReplyT = TypeVar("ReplyT", bound=WireModel)


def read_reply(text: str, *, status_code: int, reply: type[ReplyT]) -> ReplyT:
    """Return the answer as a `reply`.

    Raises BadAnswerError, naming the path, where the text is no JSON or not what the spec says.
    """
    try:
        # Our own names of fields are unknown to the wire.
        return reply.model_validate(_read_answer(text), by_name=False)
    except ValidationError as failure:
        first = failure.errors(include_url=False, include_input=False, include_context=False)[0]
        where, problem = problem_path(first["loc"]), first["msg"]
    except ValueError as failure:
        where, problem = WHOLE_ANSWER, str(failure)
    raise BadAnswerError(problem, path=where, status_code=status_code, body=text[:BODY_HEAD])


def read_text(body: bytes) -> str:
    """Return a body as text. What is not UTF-8, and NUL, becomes U+FFFD: no database keeps it."""
    # What was decoded holds no surrogate; looking for NUL alone is ten times as fast.
    return body.decode("utf-8-sig", errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def storable(text: str) -> str:
    """Return the text with NUL and lone surrogates as U+FFFD."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def read_json(text: str) -> Any:
    """Return the JSON value of a text that `read_text` gave, with all its strings storable.

    Raises ValueError, saying what is wrong, on text that is no JSON, numbers that are not finite,
    and nesting above `MAX_DEPTH`.
    """
    data = _parsed(text, odd=_refuse)
    if _is_deeper(data, MAX_DEPTH):
        raise BeyondReadingError(TOO_DEEP)
    return _storable_in(data, text)


def _read_answer(text: str) -> Any:
    """Return what `read_json` does; an item of a list that is beyond reading costs itself alone.

    In its place stands an UnreadableItem. Raises ValueError as `read_json` does.
    """
    try:
        return read_json(text)
    except BeyondReadingError:
        # Read twice, so that all other answers are read as fast as if there were no such thing.
        return _storable_in(with_items_set_aside(_parsed(text, odd=Odd)), text)


def _parsed(text: str, *, odd: Callable[[str], Any]) -> Any:
    """Return the JSON value of a text, with what `odd` makes of a number beyond reading."""

    def finite(digits: str) -> Any:
        number = float(digits)
        return number if math.isfinite(number) else odd(digits)

    def whole(digits: str) -> Any:
        # Beyond 4300 digits Python refuses to read one; beyond 308 no float of it can be shown.
        return int(digits) if len(digits) <= 308 else odd(digits)

    try:
        return json.loads(
            text, strict=False, parse_constant=odd, parse_float=finite, parse_int=whole
        )
    except json.JSONDecodeError:
        raise ValueError("not JSON") from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def _is_deeper(value: Any, levels: int) -> bool:
    """Tell whether a JSON value has more than so many levels of lists and objects."""
    level = [value] if isinstance(value, CONTAINERS) else []
    for _ in range(levels):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, CONTAINERS)
        ]
    return bool(level)


def _storable_in(data: Any, text: str) -> Any:
    """Return the JSON value of a text with all its strings storable."""
    # Walking through every string costs as much as reading them: most answers hold none to mend.
    return _cleaned(data) if _ESCAPED_UNSTORABLE.search(text) else data


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return storable(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {storable(key): _cleaned(item) for key, item in value.items()}
        case UnreadableItem():
            told = {"path": storable(value.path), "raw": _cleaned(value.raw)}
            return value.model_copy(update=told)
        case _:
            return value


def _refuse(digits: str) -> NoReturn:
    raise BeyondReadingError(too_odd(digits))
