"""A worker crawls by itself: once, only one worker at a time, and a killed crawl is continued."""

from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dashboard.clock import CLAIM
from dashboard.ledger.crawls import schedule_first_crawl
from dashboard.ledger.models import AudienceRecord, Crawl
from dashboard.service.crawl_task import run_crawl
from tests.service.pages_to_crawl import audience_json, page_json
from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import Answer, FakeService
from tests.support.html import response_text
from tests.support.publishing_service import Killed

pytestmark = pytest.mark.django_db

PAGES, PART = 6, 2


@pytest.fixture
def service(fake_service: FakeService, settings: Any) -> FakeService:
    """A service with six unread pages, listed two at a time."""
    settings.CRAWL_RATE = 1_000
    fake_service.answer = usual
    schedule_first_crawl(timezone.now())
    return fake_service


def usual(request: httpx.Request) -> httpx.Response:
    *_, page_id, last = request.url.path.split("/")
    if last == "audiences":
        return httpx.Response(200, json=wire.envelope(audience_json(int(page_id[5:]))))
    first = int(request.url.params.get("cursor", "0"))
    end = min(first + PART, PAGES)
    rest = {"hasMore": True, "nextCursor": str(end)} if end < PAGES else {}
    pages = [page_json(number) | {"audiencesCount": 1} for number in range(first, end)]
    return httpx.Response(200, json=wire.envelope(*pages, totalCount=PAGES, **rest))


def at(path: str, act: Callable[[], Any]) -> Answer:
    """Call `act` at the first read of this path; respond with its result, or as usual."""
    acted = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith(path) and not acted:
            acted.append(path)
            return act() or usual(request)
        return usual(request)

    return answer


def read_since(service: FakeService, since: int = 0) -> list[str]:
    """Return what was read since request `since`: pages by id, and parts of the list by cursor."""
    return [
        request.url.path.split("/")[3]
        if request.url.path.endswith("/audiences")
        else request.url.params.get("cursor", "")
        for request in service.sent[since:]
    ]


def work(worker_id: str = "one") -> None:
    run_crawl(worker_id, Event())


def make_due(**row: Any) -> None:
    Crawl.objects.update(wake_at=timezone.now(), **row)


def test_lists_are_complete_once_a_worker_has_read_everything(
    service: FakeService, as_viewer: Client
) -> None:
    as_viewer.get("/pages/?q=page")
    work()
    crawl = Crawl.objects.get()
    assert (crawl.state, crawl.pages, crawl.audiences, crawl.calls) == ("finished", 6, 6, 9)
    assert "6 audiences" in response_text(as_viewer.get("/audiences/"))
    for path in ("/pages/?q=page", "/audiences/", "/"):
        assert "Load the rest" not in as_viewer.get(path).text


def test_nothing_is_read_again_within_the_hour(service: FakeService) -> None:
    work()
    count = len(service.sent)
    work()
    assert len(service.sent) == count
    assert Crawl.objects.get().wake_at > timezone.now() + timedelta(minutes=59)
    make_due()
    work()
    assert len(service.sent) == 2 * count


def test_two_workers_never_crawl_at_once(service: FakeService) -> None:
    service.answer = at("page_3/audiences", lambda: work("two"))
    work()
    assert len(service.sent) == len(set(read_since(service))) == 9


def kill() -> None:
    raise Killed


def test_another_worker_continues_after_a_kill(service: FakeService) -> None:
    service.answer = at("page_3/audiences", kill)
    with pytest.raises(Killed):
        work()
    work("two")
    assert Crawl.objects.get().worker_id == "one", "its claim still holds"
    count = len(service.sent)
    make_due()
    work("two")
    assert read_since(service, count) == ["2", "page_2", "page_3", "4", "page_4", "page_5"]
    crawl = Crawl.objects.get()
    assert (crawl.state, crawl.pages, crawl.audiences) == ("finished", 6, 6)
    assert count < crawl.calls <= len(service.sent)


def test_a_killed_crawl_is_not_shown_in_progress(
    service: FakeService, as_viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    service.answer = at("page_3/audiences", kill)
    with pytest.raises(Killed):
        work()
    assert "loading the rest" in response_text(as_viewer.get("/audiences/"))
    clock.advance(CLAIM.total_seconds())
    assert "loading the rest" not in response_text(as_viewer.get("/audiences/"))


def test_a_worker_that_is_stopped_hands_the_crawl_on(service: FakeService) -> None:
    stop = Event()

    def stopping() -> None:
        stop.set()

    service.answer = at("page_1/audiences", stopping)
    run_crawl("one", stop)
    assert AudienceRecord.objects.count() == 2
    work("two")
    assert Crawl.objects.get().state == "finished"


def test_a_failed_crawl_says_why_and_is_continued(service: FakeService, as_viewer: Client) -> None:
    as_viewer.get("/pages/")
    service.answer = lambda request: httpx.Response(403, json={"detail": "Wrong key"})
    work()
    crawl = Crawl.objects.get()
    assert crawl.failure == "The list of pages: The service returned 403: Wrong key."
    assert "couldn’t load the rest" in response_text(as_viewer.get("/pages/?q=page"))
    service.answer = usual
    make_due()
    work()
    crawl = Crawl.objects.get()
    assert (crawl.state, crawl.failure) == ("finished", "")


def test_a_cursor_that_has_expired_starts_the_crawl_over(service: FakeService) -> None:
    make_due(state="failed", checkpoint={"cursor": "gone", "pages": 4, "audiences": 4})
    service.answer = lambda request: (
        httpx.Response(400, json={"detail": "Unknown cursor"})
        if request.url.params.get("cursor") == "gone"
        else usual(request)
    )
    work()
    crawl = Crawl.objects.get()
    assert (crawl.state, crawl.pages) == ("finished", 6)


def test_the_crawl_pauses_while_the_service_does_not_respond(
    service: FakeService, as_viewer: Client
) -> None:
    as_viewer.get("/pages/")
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/audiences"):
            return usual(request)
        seen.append(request)
        raise httpx.ConnectError("refused", request=request)

    service.answer = answer
    stop = StoppedInPause(lambda: response_text(as_viewer.get("/audiences/")))
    run_crawl("one", stop)
    # The circuit opens after three calls without a response. Nothing is sent until it closes.
    assert len(seen) == 3
    assert stop.pause_s == pytest.approx(5, abs=0.5)
    assert "loading the rest: 0 of 6 pages read. Paused: Request not sent:" in stop.page


class StoppedInPause(Event):
    """A stop event that is set as soon as a crawl waits longer than its rate requires."""

    def __init__(self, look: Callable[[], str]) -> None:
        super().__init__()
        self.look, self.page, self.pause_s = look, "", 0.0

    def wait(self, timeout: float | None = None) -> bool:
        if timeout and timeout > 1:
            self.page, self.pause_s = self.look(), timeout
            self.set()
        return super().wait(timeout)


def test_the_command_takes_the_crawl_over_from_a_worker(service: FakeService) -> None:
    service.answer = at("page_3/audiences", lambda: call_command("crawl", "--rate=1000"))
    work()
    crawl = Crawl.objects.get()
    assert (crawl.state, crawl.worker_id, crawl.pages) == ("finished", "", 6)
