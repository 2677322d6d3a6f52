"""The counts of the overview: by day in the viewer's time zone, and since the last visit."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import connection

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.queries.overview import DayCount, count_audiences, count_operations_by_day
from tests.support.queries import queries_of, sqlite_plan

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")
PUBLISH = OperationKind.PUBLISH_VERSION
SUNDAY = date(2026, 3, 29)
"""A day with 23 hours in Berlin, from 23:00 to 22:00 UTC."""


def starts(days: Iterable[date]) -> dict[date, datetime]:
    return {day: datetime(day.year, day.month, day.day, tzinfo=BERLIN) for day in days}


def operation(at: datetime, outcome: Outcome) -> None:
    key = f"{outcome}-{at:%d-%H-%M}"
    Operation.objects.create(operation_key=key, kind=PUBLISH, outcome=outcome, requested_at=at)


def test_a_day_spans_midnight_to_midnight_across_dst() -> None:
    for day, hour, minute in ((28, 22, 59), (28, 23, 0), (29, 21, 59), (29, 22, 0)):
        operation(datetime(2026, 3, day, hour, minute, tzinfo=UTC), Outcome.ACCEPTED)
    days = [SUNDAY + timedelta(days=n) for n in (-1, 0, 1)]
    counts = count_operations_by_day(starts(days))
    assert {(count.day, count.count) for count in counts} == {*zip(days, (1, 2, 1), strict=True)}


def test_of_earlier_operations_only_unknown_ones_are_counted() -> None:
    long_ago = datetime(2026, 2, 1, tzinfo=UTC)
    for outcome in Outcome:
        operation(long_ago, outcome)
    sending = Operation.objects.get(outcome=Outcome.SENDING)
    Attempt.objects.create(operation=sending, number=1, sent_at=long_ago)
    counts = [count for count in count_operations_by_day(starts([SUNDAY])) if count.count]
    # The interrupted operation is unknown, too.
    assert counts == [DayCount(None, PUBLISH, Outcome.UNKNOWN, 2)]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's own plan")
def test_the_publish_of_a_version_is_found_by_ids() -> None:
    vera = User.objects.create(username="vera")
    queries = queries_of(lambda: count_audiences(datetime(2026, 2, 1, tzinfo=UTC), vera))
    [counts] = [sql for sql in queries if "went_live" in sql]
    searches = [step for step in sqlite_plan(counts) if "ledger_oper" in step]
    assert searches
    assert all("version_id=?" in step for step in searches)
