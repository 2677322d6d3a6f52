"""Make the demo's service carry out at once what it has planned."""

from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page

from dashboard.contract.wire import write_mark
from tests.browser.addresses import execute
from tests.browser.conftest import until
from tests.support.processes import Running

GO_LIVE = """UPDATE embedded_api_version
  SET processing_at = min(processing_at, :now), published_at = min(published_at, :now),
    obsolete_at = min(obsolete_at, :now), archived_at = min(archived_at, :now)
  WHERE audience_id IN (SELECT audience_id FROM embedded_api_version
    WHERE queued_at > :lately AND published_at > :now)"""
RUNNING = "SELECT count(*) FROM releases_release WHERE state = 'running'"
PATIENCE_OF_A_RELEASE_S = 120
"""Long, because the worker reads the state of what it sent ever less often."""


def go_live(server: Running) -> None:
    """Make versions published in the last five minutes live, as if they had been processed."""
    now = datetime.now(UTC)
    lately = write_mark(now - timedelta(minutes=5))
    execute(server, GO_LIVE, now=write_mark(now), lately=lately)


def see_releases_end(page: Page, server: Running) -> None:
    """Make all that releases send live at once, until no release is running."""

    def have_ended() -> bool:
        go_live(server)
        [[count]] = execute(server, RUNNING)
        # The worker reads the service only every few seconds.
        page.wait_for_timeout(200)
        return count == 0

    until(page, have_ended, patience_s=PATIENCE_OF_A_RELEASE_S)
