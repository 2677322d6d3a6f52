"""Pressroom uses the database's time, however wrong the machine's clock is."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.clock import correct_by, correction, measure, now, warning
from tests.support.clock import corrected_by, database_ahead
from tests.support.failing_database import losable_database

pytestmark = pytest.mark.django_db

on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite is on this machine"
)
SECOND = timedelta(seconds=1)


def test_the_time_is_corrected_without_a_query() -> None:
    with corrected_by(timedelta(seconds=40)), CaptureQueriesContext(connection) as queries:
        assert abs(now() - timezone.now() - timedelta(seconds=40)) < SECOND
    assert not queries


def test_a_database_on_this_machine_has_no_difference() -> None:
    with CaptureQueriesContext(connection) as queries:
        measure()
    assert correction() == timedelta()
    assert len(queries) == (connection.vendor == "postgresql")


@on_postgresql
@pytest.mark.parametrize("ahead_s", [40, -40])
def test_another_machine_s_clock_is_measured(
    ahead_s: int, caplog: pytest.LogCaptureFixture
) -> None:
    with database_ahead(ahead_s):
        measure()
        assert caplog.messages == [warning()] != [""]
        assert abs(correction() - timedelta(seconds=ahead_s)) < SECOND


@on_postgresql
def test_a_failed_measurement_leaves_the_last() -> None:
    with corrected_by(timedelta()), losable_database() as database:
        correct_by(timedelta(seconds=40))
        database.is_lost = True
        measure()
        assert correction() == timedelta(seconds=40)


@on_postgresql
def test_each_new_connection_reads_the_clock() -> None:
    def connect() -> None:
        connection.ensure_connection()
        connection.close()

    with corrected_by(timedelta(seconds=40)), ThreadPoolExecutor() as thread:
        thread.submit(connect).result()
        assert correction() < SECOND
