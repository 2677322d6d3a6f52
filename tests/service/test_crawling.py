"""`manage.py crawl` reads everything once. A failure is reported and stops nothing else."""

from io import StringIO
from threading import Barrier
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from dashboard.ledger.feed import add
from dashboard.ledger.models import (
    AudienceRecord,
    Crawl,
    FeedEntry,
    FeedKind,
    PageRecord,
    VersionRecord,
)
from dashboard.service.client import close_publishing_client
from dashboard.service.crawling import Crawler
from tests.service.pages_to_crawl import audience_json, page_json
from tests.support import wire
from tests.support.clock import Clock, ClockedStop
from tests.support.fake_service import Answer, FakeService
from tests.support.feed import facts, poll_all
from tests.support.interleaving import before_response, held_at
from tests.support.many_audiences import ManyAudiences

pytestmark = pytest.mark.django_db


def paged_service(parts: list[dict[str, object]], broken: tuple[str, ...] = ()) -> Answer:
    """Return a service with a list of pages in parts, which have the cursors `1`, `2`, …"""

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path == "/v0/pages":
            return httpx.Response(200, json=parts[int(request.url.params.get("cursor", "0"))])
        page_id = path.split("/")[3]
        if page_id in broken:
            return httpx.Response(500, json={"detail": "Out of paper"})
        return httpx.Response(200, json=wire.envelope(audience_json(int(page_id.split("_")[1]))))

    return answer


