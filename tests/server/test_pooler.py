"""Everything works behind PgBouncer in transaction mode, as with direct connections."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx

from tests.support.dashboards import hidden, over_http
from tests.support.pooler import pooled_database
from tests.support.publishing_service import PublishingService
from tests.support.worker_processes import WorkerDashboard

ROWS = 1_200
FILL = f"""
from datetime import timedelta
from django.utils import timezone
from dashboard.ledger.models import Operation
from dashboard.releases.models import Release
from tests.support import wire
from tests.support.seeding import seed_audiences, seed_pages
now, numbers = timezone.now(), range({ROWS})
seed_pages(*(wire.page(pageId=f"page_{{n}}", audiencesCount=0) for n in numbers))
seed_audiences(*(wire.audience(audienceId=f"aud_{{n}}") for n in numbers))
Operation.objects.bulk_create(
    Operation(operation_key=f"key_{{n}}", kind="create_page", outcome="accepted", requested_at=now)
    for n in numbers
)
Release.objects.bulk_create(Release(name=f"Release {{n}}", created_at=now) for n in numbers)
"""
TIMES = 4
EXPORTS = ("/pages/export.csv", "/audiences/export.csv", "/activity/export.csv")


def test_exports_and_searches_are_whole_behind_a_pooler(tmp_path: Path) -> None:
    with pooled_database(tmp_path) as (database, pooler), over_http(PublishingService()) as service:
        dashboard = WorkerDashboard(tmp_path, service, database_url=database)
        dashboard.prepare()
        dashboard.env["DATABASE_URL"] = pooler
        assert dashboard.run(FILL)[0] == 0
        with dashboard.started(threads=16) as server, closing(log_in(server.url)) as browser:

            def get(path: str) -> tuple[int, int]:
                response = browser.get(path)
                return response.status_code, response.text.count("\n")

            with ThreadPoolExecutor(8) as people:
                paths = [*EXPORTS * TIMES, *["/releases/?q=release"] * TIMES]
                responses = list(people.map(get, paths))
    exports, searches = responses[: len(EXPORTS) * TIMES], responses[len(EXPORTS) * TIMES :]
    assert {lines for _, lines in exports} == {ROWS + 1}
    assert {status for status, _ in searches} == {200}


def log_in(url: str) -> httpx.Client:
    browser = httpx.Client(base_url=url, headers={"Referer": f"{url}/"}, timeout=60)
    token = hidden(browser.get("/accounts/login/"), "csrfmiddlewaretoken")
    form = {"username": "root", "password": "root", "csrfmiddlewaretoken": token}
    assert browser.post("/accounts/login/", data=form).status_code == 302
    return browser
