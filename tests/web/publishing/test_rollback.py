"""A rollback takes two presses, asks for no number, and says what visitors will see again."""

import json
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import Operation, Publication
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.releases.models import Release, ReleaseItem, ReleaseState
from dashboard.service.reading import read_audience
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.publishing_service import PublishingService, accepts, answers, now
from tests.web.approvals.conftest import new_rule

AUDIENCE = "/pages/page_1/audiences/aud_1/"
PUBLISH = f"{AUDIENCE}versions/ver_2/publish/"
ROLLBACK = f"{AUDIENCE}versions/ver_1/rollback/"
DIALOG = {"HX-Request": "true", "HX-Target": "dialogs"}
WITHIN = {"HX-Request": "true", "HX-Target": "publish"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(fake_service: FakeService) -> PublishingService:
    """A service at which version 2 has just replaced version 1."""
    fake_service.answer = service = PublishingService()
    read_audience("page_1", "aud_1")
    goes_live(service, service.latest)
    return service


def goes_live(service: PublishingService, version: dict[str, Any] | None) -> None:
    """Make a version live, and let Pressroom read it."""
    assert version is not None
    service.live = version | {"status": "published", "queuedAt": now(), "publishedAt": now()}
    if service.latest and service.latest["versionId"] == version["versionId"]:
        service.latest = service.live
    read_audience("page_1", "aud_1")


def fields(html: str) -> dict[str, str]:
    names = ("operation_key", "shown", "note")
    inputs = [e.attributes for e in elements(html, "input") if e.attributes.get("name") in names]
    return {e["name"]: e.get("value", "") for e in inputs}


def press(client: Client, url: str = ROLLBACK, **typed: str) -> Any:
    """Open the dialog and press its button."""
    page = client.get(url, headers=DIALOG).content.decode()
    if "emergency" not in typed:
        url = next(e.attributes["action"] for e in elements(page, "form"))
    return client.post(url, fields(page) | typed, headers=WITHIN)


def seen(answer: Any) -> str:
    return text(answer.content.decode())


def test_the_dialog_says_what_visitors_will_see_again(
    as_publisher: Client, service: PublishingService
) -> None:
    page = as_publisher.get(f"{ROLLBACK}?from=2", headers=DIALOG).content.decode()
    assert "Roll back to version 1" in text(page)
    assert "Visitors will see again: version 1" in text(page)
    assert "Runs 64 trucks." in text(page)
    assert "Version 2 goes off" in text(page)
    assert "is newer" not in text(page)
    assert "Type " not in text(page)
    [focused] = [e for e in elements(page) if "autofocus" in e.attributes]
    assert (focused.tag, focused.attributes["type"]) == ("button", "submit")


def test_a_version_names_its_scheduled_release(
    as_publisher: Client, service: PublishingService, paula: User
) -> None:
    assert "is scheduled for" not in seen(as_publisher.get(ROLLBACK, headers=DIALOG))
    due_at = timezone.now() + timedelta(hours=1)
    release = Release.objects.create(
        name="Prices",
        owner=paula,
        owner_name="paula",
        state=ReleaseState.SCHEDULED,
        due_at=due_at,
        created_at=due_at,
    )
    ids = {"page_id": "page_1", "audience_id": "aud_1", "version_id": "ver_3"}
    version = {"version_number": 3, "version_body": json.dumps(wire.version())}
    ReleaseItem.objects.create(release=release, position=1, **ids, **version)
    page = seen(as_publisher.get(ROLLBACK, headers=DIALOG))
    assert "Version 3 is scheduled for" in page
    assert "If you roll back now, it’s held there" in page
    assert "View release Prices" in page


def test_one_press_rolls_back_and_records_it(
    as_publisher: Client, service: PublishingService
) -> None:
    answer = press(as_publisher, note=" The 8% isn’t signed off. ")
    assert "Rolling back to version 1" in seen(answer)
    operation = Operation.objects.get()
    assert operation.title == "Roll back to version 1"
    assert (operation.rolled_back_id, operation.rolled_back_number) == ("ver_2", 2)
    assert (operation.note, operation.reason) == (
        "The 8% isn’t signed off.",
        PublicationReason.ROLLBACK,
    )
    assert len(service.keys) == 1


def test_a_live_rollback_says_how_long_the_other_was(
    as_publisher: Client, service: PublishingService
) -> None:
    press(as_publisher, note="Too early")
    goes_live(service, wire.live_version())
    operation = Operation.objects.get()
    page = seen(as_publisher.get(f"{ROLLBACK}progress/?operation={operation.operation_key}"))
    assert "Version 1 is live again" in page
    assert "Version 2 was live for" in page
    assert "no longer in “Unpublished changes”" in page
    assert "Reason, shown in the history: “Too early”" in page
    assert "Roll back to" not in page
    publication = Publication.objects.get(ended_at=None)
    assert (publication.actor_name, publication.note) == ("paula", "Too early")


def test_the_dialog_of_a_live_version_offers_next_steps(
    as_publisher: Client, as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = service = PublishingService()
    form = fields(as_publisher.get(PUBLISH, headers=DIALOG).content.decode())
    progress = as_publisher.post(PUBLISH, form, headers=WITHIN)
    assert "You can roll back to 1 once it’s live." in seen(progress)
    service.moves_on("published")
    url = f"{PUBLISH}progress/?operation={Operation.objects.get().operation_key}"
    poll = {"HX-Request": "true", "HX-Target": "progress"}
    answer = as_publisher.get(f"{url}&kind=progress", headers=poll)
    assert answer["HX-Retarget"] == "closest dialog"
    html = answer.content.decode()
    for words in ("Version 2 is live", "after you pressed Publish", "Open audience", "Close"):
        assert words in text(html)
    assert f'href="{ROLLBACK}?from=2"' in html
    assert "Roll back to 1" not in seen(as_viewer.get(url))


def test_what_was_rolled_back_is_not_offered_again(
    as_publisher: Client, service: PublishingService
) -> None:
    goes_live(service, wire.live_version())
    answer = as_publisher.get(ROLLBACK.replace("ver_1", "ver_2"), headers=DIALOG)
    assert answer.url == PUBLISH
    page = seen(as_publisher.get(answer.url))
    assert "Version 2 was rolled back" in page
    assert "Type 2 to publish" in page


def test_republishing_a_rolled_back_version_names_the_reason(
    as_publisher: Client, service: PublishingService
) -> None:
    press(as_publisher, note="The 8% isn’t signed off")
    goes_live(service, wire.live_version())
    page = as_publisher.get(PUBLISH).content.decode()
    assert "paula rolled back version 2" in text(page)
    assert ": The 8% isn’t signed off" in text(page)
    refused = as_publisher.post(PUBLISH, fields(page))
    assert "then type 2." in seen(refused)


def test_a_version_live_since_the_offer_is_named(
    as_publisher: Client, service: PublishingService
) -> None:
    goes_live(service, wire.version(versionId="ver_3", versionNumber=3))
    url = f"{ROLLBACK}?from=2"
    page = seen(as_publisher.get(url, headers=DIALOG))
    assert "Version 3 is live now, not version 2." in page
    assert "Version 3 goes off" in page
    assert "Rolling back to version 1" in seen(press(as_publisher, url))


def test_a_change_after_the_dialog_is_shown_first(
    as_publisher: Client, service: PublishingService
) -> None:
    form = fields(as_publisher.get(ROLLBACK, headers=DIALOG).content.decode())
    service.page = wire.page(status="archived")
    answer = as_publisher.post(ROLLBACK, form | {"note": "Kept"}, headers=WITHIN)
    assert answer.status_code == 422
    assert "This page is archived." in seen(answer)
    assert 'value="Kept"' in answer.content.decode()
    assert "Rolling back to version 1" in seen(press(as_publisher))


def test_what_is_live_already_disables_the_button(
    as_publisher: Client, service: PublishingService
) -> None:
    goes_live(service, wire.live_version())
    page = as_publisher.get(ROLLBACK, headers=DIALOG).content.decode()
    assert "Version 1 is already live." in text(page)
    assert "disabled for the reason above" in text(page)
    assert "Not rolled back, for the reason above." in seen(press(as_publisher))
    assert not service.keys


def test_without_the_service_nothing_is_sent(
    as_publisher: Client, service: PublishingService, fake_service: FakeService
) -> None:
    form = fields(as_publisher.get(ROLLBACK, headers=DIALOG).content.decode())
    fake_service.fails(httpx.ConnectError)
    page = as_publisher.get(ROLLBACK, headers=DIALOG).content.decode()
    assert "Couldn’t reach the service." in text(page)
    assert "disabled for the reason above" in text(page)
    as_publisher.post(ROLLBACK, form, headers=WITHIN)
    assert Operation.objects.get().outcome == Outcome.NOT_SENT


def test_a_rejected_rollback_shows_the_reason_and_retries(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = answers(409, "Locked by an agent.")
    answer = press(as_publisher)
    assert "Not rolled back. The service returned 409: Locked by an agent." in seen(answer)
    again = fields(answer.content.decode())
    service.way = accepts
    assert "Rolling back to version 1" in seen(as_publisher.post(ROLLBACK, again, headers=WITHIN))
    operation = Operation.objects.earliest("requested_at")
    elsewhere = as_publisher.get(
        f"{PUBLISH.replace('ver_2', 'ver_1')}progress/?operation={operation.operation_key}"
    )
    assert elsewhere.url.startswith(ROLLBACK)


def test_two_presses_of_one_dialog_are_one_rollback(
    as_publisher: Client, service: PublishingService
) -> None:
    form = fields(as_publisher.get(ROLLBACK, headers=DIALOG).content.decode())
    for _ in range(2):
        as_publisher.post(ROLLBACK, form)
    assert len(service.keys) == Operation.objects.count() == 1


def test_a_rollback_under_the_rule_requests_approval(
    as_publisher: Client, service: PublishingService
) -> None:
    new_rule(covers_rollbacks=True)
    page = as_publisher.get(ROLLBACK, headers=DIALOG).content.decode()
    assert "Request approval" in text(page)
    assert "Roll back to 1" not in text(page)
    answer = press(as_publisher, note="Wrong price")
    assert answer.status_code == 200
    request_page = seen(as_publisher.get(answer["HX-Redirect"]))
    assert "Roll back to version 1, Brightwater Foods" in request_page
    assert "Wrong price" in request_page
    assert not service.keys


def test_a_rule_that_was_turned_on_meanwhile_sends_nothing(
    as_publisher: Client, service: PublishingService
) -> None:
    form = fields(as_publisher.get(ROLLBACK, headers=DIALOG).content.decode())
    new_rule(covers_rollbacks=True)
    answer = as_publisher.post(ROLLBACK, form, headers=WITHIN)
    assert "It needs the approval of another person." in seen(answer)
    assert not service.keys


def test_an_administrator_rolls_back_in_an_emergency(service: PublishingService) -> None:
    new_rule(covers_rollbacks=True)
    chief = logged_in(person("chief", "Administrators", "Publishers"))
    answer = press(chief, emergency="on", emergency_reason="Wrong price")
    assert "Rolling back to version 1" in seen(answer)
    assert Operation.objects.get().emergency_reason == "Wrong price"


def test_a_reason_has_a_limit_and_is_not_lost(
    as_publisher: Client, service: PublishingService
) -> None:
    answer = press(as_publisher, note="x" * 2_001)
    assert "The reason has 2,001 characters. The maximum is 2,000." in seen(answer)
    assert "x" * 2_001 in answer.content.decode()
    assert "can’t be stored" in seen(press(as_publisher, note="a\0b"))


def test_who_may_not_publish_rolls_nothing_back(
    as_viewer: Client, service: PublishingService
) -> None:
    assert as_viewer.get(ROLLBACK).status_code == 403
    assert as_viewer.post(ROLLBACK).status_code == 403
    assert as_viewer.post(f"{ROLLBACK}request/").status_code == 403


def test_it_works_without_scripts(as_publisher: Client, service: PublishingService) -> None:
    form = fields(as_publisher.get(ROLLBACK).content.decode())
    answer = as_publisher.post(ROLLBACK, form, follow=True)
    assert answer.redirect_chain[0][0].startswith(f"{ROLLBACK}progress/?operation=")
    assert "Rolling back to version 1" in seen(answer)


def test_palette_and_activity_offer_the_rollback(
    as_publisher: Client, as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = service = PublishingService()
    as_publisher.post(PUBLISH, fields(as_publisher.get(PUBLISH, headers=DIALOG).content.decode()))
    goes_live(service, service.latest)
    operation = Operation.objects.get()
    link = f'href="{ROLLBACK}?from=2"'
    for url in (f"/activity/{operation.operation_key}/", "/find/?q=roll+back+bright"):
        page = as_publisher.get(url).content.decode()
        assert "Roll back to 1" in text(page), url
        assert link in page, url
        assert link not in as_viewer.get(url).content.decode(), url
    press(as_publisher, note="Too early")
    goes_live(service, wire.live_version())
    rollback = Operation.objects.latest("requested_at")
    page = seen(as_publisher.get(f"/activity/{rollback.operation_key}/"))
    assert "Takes back Version 2 Reason Too early" in page
    assert "Roll back to 2" not in seen(as_publisher.get("/find/?q=roll+back+bright"))
    assert "Roll back to 1" not in seen(as_publisher.get(f"/activity/{operation.operation_key}/"))


def rollback_links(client: Client) -> list[str]:
    """Return the classes of the links on the audience's page that roll back to version 1."""
    links = elements(client.get(AUDIENCE).content.decode(), "a")
    url = f"{ROLLBACK}?from=2"
    return [e.attributes["class"] for e in links if e.attributes.get("href") == url]


def test_the_audience_offers_a_rollback_for_an_hour(
    as_publisher: Client, as_viewer: Client, service: PublishingService
) -> None:
    assert sorted(kind.split()[0] for kind in rollback_links(as_publisher)) == ["button", "item"]
    assert rollback_links(as_viewer) == []
    Publication.objects.filter(ended_at=None).update(started_at=ago(hours=2))
    assert [kind.split()[0] for kind in rollback_links(as_publisher)] == ["item"]
    goes_live(service, wire.live_version())
    assert rollback_links(as_publisher) == []


def ago(**duration: float) -> datetime:
    return timezone.now() - timedelta(**duration)


def test_a_version_live_at_once_can_be_rolled_back(
    as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.answer = service = PublishingService()
    form = fields(as_publisher.get(PUBLISH, headers=DIALOG).content.decode())

    def publishes_at_once(service: PublishingService, request: httpx.Request) -> httpx.Response:
        service.carry_out(request)
        service.moves_on("published")
        return httpx.Response(200, json=service.latest)

    service.way = publishes_at_once
    html = as_publisher.post(PUBLISH, form, headers=WITHIN).content.decode()
    assert "Version 2 is live" in text(html)
    assert f'href="{ROLLBACK}?from=2"' in html
