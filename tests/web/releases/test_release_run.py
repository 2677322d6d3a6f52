"""A release from the selection to the rollback, with forms only and a worker in between."""

import httpx
import pytest
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.releases.models import Release, ReleaseState
from tests.support.clock import Clock, stopped
from tests.support.fake_service import FakeService
from tests.support.html import elements, page_text, text
from tests.support.release_page import ReleasePage
from tests.support.release_service import PublishingAudiences, fails, responds, work
from tests.web.releases.conftest import url


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that the test advances."""
    return stopped(monkeypatch)


@pytest.fixture
def publishing(db: None, fake_service: FakeService) -> PublishingAudiences:
    """A service where a published version is live at once."""
    fake_service.answer = PublishingAudiences()
    return fake_service.answer


def test_two_audiences_are_published_and_rolled_back(
    publishing: PublishingAudiences, as_publisher: Client, clock: Clock
) -> None:
    keys = ["/".join(key) for key in publishing.add(2)]
    as_publisher.post("/releases/new/", {"audience": keys, "then": "review"})
    release = Release.objects.get()
    assert "Checking 0 of 2… Reload to update." in page_text(as_publisher, url(release))
    work(release, clock, minutes=1)
    ReleasePage(as_publisher, release).decide("publish")
    work(release, clock, minutes=2)
    assert "2 of 2 went live" in page_text(as_publisher, url(release))
    assert "Roll back all 2…" in page_text(as_publisher, url(release))
    dialog = as_publisher.get(url(release, "roll-back")).text
    items = [
        field.attributes["value"]
        for field in elements(dialog, "input")
        if field.attributes.get("name") == "item" and "checked" in field.attributes
    ]
    assert "Version 1 was live for" in text(dialog)
    answer = as_publisher.post(url(release, "roll-back"), {"item": items, "note": "Wrong price"})
    rollback = Release.objects.get(rolls_back=release)
    assert answer.url == url(rollback)
    assert rollback.state == ReleaseState.RUNNING
    work(rollback, clock, minutes=2)
    assert "2 of 2 went live" in page_text(as_publisher, url(rollback))
    assert "Rolled back by Roll back: 2 versions" in page_text(as_publisher, url(release))
    operations = Operation.objects.order_by("requested_at")
    titles = ["Publish version 2"] * 2 + ["Roll back to version 1"] * 2
    assert [operation.title for operation in operations] == titles
    assert [operation.rolled_back_number for operation in operations] == [None, None, 2, 2]
    assert [operation.note for operation in operations] == ["", "", "Wrong price", "Wrong price"]
    activity = as_publisher.get("/activity/export.csv").getvalue().decode()
    assert "Roll back to version" in activity
    assert [len(publishing.audiences_sent), len(set(publishing.operation_keys))] == [4, 4]


def test_a_version_that_failed_is_retried_and_goes_live(
    publishing: PublishingAudiences, as_publisher: Client, clock: Clock
) -> None:
    keys = ["/".join(key) for key in publishing.add(3)]
    publishing.ways["aud_2"] = responds(409, "It is locked by an agent")
    as_publisher.post("/releases/new/", {"audience": keys, "then": "review"})
    release = Release.objects.get()
    work(release, clock, minutes=1)
    ReleasePage(as_publisher, release).decide("publish")
    work(release, clock, minutes=2)
    assert "2 of 3 went live" in page_text(as_publisher, url(release))
    publishing.ways.clear()
    as_publisher.post(url(release, "retry"))
    retry = Release.objects.latest("pk")
    work(retry, clock, minutes=1)
    ReleasePage(as_publisher, retry).decide("publish")
    work(retry, clock, minutes=2)
    assert "1 of 1 went live" in page_text(as_publisher, url(retry))
    assert "Version 2 is live." in page_text(as_publisher, url(release))
    assert publishing.audiences_sent == ["aud_1", "aud_2", "aud_3", "aud_2"]
    assert len(set(publishing.operation_keys)) == 4


def test_a_later_check_settles_the_unknown_item(
    publishing: PublishingAudiences, as_publisher: Client, clock: Clock
) -> None:
    keys = ["/".join(key) for key in publishing.add(1)]
    publishing.way = fails(httpx.ReadTimeout, is_carried_out=False)
    as_publisher.post("/releases/new/", {"audience": keys, "then": "review"})
    release = Release.objects.get()
    work(release, clock, minutes=1)
    ReleasePage(as_publisher, release).decide("publish")
    work(release, clock, minutes=2)
    page = page_text(as_publisher, url(release))
    assert "Check now" in page
    item = release.items.get()
    publishing.carry_out((item.page_id, item.audience_id), item.version_id)
    as_publisher.post(f"/activity/{item.operation_key}/check/")
    work(release, clock, minutes=1)
    page = page_text(as_publisher, url(release))
    assert "1 of 1 went live" in page
    assert "Check now" not in page
