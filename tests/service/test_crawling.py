"""`manage.py crawl` reads everything once; a failure is reported and stops nothing else."""

import time
from io import StringIO

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from dashboard.ledger.models import AudienceRecord, PageRecord, VersionRecord
from tests.support import wire
from tests.support.fake_service import Answer, FakeService

pytestmark = pytest.mark.django_db


def page_json(number: int) -> dict[str, object]:
    return wire.page(pageId=f"page_{number}", name=f"Page {number}")


def audience_json(number: int) -> dict[str, object]:
    return wire.audience(audienceId=f"aud_{number}", pageId=f"page_{number}")


def paged_service(parts: list[dict[str, object]], broken: tuple[str, ...] = ()) -> Answer:
    """Return an answering service: parts of the list of pages by cursor `1`, `2`, …"""

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
    """Crawl, and return what was written to standard output and to standard error."""
    out, err = StringIO(), StringIO()
    call_command("crawl", rate=1000, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def two_parts() -> list[dict[str, object]]:
    first = wire.envelope(page_json(0), page_json(1), hasMore=True, totalCount=3, nextCursor="1")
    return [first, wire.envelope(page_json(2), totalCount=3)]


def test_every_part_of_the_list_and_every_page_is_read_once(fake_service: FakeService) -> None:
    fake_service.answer = paged_service(two_parts())
    said, _ = crawl()
    paths = [request.url.path for request in fake_service.sent]
    assert said == "Loaded 3 pages and 3 audiences.\n"
    assert paths.count("/v0/pages") == 2
    assert len(paths) == len(set(paths)) + 1
    assert PageRecord.objects.count() == AudienceRecord.objects.count() == 3
    assert VersionRecord.objects.count() == 6


def test_a_page_that_fails_stops_no_other_and_is_named(fake_service: FakeService) -> None:
    fake_service.answer = paged_service(two_parts(), broken=("page_1",))
    err = StringIO()
    with pytest.raises(CommandError, match=r"Loaded 3 pages and 2 audiences\. Problems.*: 1\."):
        call_command("crawl", rate=1000, stderr=err)
    assert "The audiences of Page 1 (page_1): The service returned 500: Out of paper" in (
        err.getvalue()
    )
    assert AudienceRecord.objects.filter(page_id="page_2").exists()


def test_a_crawl_stops_after_five_failures_in_a_row(
    fake_service: FakeService,
) -> None:
    pages = [page_json(number) for number in range(20)]
    names = tuple(f"page_{number}" for number in range(20))
    fake_service.answer = paged_service([wire.envelope(*pages)], broken=names)
    with pytest.raises(CommandError):
        crawl()
    assert len(fake_service.sent) == 1 + 5


def test_what_was_known_already_does_not_pass_for_read(fake_service: FakeService) -> None:
    fake_service.answer = paged_service(two_parts())
    crawl()
    fake_service.answer = paged_service(two_parts(), broken=("page_0", "page_1", "page_2"))
    with pytest.raises(CommandError, match="Loaded 3 pages and 0 audiences"):
        crawl()


def test_a_list_that_gives_the_same_cursor_again_ends_the_crawl(fake_service: FakeService) -> None:
    endless = wire.envelope(page_json(0), hasMore=True, totalCount=9, nextCursor="0")
    fake_service.answer = paged_service([endless])
    with pytest.raises(CommandError):
        crawl()
    assert sum(request.url.path == "/v0/pages" for request in fake_service.sent) == 2


def test_a_list_that_has_more_but_no_cursor_is_a_problem(fake_service: FakeService) -> None:
    fake_service.answer = paged_service([wire.envelope(page_json(0), hasMore=True, totalCount=9)])
    with pytest.raises(CommandError, match=r"Problems \(listed above\): 1"):
        crawl()


def test_audiences_beyond_the_list_are_reported_and_are_no_failure(
    fake_service: FakeService,
) -> None:
    cut = wire.envelope(audience_json(0), hasMore=True, totalCount=120)
    pages = wire.envelope(page_json(0))
    fake_service.answer = lambda request: httpx.Response(
        200, json=pages if request.url.path == "/v0/pages" else cut
    )
    out, err = crawl()
    assert out == "Loaded 1 pages and 1 audiences.\n"
    assert "the API returned only 1 of 120" in err


def test_an_unreadable_page_is_named_by_its_path(fake_service: FakeService) -> None:
    fake_service.answer = paged_service([wire.envelope(wire.page(name=5), page_json(0))])
    err = StringIO()
    with pytest.raises(CommandError):
        call_command("crawl", rate=1000, stderr=err)
    assert "items.0.name" in err.getvalue()
    assert PageRecord.objects.get().page_id == "page_0"


def test_the_rate_of_calls_is_limited(fake_service: FakeService) -> None:
    fake_service.answer = paged_service(two_parts())
    started = time.monotonic()
    call_command("crawl", rate=20, stdout=StringIO())
    assert time.monotonic() - started >= (len(fake_service.sent) - 1) / 20


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
