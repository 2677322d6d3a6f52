"""Every count of audiences in a state is the same everywhere."""

import csv
import io
import re
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord, Publication
from dashboard.ledger.models.objects import LIVE, NOTHING_LIVE, REJECTED_AS, LiveStatus
from dashboard.ledger.recording import set_rejected
from tests.support.audience_list import html_of, names_in
from tests.support.clock import stopped
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.release_service import PublishingAudiences
from tests.support.seeding import seed_view

PAGES = ("page_1", "page_2")
FLAGS = {
    LIVE: LIVE,
    LiveStatus.NOT_LIVE: "not-live",
    LiveStatus.CHANGED: "changed",
    LiveStatus.ROLLED_BACK: "rolled-back",
    LiveStatus.IN_PROGRESS: "in-flight",
}
"""The page flag for each live status."""

AS_LATEST: dict[LiveStatus, dict[str, str]] = {
    LiveStatus.CANCELED: {"status": "cancelled"},
    LiveStatus.IN_PROGRESS: {"status": "queued", "queuedAt": "2026-02-01T10:00:38Z"},
}


@pytest.fixture
def service(
    fake_service: FakeService, db: None, monkeypatch: pytest.MonkeyPatch
) -> PublishingAudiences:
    """Two pages with audiences in every state. The nth state has n audiences per page."""
    service, clock = PublishingAudiences(is_fast=False), stopped(monkeypatch)
    fake_service.answer = service
    for page_id in PAGES:
        for number, status in enumerate(LiveStatus, start=1):
            for key in service.add(number, page_id=page_id):
                latest = service.version(key, 2)
                latest |= AS_LATEST.get(status, {})
                live = None if status in NOTHING_LIVE else service.live(key, 1)
                service.change(key, latestVersion=latest, publishedVersion=live)
                if status in (LiveStatus.UP_TO_DATE, LiveStatus.ROLLED_BACK):
                    clock.advance(60)
                    service.record()
                    service.go_live(key, latest["versionId"])
                if status == LiveStatus.ROLLED_BACK:
                    clock.advance(60)
                    service.record()
                    service.go_live(key, f"ver_{key[1]}_1")
        service.pages[page_id]["audiencesCount"] = sum(range(1, len(LiveStatus) + 1))
    clock.advance(60)
    service.record()
    for page_id in PAGES:
        _reject_some(page_id)
    cache.clear()
    return service


def _reject_some(page_id: str) -> None:
    """Reject the last n audiences of a page for each state of rejected ones, the nth."""
    for before, rejected in REJECTED_AS.items():
        number = 1 + [*LiveStatus].index(rejected)
        records = AudienceRecord.objects.filter(page_id=page_id, live_status=before)
        for record in records.order_by("-pk")[:number]:
            set_rejected(page_id, record.audience_id, record.latest_version_id, is_rejected=True)


def expected() -> dict[str, int]:
    """Return the expected number of audiences by live status; one filter is of both rejected."""
    counts = {str(status): number * len(PAGES) for number, status in enumerate(LiveStatus, start=1)}
    counts[LIVE] = sum(count for status, count in counts.items() if status not in NOTHING_LIVE)
    counts[LiveStatus.REJECTED] += counts.pop(LiveStatus.REJECTED_FIRST)
    return counts


def exported(client: Client, query: str) -> list[dict[str, str]]:
    response = client.get(f"/audiences/export.csv?{query}")
    content = b"".join(response).decode("utf-8-sig")  # type: ignore[arg-type]
    return list(csv.DictReader(io.StringIO(content)))


def count_beside(html: str, option: str) -> int:
    """Return the number beside an option of a filter."""
    match = re.search(rf'id="n-live-{option}"[^>]*>\s*([\d,]+)', html)
    assert match, option
    return int(match[1])


def test_every_number_of_the_same_set_is_the_same(
    service: PublishingAudiences, as_viewer: Client, vera: User, subtests: pytest.Subtests
) -> None:
    for pk, status in enumerate(expected(), start=1):
        seed_view(vera, pk, name=f"View of {status}", query=f"live={status}")
    html_of(as_viewer, "/pages/")  # Afterwards the ledger has the whole list.
    overview, whole = text(html_of(as_viewer, "/")), exported(as_viewer, "")
    total = sum(expected().values()) - expected()[LIVE]
    assert f"{total} audiences" in overview or f"Audiences {total}" in overview
    assert f"{expected()[LIVE]} live" in overview
    assert Publication.objects.filter(ended_at=None).count() == expected()[LIVE]
    assert len([row for row in whole if row["Live version"]]) == expected()[LIVE]
    labels = Counter(row["Live status"] for row in whole)
    for status, count in expected().items():
        with subtests.test(status=status):
            html = html_of(as_viewer, f"/audiences/?live={status}&show=100")
            assert len(names_in(html)) == count
            assert count_beside(html, status) == count
            assert re.search(rf"View of {status} {count}(?!\d)", overview)
            rows = exported(as_viewer, f"live={status}")
            assert len(rows) == count
            if status != LIVE:
                assert labels[rows[0]["Live status"]] == count
            if flag := FLAGS.get(status):
                tables = [
                    html_of(as_viewer, f"/pages/{page}/?flag={flag}&show=100") for page in PAGES
                ]
                assert sum(len(names_in(table)) for table in tables) == count
                assert all(f"({count // len(PAGES)})" in text(table) for table in tables)
                pages = text(html_of(as_viewer, f"/pages/?flag={flag}"))
                assert f"{len(PAGES)} of {len(PAGES)} pages" in pages


def test_what_went_live_today_is_the_same_number_everywhere(
    service: PublishingAudiences, as_viewer: Client
) -> None:
    went_live = expected()[LiveStatus.UP_TO_DATE] + 2 * expected()[LiveStatus.ROLLED_BACK]
    overview = text(html_of(as_viewer, "/"))
    assert f"Published today {went_live} 0 yesterday" in overview
    assert f"{went_live} live, 0 failed, 0 outcome unknown" in overview
    outside = html_of(as_viewer, f"/activity/outside/?since={timezone.localdate()}&show=100")
    assert outside.count("No operation on record") == went_live
    exported_rows = b"".join(as_viewer.get("/activity/outside/export.csv"))  # type: ignore[arg-type]
    assert len(exported_rows.decode("utf-8-sig").splitlines()) == 1 + went_live


def test_a_live_version_has_a_publication(service: PublishingAudiences) -> None:
    records = AudienceRecord.objects.exclude(live_version_id="")
    live = Publication.objects.filter(ended_at=None)
    columns = ("page_id", "audience_id", "version_id")
    versions = records.values_list("page_id", "audience_id", "live_version_id")
    assert {*versions} == {*live.values_list(*columns)}
