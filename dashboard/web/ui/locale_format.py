"""Format numbers, days and times of day in the viewer's language.

The pages are in English, and so are the names of months: a number instead (3/9) is ambiguous.
The language sets the order of day and month, the 12- or 24-hour clock, and the separators in
numbers. Source: Unicode's CLDR by Babel; the choice among its formats is ours.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache, cached_property, lru_cache
from operator import itemgetter

from babel import Locale, UnknownLocaleError
from babel.numbers import format_decimal, format_scientific
from django.http import HttpRequest
from django.utils.dateformat import format as format_date
from django.utils.translation.trans_real import parse_accept_lang_header

from dashboard.ledger.preferences import get_preferences

BROWSER_CHOICE = ("", "Browser default")
LANGUAGE_NAMES = (
    *("cs", "da", "de", "de-AT", "de-CH", "el", "en-AU", "en-CA", "en-GB", "en-IN", "en-US", "es"),
    *("es-MX", "et", "fi", "fr", "fr-CA", "fr-CH", "he", "hu", "id", "it", "ja", "ko", "nl", "no"),
    *("pl", "pt-BR", "pt-PT", "ro", "sk", "sv", "th", "tr", "uk", "vi", "zh-CN", "zh-TW"),
)
"""The choices of the settings; a browser may request any other language."""

# Patterns of Django's `date` filter, by style.
DAY_FIRST = {"short": "j M", "long": "j F", "dated": "j M Y", "full": "j F Y", "named": "l j F Y"}
MONTH_FIRST = {
    "short": "M j",
    "long": "F j",
    "dated": "M j, Y",
    "full": "F j, Y",
    "named": "l, F j, Y",
}
YEAR_FIRST = MONTH_FIRST | {"dated": "Y M j", "full": "Y F j", "named": "Y F j, l"}

SCIENTIFIC_FROM = 1e21
"""Larger numbers are written with an exponent, as in JavaScript: Babel can't round a number of
more than 28 digits, the precision of Python's decimals."""


@dataclass(frozen=True)
class Language:
    """A language, by its BCP 47 name, and its formats."""

    name: str
    locale: Locale = field(compare=False)
    """Derived from the name."""

    @cached_property
    def days(self) -> dict[str, str]:
        """The day patterns, by style."""
        pattern = self.locale.date_formats["medium"].pattern
        year, month, day = (pattern.lower().find(letter) for letter in "ymd")
        if year < min(month, day):
            return YEAR_FIRST
        return MONTH_FIRST if month < day else DAY_FIRST

    @cached_property
    def is_12_hour(self) -> bool:
        """Whether it uses the 12-hour clock."""
        return "h" in self.locale.time_formats["short"].format

    def day(self, value: date, how: str = "short") -> str:
        """Format a day; `how` is the style of the pattern."""
        # A datetime as the cache key would miss for each time of the same day.
        day = value.date() if isinstance(value, datetime) else value
        return _format_day(day, self.days[how])

    def time(self, value: datetime, *, seconds: bool = True) -> str:
        """Format the time of day, in the value's own time zone."""
        rest = f"{value:%M:%S}" if seconds else f"{value:%M}"
        if self.is_12_hour:
            return f"{value.hour % 12 or 12}:{rest} {'AM' if value.hour < 12 else 'PM'}"
        return f"{value:%H}:{rest}"

    def number(self, value: float, places: int | None = None) -> str:
        """Format a number with so many decimals; by default its own, up to three."""
        return _format_number(value, places, self.locale)


@lru_cache(maxsize=5_000)
def _format_day(day: date, pattern: str) -> str:
    return format_date(day, pattern)


# Typed: equal numbers of different types are formatted differently (1 and 1.0, True and 1).
@lru_cache(maxsize=5_000, typed=True)
def _format_number(value: float, places: int | None, locale: Locale) -> str:
    if abs(value) >= SCIENTIFIC_FROM:
        return str(format_scientific(float(value), locale=locale))
    pattern = None if places is None else f"#,##0.{'0' * places}".rstrip(".")
    return str(format_decimal(value, pattern, locale=locale))


DEFAULT_LANGUAGE = Language("en-GB", Locale.parse("en-GB", sep="-"))
"""Used if the browser names no known language. Source: DESIGN-LANGUAGE.md, Voice."""


@lru_cache(maxsize=1000)
def language(name: str) -> Language | None:
    """Return the language of that BCP 47 name; None if there is none."""
    try:
        return Language(name, Locale.parse(name, sep="-"))
    except (ValueError, UnknownLocaleError):
        return None


def accepted_language(header: str) -> Language:
    """Return the first known language of an Accept-Language header, else the default."""
    for name, weight in parse_accept_lang_header(header):
        if weight > 0 and (found := language(name)):
            return found
    return DEFAULT_LANGUAGE


def request_language(request: HttpRequest) -> Language:
    """Return the language from the user's settings, else the browser's."""
    chosen = get_preferences(request.user).language
    return language(chosen) or accepted_language(request.headers.get("Accept-Language", ""))


_active = ContextVar("language", default=DEFAULT_LANGUAGE)
active_language = _active.get
"""Returns the language that numbers and dates are formatted in."""


@contextmanager
def override_language(one: Language) -> Iterator[None]:
    """Format in that language within the block."""
    token = _active.set(one)
    try:
        yield
    finally:
        _active.reset(token)


def number(value: float) -> str:
    """Format a number in the active language."""
    return active_language().number(value)


@cache
def language_choices() -> list[tuple[str, str]]:
    """Return the form choices: the browser's own, and languages sorted by English name."""
    languages = [
        (name, str(Locale.parse(name, sep="-").get_display_name("en"))) for name in LANGUAGE_NAMES
    ]
    return [BROWSER_CHOICE, *sorted(languages, key=itemgetter(1))]
