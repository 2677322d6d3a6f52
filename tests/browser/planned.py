"""What the demo's service has planned comes true without a wait."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page

from dashboard.contract.dates import write_mark
from tests.browser.addresses import database_of
from tests.browser.conftest import until
from tests.support.processes import Running

JUST_ASKED = """SELECT DISTINCT audience_id FROM embedded_api_version
  WHERE queued_at > :lately AND published_at > :now"""
RUNNING = "SELECT count(*) FROM releases_release WHERE state = 'running'"
PATIENCE_OF_A_RELEASE_S = 120
"""Its worker reads what it sent ever less often."""
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


def see_releases_end(page: Page, server: Running) -> None:
    """Let all that releases send be live at once, until none is sending any more."""

    def have_ended() -> bool:
        go_live(server)
        with closing(sqlite3.connect(database_of(server), timeout=30)) as database:
            [count] = database.execute(RUNNING).fetchone()
        # Their worker reads the service every few seconds: to ask more often would only cost.
        page.wait_for_timeout(200)
        return count == 0

    until(page, have_ended, patience_s=PATIENCE_OF_A_RELEASE_S)
