"""Parse the query string: texts, numbers, how much of a list is loaded, a past moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from django.http import QueryDict
from django.utils import timezone

from dashboard.web.ui.htmx import Request
from dashboard.web.ui.markup import moment_text

MAX_TEXT_LENGTH = 200
"""In characters. Our choice."""
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
"""The parameter of the number of rows."""
PAGE_SIZE = 50
"""Rows that each step adds."""
MAX_SHOWN = 200
"""Rows that one URL shows at most: they are fetched in one request."""


def size_param(query: QueryDict, least: int = PAGE_SIZE, most: int = MAX_SHOWN) -> int:
    """Return the number of rows in the query string, within limits."""
    return min(max(int_param(query.get(SHOW, "")), least), most)


def browser_query(request: Request) -> QueryDict:
    return QueryDict(urlsplit(request.htmx.current_url_abs_path or "").query)


def params_for_all_rows(request: Request, start: Sequence[str], added: int) -> dict[str, str | int]:
    """Return the query parameters that show the earlier rows and the added ones.

    `start` names the parameters that say where the rows begin. If there are more rows than one
    URL shows, the parameters show the added ones alone.
    """
    query = browser_query(request)
    size = size_param(query) + added
    if size > MAX_SHOWN:
        query, size = request.GET, PAGE_SIZE
    params = {name: value for name in start if (value := query.get(name))}
    return params | ({SHOW: size} if size > PAGE_SIZE else {})


@dataclass(frozen=True)
class PastMoment:
    """A date and time as typed, in the viewer's time zone unless it names another."""

    text: str
    moment: datetime | None
    """In UTC; None if there is a problem."""
    problem: str = ""
    """Why it can't be used, as a sentence."""

    @property
    def input_value(self) -> str:
        """The value of a field of type datetime-local."""
        if self.moment is None:
            return ""
        local = timezone.localtime(self.moment).replace(tzinfo=None)
        return local.isoformat(timespec="seconds" if local.second else "minutes")


def past_moment(text: str, *, now: datetime) -> PastMoment | None:
    """Return the moment typed, or why it can't be used; None if nothing was typed.

    Without a time, the day begins. An hour that clocks skip counts from before the change, and of
    two equal ones the first is meant. Source: our choice.
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
