"""Reading an answer: bytes to text, text to JSON, JSON to a model of the contract."""

import json
import math
import re
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from dashboard.client.errors import BadAnswerError
from dashboard.contract.envelope import problem_path
from dashboard.contract.wire import WireModel

BODY_HEAD = 2_000
"""Characters of a body kept with an error."""
MAX_DEPTH = 100
"""Levels of nesting; more is refused, as what shows the answer later is recursive too."""
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
        return reply.model_validate(read_json(text))
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
    try:
        data = json.loads(
            text, strict=False, parse_constant=_refuse, parse_float=_finite, parse_int=_whole
        )
    except json.JSONDecodeError:
        raise ValueError("not JSON") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if _is_deeper(data, MAX_DEPTH):
        raise ValueError("nested too deeply")
    # Walking through every string costs as much as reading them: most answers hold none to mend.
    return _cleaned(data) if _ESCAPED_UNSTORABLE.search(text) else data


_CONTAINERS = (dict, list)
"""Named: a union written where each of a thousand values is looked at takes as long as the look."""


def _is_deeper(value: Any, levels: int) -> bool:
    """Tell whether a JSON value has more than so many levels of lists and objects."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(levels):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, _CONTAINERS)
        ]
    return bool(level)


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return storable(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {storable(key): _cleaned(item) for key, item in value.items()}
        case _:
            return value


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _whole(text: str) -> int:
    # Beyond 4300 digits Python refuses to read one; beyond 308 there is no float of it to show.
    return int(text) if len(text) <= 308 else _refuse(text)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is a number beyond reading")