def crawl(**options: object) -> tuple[str, str]:
    """Crawl; return the standard output and the standard error."""
    out, err = StringIO(), StringIO()
    call_command("crawl", rate=1000, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def failing_crawl(match: str | None = None) -> str:
    """Run a crawl that fails; return the standard error."""
    err = StringIO()
    with pytest.raises(CommandError, match=match):
        call_command("crawl", rate=1000, stderr=err)
    return err.getvalue()


def two_parts() -> list[dict[str, object]]:
    first = wire.envelope(page_json(0), page_json(1), hasMore=True, totalCount=3, nextCursor="1")
    return [first, wire.envelope(page_json(2), totalCount=3)]


def test_every_page_is_read_once(fake_service: FakeService) -> None:
    fake_service.answer = paged_service(two_parts())
    message, _ = crawl()
    paths = [request.url.path for request in fake_service.sent]
    assert message.startswith("Loaded 3 pages and 3 audiences.")
    assert paths.count("/v0/pages") == 2
    assert len(paths) == len(set(paths)) + 1
    assert PageRecord.objects.count() == AudienceRecord.objects.count() == 3
    assert VersionRecord.objects.count() == 6


def test_a_failing_page_is_named_and_stops_no_other(fake_service: FakeService) -> None:
    fake_service.answer = paged_service(two_parts(), broken=("page_1",))
    err = failing_crawl(r"Loaded 3 pages and 2 audiences\. Problems.*: 1\.")
    assert "The audiences of Page 1 (page_1): The service returned 500: Out of paper" in err
    assert AudienceRecord.objects.filter(page_id="page_2").exists()


def test_a_crawl_stops_after_five_failures_in_a_row(fake_service: FakeService) -> None:
    pages = [page_json(number) for number in range(20)]
    names = tuple(f"page_{number}" for number in range(20))
    fake_service.answer = paged_service([wire.envelope(*pages)], broken=names)
    failing_crawl()
    assert len(fake_service.sent) == 1 + 5


def test_what_was_known_already_does_not_pass_for_read(fake_service: FakeService) -> None:
    fake_service.answer = paged_service(two_parts())
    crawl()
    fake_service.answer = paged_service(two_parts(), broken=("page_0", "page_1", "page_2"))
    failing_crawl("Loaded 3 pages and 0 audiences")


def test_a_repeated_cursor_ends_the_crawl(fake_service: FakeService) -> None:
    endless = wire.envelope(page_json(0), hasMore=True, totalCount=9, nextCursor="0")
    fake_service.answer = paged_service([endless])
    failing_crawl()
    assert sum(request.url.path == "/v0/pages" for request in fake_service.sent) == 2


def test_has_more_without_a_cursor_is_a_deviation(fake_service: FakeService) -> None:
    fake_service.answer = paged_service([wire.envelope(page_json(0), hasMore=True, totalCount=9)])
    failing_crawl(r"Problems \(listed above\): 1")


def test_audiences_beyond_the_list_are_no_failure(fake_service: FakeService) -> None:
    cut = wire.envelope(audience_json(0), hasMore=True, totalCount=120)
    pages = wire.envelope(page_json(0))
    fake_service.answer = lambda request: httpx.Response(
        200, json=pages if request.url.path == "/v0/pages" else cut
    )
    out, err = crawl()
    assert out.startswith("Loaded 1 pages and 1 audiences.")
    assert "the API returned only 1 of 120" in err


def test_an_unreadable_page_is_named_by_its_path(fake_service: FakeService) -> None:
    fake_service.answer = paged_service([wire.envelope(wire.page(name=5), page_json(0))])
    assert "items.0.name" in failing_crawl()
    assert PageRecord.objects.get().page_id == "page_0"


def test_the_rate_of_calls_is_limited_and_reported(fake_service: FakeService, clock: Clock) -> None:
    fake_service.answer = paged_service(two_parts())
    crawler = Crawler(Crawl(), rate=5, stop=ClockedStop(clock), save=lambda _: None)
    crawler.run()
    assert len(fake_service.sent) == 5
    assert clock.ahead_s == pytest.approx(4 / 5)
    assert crawler.crawl.speed.endswith("calls per second: the limit is 5.")


def test_a_page_with_an_unchanged_date_is_read_again(fake_service: FakeService) -> None:
    fake_service.answer = paged_service(two_parts())
    crawl()
    read = [request.url.path for request in fake_service.sent]
    fake_service.sent.clear()
    crawl()
    assert [request.url.path for request in fake_service.sent] == read


def test_calls_in_progress_follow_the_rate(settings: Any) -> None:
    service, together = ManyAudiences(), Barrier(4)
    for number in range(4):
        service.add(page_id=f"page_{number}")
    # Each call waits for three others, which would fail one after another.
    service.before = lambda: service.paths[-1] == "/v0/pages" or together.wait(timeout=60)
    settings.SERVICE_TRANSPORT = None
    with service.served() as load:
        settings.SERVICE_URL, settings.SERVICE_API_KEY = load.url, "key-of-the-service"
        out = StringIO()
        call_command("crawl", rate=4, stdout=out)
        close_publishing_client()
    assert out.getvalue().startswith("Loaded 4 pages and 4 audiences.")
    assert load.most == 4


def test_a_rate_limit_pauses_the_crawl(fake_service: FakeService) -> None:
    usual, refused = paged_service(two_parts()), []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("page_1/audiences") and not refused:
            refused.append(request)
            return httpx.Response(429, headers={"Retry-After": "0"})
        return usual(request)

    fake_service.answer = answer
    out, err = crawl()
    assert out.startswith("Loaded 3 pages and 3 audiences.")
    assert "the service's rate limit (429) paused the crawl 1 time" in out
    assert err == ""


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_slow_response_holds_back_no_changes(fake_service: FakeService) -> None:
    """On PostgreSQL a transaction open for that long would hold back the feed for everybody."""
    fake_service.answer = paged_service(two_parts())
    cursor = poll_all(None).cursor
    with held_at(before_response(fake_service, "/page_1/audiences"), crawl):
        changes = poll_all(cursor)
        assert ("audience", "page_0", "aud_0") in facts(changes.entries)
        add(FeedEntry(kind=FeedKind.RELEASE, object_id="7"))
        assert facts(poll_all(changes.cursor).entries) == [("release", "7")]


def test_a_slow_service_is_named_as_the_reason(fake_service: FakeService, clock: Clock) -> None:
    usual = paged_service(two_parts())

    def answer(request: httpx.Request) -> httpx.Response:
        clock.advance(0.25)
        return usual(request)

    fake_service.answer = answer
    out, _ = crawl()
    assert "calls per second: the service took 250 ms for each, one by one" in out


def test_a_service_without_a_response_is_tried_thrice(fake_service: FakeService) -> None:
    fake_service.fails(httpx.ConnectError)
    failing_crawl()
    assert len(fake_service.sent) == 3
    assert Crawl.objects.get().failure.startswith("The list of pages: ")


def test_a_large_first_crawl_updates_the_statistics(fake_service: FakeService) -> None:
    many = [wire.audience(audienceId=f"aud_{number}", pageId="page_0") for number in range(1_000)]
    pages = wire.envelope(page_json(0))
    fake_service.answer = lambda request: httpx.Response(
        200, json=pages if request.url.path == "/v0/pages" else wire.envelope(*many)
    )
    assert rows_by_statistics() == 0
    crawl()
    assert rows_by_statistics() == 1_000


def rows_by_statistics() -> int:
    """Return the number of audiences by the database's statistics."""
    table = AudienceRecord._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = %s", [table])
            return max(0, int(cursor.fetchone()[0]))
        cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'")
        if not cursor.fetchone():
            return 0
        cursor.execute("SELECT max(stat + 0) FROM sqlite_stat1 WHERE tbl = %s", [table])
        return int(cursor.fetchone()[0] or 0)


def test_a_quiet_crawl_without_problems_says_nothing(fake_service: FakeService) -> None:
    fake_service.answer = paged_service(two_parts())
    assert crawl(verbosity=0) == ("", "")


def test_a_crawl_that_is_interrupted_ends_in_a_sentence(fake_service: FakeService) -> None:
    def interrupt(request: httpx.Request) -> httpx.Response:
        raise KeyboardInterrupt

    fake_service.answer = interrupt
    with pytest.raises(CommandError, match="Stopped") as stopped:
        crawl()
    assert stopped.value.returncode == 130
