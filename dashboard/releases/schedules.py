"""The moment of a schedule, from a date, a time and a time zone. Pure.

A time that clocks skip moves to the next valid minute. For a time that occurs twice, the user
chooses one.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from dashboard.releases.errors import ReleaseError

FIRST, SECOND = "first", "second"
"""The values of `fold`: which of two equal local times is meant."""
MAX_AHEAD = timedelta(days=5 * 366)
"""How far ahead a schedule may be; a later year is probably a typo. Source: our choice."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"\d{2}:\d{2}", re.ASCII)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class ScheduledMoment:
    instant: datetime
    """In UTC."""
    zone: str
    """IANA name of the time zone."""
    as_typed: str
    """Date and time, such as `2027-03-28 02:30`; with the choice if the time occurs twice."""

    @property
    def is_zone_known(self) -> bool:
        """Whether this machine knows the zone; another one, where it was typed, may know more."""
        return _find_zone(self.zone) is not None

    @property
    def known_zone(self) -> tzinfo:
        return _find_zone(self.zone) or UTC

    @property
    def local(self) -> datetime:
        return self.instant.astimezone(self.known_zone)

    @property
    def skipped(self) -> datetime | None:
        """The date and time as typed, without a zone, if clocks skip it; else None."""
        zone = _find_zone(self.zone)
        if not self.as_typed or zone is None:
            return None
        local = datetime.fromisoformat(self.as_typed[: len("2027-03-28 02:30")])
        first, second = _instants(local, zone)
        return local if first > second else None


class AmbiguousTimeError(ReleaseError):
    """The time occurs twice that day: `first` and `second` are the moments to choose from."""

    def __init__(self, *, first: ScheduledMoment, second: ScheduledMoment) -> None:
        sentence = "This time occurs twice that day. Choose the first or the second."
        super().__init__(sentence, field="fold")
        self.first = first
        self.second = second

    @property
    def choices(self) -> list[tuple[str, ScheduledMoment]]:
        return [(FIRST, self.first), (SECOND, self.second)]


def parse_moment(
    typed_date: str, typed_time: str, zone: str, *, fold: str = "", now: datetime
) -> ScheduledMoment:
    """Return the moment of a schedule, as typed in a form: `2027-03-28`, `02:30`, `Europe/Oslo`.

    `fold` is `first` or `second` if the user has chosen one of two equal times. Raises
    AmbiguousTimeError if that choice is missing, and ReleaseError with the field (`date`, `time`,
    `zone`) for an impossible date, an unknown zone, or a moment in the past or too far ahead.
    """
    local = datetime.combine(_read_date(typed_date), _read_time(typed_time))
    as_typed = f"{local:%Y-%m-%d %H:%M}"
    try:
        moment = _resolve(local, zone, as_typed, fold)
    except (OverflowError, ValueError) as error:  # The first or the last day that Python knows.
        raise _invalid_date() from error
    if moment.instant <= now:
        raise ReleaseError("This time is in the past.", field="time")
    if moment.instant > now + MAX_AHEAD:
        raise ReleaseError("This date is more than five years ahead.", field="date")
    return moment


def _read_date(text: str) -> date:
    if not _DATE.fullmatch(text.strip()):
        raise _invalid_date()
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise _invalid_date() from error


def _invalid_date() -> ReleaseError:
    return ReleaseError("Enter a valid date, such as 2027-03-28.", field="date")


def _read_time(text: str) -> time:
    invalid = ReleaseError("Enter a valid time, such as 14:30.", field="time")
    if not _TIME.fullmatch(text.strip()):
        raise invalid
    try:
        return time.fromisoformat(text.strip())
    except ValueError as error:
        raise invalid from error


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def _find_zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # A folder of zones is an OSError.
        return None


def _resolve(local: datetime, name: str, as_typed: str, fold: str) -> ScheduledMoment:
    """Return the moment of a local time. Raises ReleaseError if there is none, or two."""
    if name not in zone_names():
        raise ReleaseError("Choose a time zone from the list.", field="zone")
    zone = ZoneInfo(name)
    first, second = _instants(local, zone)
    if first == second:
        return ScheduledMoment(first, name, as_typed)
    if first > second:
        return ScheduledMoment(_after_gap(zone, between=(second, first)), name, as_typed)
    moments = {
        value: ScheduledMoment(instant, name, f"{as_typed} ({value})")
        for value, instant in ((FIRST, first), (SECOND, second))
    }
    if fold in moments:
        return moments[fold]
    raise AmbiguousTimeError(first=moments[FIRST], second=moments[SECOND])


def _instants(local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the instants of a local time: the same one twice, unless clocks change around it.

    For a time that occurs twice they are the earlier and the later one. For one that is skipped,
    Python returns them by the offsets before and after, in the other order.
    """
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return first, local.replace(tzinfo=zone, fold=1).astimezone(UTC)


def _after_gap(zone: ZoneInfo, *, between: tuple[datetime, datetime]) -> datetime:
    """Return the first minute after a skipped time; the clocks change between these instants."""
    before, after = between
    old = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    # Some old changes were not at a full minute.
    seconds = after.astimezone(zone).second
    return after + (_MINUTE - timedelta(seconds=seconds) if seconds else timedelta())
