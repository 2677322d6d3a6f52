"""Languages: how each writes numbers, days and the time of day, and the one to follow.

The words of the pages are English, and so are the names of months: a foreign one would stand alone
among English words, and a number in its place (3/9) is read as two different days. What follows
the reader's language is the order of day and month, the clock of 12 or 24 hours, and the marks
between digits. Source: Unicode's CLDR, as Babel has it; the choice between them is ours.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache, cached_property, lru_cache
from operator import itemgetter

from babel import Locale, UnknownLocaleError
from babel.numbers import format_decimal
from django.http import HttpRequest
from django.utils.dateformat import format as format_date
from django.utils.translation.trans_real import parse_accept_lang_header

from dashboard.ledger.preferences import preferences_of

BROWSERS_OWN = ("", "That of each browser I use")
HOUSE = "en-GB"
"""Where a browser names no language that we know. Source: DESIGN-LANGUAGE.md, Voice."""
OFFERED = (
    *("cs", "da", "de", "de-AT", "de-CH", "el", "en-AU", "en-CA", "en-GB", "en-IN", "en-US", "es"),
    *("es-MX", "et", "fi", "fr", "fr-CA", "fr-CH", "he", "hu", "id", "it", "ja", "ko", "nl", "no"),
    *("pl", "pt-BR", "pt-PT", "ro", "sk", "sv", "th", "tr", "uk", "vi", "zh-CN", "zh-TW"),
)
"""What a person can choose from; a browser may ask for any language there is."""

DAY_FIRST = {"short": "j M", "long": "j F", "dated": "j M Y", "full": "j F Y", "named": "l j F Y"}
MONTH_FIRST = {
    "short": "M j",
    "long": "F j",
    "dated": "M j, Y",
    "full": "F j, Y",
    "named": "l, F j, Y",
}
YEAR_FIRST = MONTH_FIRST | {"dated": "Y M j", "full": "Y F j", "named": "Y F j, l"}
"""How much of a day is told, and its pattern, as Django's `date` has them."""


@dataclass(frozen=True)
class Language:
    """One language, by its name in BCP 47, and how it writes."""

    name: str
    locale: Locale = field(compare=False)
    """Follows from the name."""

    @cached_property
    def days(self) -> dict[str, str]:
        """The patterns of a day."""
        pattern = self.locale.date_formats["medium"].pattern
        year, month, day = (pattern.lower().find(letter) for letter in "ymd")
        if year < min(month, day):
            return YEAR_FIRST
        return MONTH_FIRST if month < day else DAY_FIRST

    @cached_property
    def has_halves(self) -> bool:
        """Whether its clock has 12 hours."""
        return "h" in self.locale.time_formats["short"].format

    def day(self, value: date, how: str = "short") -> str:
        """Write a day; `how` names one of the patterns."""
        # A moment is no key: two of one day would be drawn each by itself.
        day = value.date() if isinstance(value, datetime) else value
        return _drawn_day(day, self.days[how])

    def time(self, value: datetime, *, seconds: bool = True) -> str:
        """Write the time of day, in the zone the value has."""
        rest = f"{value:%M:%S}" if seconds else f"{value:%M}"
        if self.has_halves:
            return f"{value.hour % 12 or 12}:{rest} {'AM' if value.hour < 12 else 'PM'}"
        return f"{value:%H}:{rest}"

    def number(self, value: float, places: int | None = None) -> str:
        """Write a number with so many decimals; by default with those it has, up to three."""
        return _drawn_number(value, places, self.locale)


@lru_cache(maxsize=5_000)
def _drawn_day(day: date, pattern: str) -> str:
    return format_date(day, pattern)


# Equal numbers of two types are not written alike: 1 and 1.0, True and 1.
@lru_cache(maxsize=5_000, typed=True)
def _drawn_number(value: float, places: int | None, locale: Locale) -> str:
    pattern = None if places is None else f"#,##0.{'0' * places}".rstrip(".")
    return str(format_decimal(value, pattern, locale=locale))


@cache
def house() -> Language:
    """Return the language where a browser names none that we know."""
    return Language(HOUSE, Locale.parse(HOUSE, sep="-"))


@lru_cache(maxsize=1000)
def language(name: str) -> Language | None:
    """Return the language of that name; None for a name that is none."""
    try:
        return Language(name, Locale.parse(name, sep="-"))
    except (ValueError, UnknownLocaleError):
        return None


def asked_for(header: str) -> Language:
    """Return the first language of an Accept-Language header that we know, else the house's."""
    names = (name for name, weight in parse_accept_lang_header(header) if weight > 0)
    return next(filter(None, map(language, names)), house())


def language_of(request: HttpRequest) -> Language:
    """Return the language this person chose, else the browser's."""
    chosen = preferences_of(request.user).language
    return language(chosen) or asked_for(request.headers.get("Accept-Language", ""))


_followed: ContextVar[Language | None] = ContextVar("language", default=None)


def followed() -> Language:
    """Return the language to write in now."""
    return _followed.get() or house()


@contextmanager
def following(one: Language) -> Iterator[None]:
    """Write in that language while the block lasts."""
    token = _followed.set(one)
    try:
        yield
    finally:
        _followed.reset(token)


def number(value: float) -> str:
    """Write a number as the reader's language does."""
    return followed().number(value)


@cache
def language_choices() -> list[tuple[str, str]]:
    """Return the browser's own, and languages by their English names, as a form offers them."""
    named = [(name, str(Locale.parse(name, sep="-").get_display_name("en"))) for name in OFFERED]
    return [BROWSERS_OWN, *sorted(named, key=itemgetter(1))]
