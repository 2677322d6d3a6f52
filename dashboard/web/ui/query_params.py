"""Parse the query string: texts, numbers, the number of rows, a past moment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from django.http import QueryDict
from django.utils import timezone

from dashboard.web.ui.htmx import Request, keys_on_screen
from dashboard.web.ui.markup import moment_text

MAX_TEXT_LENGTH = 200
"""In characters. Source: our choice."""
MAX_DIGITS = 12
MAX_COUNT = 1_000_000_000


def search_param(query: QueryDict, name: str = "q") -> str:
    return clean_param(query.get(name, "")).strip()


def clean_param(text: str) -> str:
    """Remove NUL, which PostgreSQL rejects, and truncate to MAX_TEXT_LENGTH."""
    return text.replace("\0", "")[:MAX_TEXT_LENGTH]


def int_param(text: str) -> int:
    """Return a non-negative integer, at most MAX_COUNT; 0 if the text is not a number."""
    return min(int(text), MAX_COUNT) if text.isdecimal() and len(text) <= MAX_DIGITS else 0


SHOW = "show"
"""Query parameter with the number of rows."""
PAGE_SIZE = 50
"""Number of rows that each step adds."""
MAX_SHOWN = 200
"""Maximum number of rows that one URL shows, as they are fetched in one request."""


def size_param(query: QueryDict, least: int = PAGE_SIZE, most: int = MAX_SHOWN) -> int:
    """Return the number of rows in the query string, within limits."""
    return min(max(int_param(query.get(SHOW, "")), least), most)


def browser_query(request: Request) -> QueryDict:
    return QueryDict(urlsplit(request.htmx.current_url_abs_path or "").query)


def params_for_all_rows(request: Request, start: Sequence[str], added: int) -> dict[str, str | int]:
    """Return the query parameters of a URL that shows the earlier rows and the added ones.

    `start` names the parameters that say where the rows begin. If there are more than MAX_SHOWN
    rows, the URL shows the added ones only.
    """
    query = browser_query(request)
    size = size_param(query) + added
    if size > MAX_SHOWN:
        query, size = request.GET, PAGE_SIZE
    params = {name: value for name in start if (value := query.get(name))}
    return params | ({SHOW: size} if size > PAGE_SIZE else {})


@dataclass(frozen=True)
class PastMoment:
    """A date and time as typed, in the viewer's time zone unless the text has an offset."""

    text: str
    moment: datetime | None
    """The moment in UTC; None if there is a problem."""
    problem: str = ""
    """A sentence that says why the text can't be used."""

    @property
    def input_value(self) -> str:
        """The value for an input of type datetime-local."""
        if self.moment is None:
            return ""
        local = timezone.localtime(self.moment).replace(tzinfo=None)
        return local.isoformat(timespec="seconds" if local.second else "minutes")


def past_moment(text: str, *, now: datetime) -> PastMoment | None:
    """Return the typed moment, or why it can't be used; None if nothing was typed.

    A date without a time means the start of the day. When clocks change, a skipped time is read
    with the offset before the change, and a repeated time means the first one. Source: our choice.
    """
    text = clean_param(text).strip()
    if not text:
        return None
    try:
        local = datetime.fromisoformat(text)
        moment = (local if local.tzinfo else timezone.make_aware(local)).astimezone(UTC)
        timezone.localtime(moment)
    except (ValueError, OverflowError):
        problem = f"“{text}” isn’t a date and time. Enter one such as 2026-11-03 12:00."
        return PastMoment(text, None, problem)
    if moment > now:
        problem = f"{moment_text(moment)} is in the future. Enter a moment that has passed."
        return PastMoment(text, None, problem)
    return PastMoment(text, moment)


def rows_gone(request: Request, prefix: str, pks: Iterable[int]) -> list[int]:
    """Return the primary keys of rows on an open page that are not among `pks`."""
    return sorted({int_param(key) for key in keys_on_screen(request, prefix)} - {*pks})
