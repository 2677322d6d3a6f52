"""What the demo's service has planned comes true without a wait."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

from dashboard.contract.dates import write_mark
from tests.browser.addresses import database_of
from tests.support.processes import Running

JUST_ASKED = """SELECT DISTINCT audience_id FROM embedded_api_version
  WHERE queued_at > :lately AND published_at > :now"""
DATES = ("processing_at", "published_at", "obsolete_at", "archived_at")


def go_live(server: Running) -> None:
    """Let what was published in the last minutes be live, as if it had been processed."""
    now = datetime.now(UTC)
    marks = {"now": write_mark(now), "lately": write_mark(now - timedelta(minutes=5))}
    with closing(sqlite3.connect(database_of(server), timeout=30)) as database, database:
        for (audience_id,) in database.execute(JUST_ASKED, marks).fetchall():
            for date in DATES:
                database.execute(
                    f"UPDATE embedded_api_version SET {date} = :now"  # of DATES
                    f" WHERE audience_id = :audience_id AND {date} > :now",
                    marks | {"audience_id": audience_id},
                )
