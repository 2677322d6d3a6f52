"""A release from the selection to the rollback, with forms only and a worker in between."""

import httpx
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.releases.models import Release, ReleaseState
from tests.support.clock import Clock
from tests.support.release_form import ReleaseForm
from tests.support.release_page import ReleasePage
from tests.support.release_service import PublishingAudiences, fails, responds, work


def reviewed(client: Client, service: PublishingAudiences, count: int) -> ReleasePage:
    """Select new audiences in their list, and press the button that reviews them."""
    form = ReleaseForm(client).review(service.add(count))
    return ReleasePage(client, form.release)


def published(page: ReleasePage, clock: Clock) -> ReleasePage:
    """Let a worker check a draft, press its button, and let the worker send it."""
    work(page.release, clock, minutes=1)
    page.decide("publish")
    work(page.release, clock, minutes=2)
    return page


def test_two_audiences_are_published_and_rolled_back(
    service: PublishingAudiences, as_publisher: Client, clock: Clock
) -> None:
    page = reviewed(as_publisher, service, 2)
    assert "Checking 0 of 2… Reload to update." in page.open().text
    published(page, clock)
    assert "2 of 2 went live" in page.open().text
    assert "Roll back all 2…" in page.text
    assert "Version 1 was live for" in page.open("roll-back").text
    page.post("roll-back", item=page.checked("item"), note="Wrong price")
    rollback = ReleasePage(as_publisher, Release.objects.get(rolls_back=page.release))
    assert page.location == rollback.url()
    assert rollback.state == ReleaseState.RUNNING
    work(rollback.release, clock, minutes=2)
    assert "2 of 2 went live" in rollback.open().text
    assert "Rolled back by Roll back: 2 versions" in page.open().text
    operations = Operation.objects.order_by("requested_at")
    titles = ["Publish version 2"] * 2 + ["Roll back to version 1"] * 2
    assert [operation.title for operation in operations] == titles
    assert [operation.rolled_back_number for operation in operations] == [None, None, 2, 2]
    assert [operation.note for operation in operations] == ["", "", "Wrong price", "Wrong price"]
    activity = as_publisher.get("/activity/export.csv").getvalue().decode()
    assert "Roll back to version" in activity
    assert [len(service.audiences_sent), len(set(service.operation_keys))] == [4, 4]


def test_a_version_that_failed_is_retried_and_goes_live(
    service: PublishingAudiences, as_publisher: Client, clock: Clock
) -> None:
    service.ways["aud_2"] = responds(409, "It is locked by an agent")
    page = published(reviewed(as_publisher, service, 3), clock)
    assert "2 of 3 went live" in page.open().text
    service.ways.clear()
    page.post("retry")
    retry = published(ReleasePage(as_publisher, Release.objects.latest("pk")), clock)
    assert "1 of 1 went live" in retry.open().text
    assert "Version 2 is live." in page.open().text
    assert service.audiences_sent == ["aud_1", "aud_2", "aud_3", "aud_2"]
    assert len(set(service.operation_keys)) == 4


def test_a_later_check_settles_the_unknown_item(
    service: PublishingAudiences, as_publisher: Client, clock: Clock
) -> None:
    service.way = fails(httpx.ReadTimeout, is_carried_out=False)
    page = published(reviewed(as_publisher, service, 1), clock)
    assert "Check now" in page.open().text
    [item] = page.items
    service.carry_out((item.page_id, item.audience_id), item.version_id)
    as_publisher.post(f"/activity/{item.operation_key}/check/")
    work(page.release, clock, minutes=1)
    assert "1 of 1 went live" in page.open().text
    assert "Check now" not in page.text
