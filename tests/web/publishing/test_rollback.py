"""A rollback takes two presses, asks for no number, and shows what visitors will see again."""

import json
from datetime import datetime, timedelta
from typing import Any, Self

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
from tests.support.html import elements, page_text, response_text, text
from tests.support.publish_dialog import PublishDialog
from tests.support.publishing_service import PublishingService, accepts, answers, now
from tests.support.seeding import seed_rule

AUDIENCE = "/pages/page_1/audiences/aud_1/"
PUBLISH = f"{AUDIENCE}versions/ver_2/publish/"
ROLLBACK = f"{AUDIENCE}versions/ver_1/rollback/"
DIALOG = {"HX-Request": "true", "HX-Target": "dialogs"}
WITHIN = {"HX-Request": "true", "HX-Target": "publish"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(publishing: PublishingService) -> PublishingService:
    """A service where version 2 has just replaced version 1."""
    read_audience("page_1", "aud_1")
    goes_live(publishing, publishing.latest)
    return publishing


def goes_live(service: PublishingService, version: dict[str, Any] | None) -> None:
    """Make a version live and let Pressroom read it."""
    assert version is not None
    service.live = version | {"status": "published", "queuedAt": now(), "publishedAt": now()}
    if service.latest and service.latest["versionId"] == version["versionId"]:
        service.latest = service.live
    read_audience("page_1", "aud_1")


class RollbackDialog(PublishDialog):
    """The dialog that rolls back to version 1, by htmx."""

    @property
    def form(self) -> dict[str, str]:
        names = ("operation_key", "shown", "note")
        inputs = [e.attributes for e in elements(self.html, "input")]
        return {e["name"]: e.get("value", "") for e in inputs if e.get("name") in names}

    def open(self, **headers: str) -> Self:
        return super().open(**headers or DIALOG)

    def press(self, form: dict[str, str] | None = None, **fields: str) -> Self:
        form = self.form if form is None else form
        return self.show(self.client.post(self.url, form | fields, headers=WITHIN))

    def roll_back(self, **fields: str) -> Self:
        """Open the dialog and press its button, which may request approval instead."""
        form, *_ = elements(self.open().html, "form")
        action = self.url if "emergency" in fields else form.attributes["action"]
        return self.show(self.client.post(action, self.form | fields, headers=WITHIN))


@pytest.fixture
def dialog(as_publisher: Client, service: PublishingService) -> RollbackDialog:
    return RollbackDialog(as_publisher, service, ROLLBACK)


def test_the_dialog_says_what_visitors_will_see_again(dialog: RollbackDialog) -> None:
    dialog.url = f"{ROLLBACK}?from=2"
    page = dialog.open().text
    assert "Roll back to version 1" in page
    assert "Visitors will see again: version 1" in page
    assert "Runs 64 trucks." in page
    assert "Version 2 goes off" in page
    assert "is newer" not in page
    assert "Type " not in page
    [focused] = [e for e in elements(dialog.html) if "autofocus" in e.attributes]
    assert (focused.tag, focused.attributes["type"]) == ("button", "submit")


def test_a_version_names_its_scheduled_release(dialog: RollbackDialog, paula: User) -> None:
    assert "is scheduled for" not in dialog.open().text
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
    page = dialog.open().text
    assert "Version 3 is scheduled for" in page
    assert "If you roll back now, it’s held there" in page
    assert "View release Prices" in page


def test_one_press_rolls_back_and_records_it(dialog: RollbackDialog) -> None:
    dialog.roll_back(note=" The 8% isn’t signed off. ")
    assert dialog.state == "Rolling back to version 1"
    operation = Operation.objects.get()
    assert operation.title == "Roll back to version 1"
    assert (operation.rolled_back_id, operation.rolled_back_number) == ("ver_2", 2)
    assert (operation.note, operation.reason) == (
        "The 8% isn’t signed off.",
        PublicationReason.ROLLBACK,
    )
    assert len(dialog.service.keys) == 1


def test_a_live_rollback_says_how_long_the_other_was(dialog: RollbackDialog) -> None:
    dialog.roll_back(note="Too early")
    goes_live(dialog.service, wire.live_version())
    operation = Operation.objects.get()
    page = page_text(dialog.client, f"{ROLLBACK}progress/?operation={operation.operation_key}")
    assert "Version 1 is live again" in page
    assert "Version 2 was live for" in page
    assert "no longer in “Unpublished changes”" in page
    assert "Reason, shown in the history: “Too early”" in page
    assert "Roll back to" not in page
    publication = Publication.objects.get(ended_at=None)
    assert (publication.actor_name, publication.note) == ("paula", "Too early")


def test_the_dialog_of_a_live_version_offers_next_steps(
    as_publisher: Client, as_viewer: Client, publishing: PublishingService
) -> None:
    dialog = PublishDialog(as_publisher, publishing).open(**DIALOG)
    dialog.show(as_publisher.post(PUBLISH, dialog.form, headers=WITHIN))
    assert "You can roll back to 1 once it’s live." in dialog.text
    publishing.moves_on("published")
    url = f"{PUBLISH}progress/?operation={Operation.objects.get().operation_key}"
    assert dialog.poll().headers["HX-Retarget"] == "closest dialog"
    for words in ("Version 2 is live", "after you pressed Publish", "Open audience", "Close"):
        assert words in dialog.text
    assert f'href="{ROLLBACK}?from=2"' in dialog.html
    assert "Roll back to 1" not in page_text(as_viewer, url)


def test_what_was_rolled_back_is_not_offered_again(dialog: RollbackDialog) -> None:
    goes_live(dialog.service, wire.live_version())
    answer = dialog.client.get(ROLLBACK.replace("ver_1", "ver_2"), headers=DIALOG)
    assert answer.url == PUBLISH
    page = page_text(dialog.client, answer.url)
    assert "Version 2 was rolled back" in page
    assert "Type 2 to publish" in page


def test_republishing_a_rolled_back_version_names_the_reason(dialog: RollbackDialog) -> None:
    dialog.roll_back(note="The 8% isn’t signed off")
    goes_live(dialog.service, wire.live_version())
    again = PublishDialog(dialog.client, dialog.service).open()
    assert "paula rolled back version 2" in again.text
    assert ": The 8% isn’t signed off" in again.text
    assert "then type 2." in again.press().text


def test_a_version_live_since_the_offer_is_named(dialog: RollbackDialog) -> None:
    goes_live(dialog.service, wire.version(versionId="ver_3", versionNumber=3))
    dialog.url = f"{ROLLBACK}?from=2"
    assert "Version 3 is live now, not version 2." in dialog.open().text
    assert "Version 3 goes off" in dialog.text
    assert dialog.roll_back().state == "Rolling back to version 1"


def test_a_change_after_the_dialog_is_shown_first(dialog: RollbackDialog) -> None:
    form = dialog.open().form
    dialog.service.page = wire.page(status="archived")
    assert dialog.press(form, note="Kept").status == 422
    assert "This page is archived." in dialog.text
    assert 'value="Kept"' in dialog.html
    assert dialog.roll_back().state == "Rolling back to version 1"


def test_what_is_live_already_disables_the_button(dialog: RollbackDialog) -> None:
    goes_live(dialog.service, wire.live_version())
    page = dialog.open().text
    assert "Version 1 is already live." in page
    assert "disabled for the reason above" in page
    assert "Not rolled back, for the reason above." in dialog.roll_back().text
    assert not dialog.service.keys


def test_without_the_service_nothing_is_sent(
    dialog: RollbackDialog, fake_service: FakeService
) -> None:
    form = dialog.open().form
    fake_service.fails(httpx.ConnectError)
    page = dialog.open().text
    assert "Couldn’t reach the service." in page
    assert "disabled for the reason above" in page
    dialog.press(form)
    assert Operation.objects.get().outcome == Outcome.NOT_SENT


def test_a_rejected_rollback_shows_the_reason_and_retries(dialog: RollbackDialog) -> None:
    dialog.service.way = answers(409, "Locked by an agent.")
    dialog.roll_back()
    assert "Not rolled back. The service returned 409: Locked by an agent." in dialog.text
    dialog.service.way = accepts
    assert dialog.press().state == "Rolling back to version 1"
    operation = Operation.objects.earliest("requested_at")
    elsewhere = dialog.client.get(
        f"{PUBLISH.replace('ver_2', 'ver_1')}progress/?operation={operation.operation_key}"
    )
    assert elsewhere.url.startswith(ROLLBACK)


def test_two_presses_of_one_dialog_are_one_rollback(dialog: RollbackDialog) -> None:
    form = dialog.open().form
    for _ in range(2):
        dialog.client.post(ROLLBACK, form)
    assert len(dialog.service.keys) == Operation.objects.count() == 1


def test_a_rollback_under_the_rule_requests_approval(dialog: RollbackDialog) -> None:
    seed_rule(covers_rollbacks=True)
    assert "Request approval" in dialog.open().text
    assert "Roll back to 1" not in dialog.text
    assert dialog.roll_back(note="Wrong price").status == 200
    request_page = page_text(dialog.client, dialog.headers["HX-Redirect"])
    assert "Roll back to version 1, Brightwater Foods" in request_page
    assert "Wrong price" in request_page
    assert not dialog.service.keys


def test_a_rule_that_was_turned_on_meanwhile_sends_nothing(dialog: RollbackDialog) -> None:
    form = dialog.open().form
    seed_rule(covers_rollbacks=True)
    assert "It needs the approval of another person." in dialog.press(form).text
    assert not dialog.service.keys


def test_an_administrator_rolls_back_in_an_emergency(service: PublishingService) -> None:
    seed_rule(covers_rollbacks=True)
    chief = logged_in(person("chief", "Administrators", "Publishers"))
    dialog = RollbackDialog(chief, service, ROLLBACK)
    dialog.roll_back(emergency="on", emergency_reason="Wrong price")
    assert dialog.state == "Rolling back to version 1"
    assert Operation.objects.get().emergency_reason == "Wrong price"


def test_a_reason_has_a_limit_and_is_not_lost(dialog: RollbackDialog) -> None:
    dialog.roll_back(note="x" * 2_001)
    assert "The reason has 2,001 characters. The maximum is 2,000." in dialog.text
    assert "x" * 2_001 in dialog.html
    assert "can’t be stored" in dialog.roll_back(note="a\0b").text


def test_who_may_not_publish_rolls_nothing_back(
    as_viewer: Client, service: PublishingService
) -> None:
    assert as_viewer.get(ROLLBACK).status_code == 403
    assert as_viewer.post(ROLLBACK).status_code == 403
    assert as_viewer.post(f"{ROLLBACK}request/").status_code == 403


def test_it_works_without_scripts(dialog: RollbackDialog) -> None:
    dialog.show(dialog.client.get(ROLLBACK))
    answer = dialog.client.post(ROLLBACK, dialog.form, follow=True)
    assert answer.redirect_chain[0][0].startswith(f"{ROLLBACK}progress/?operation=")
    assert "Rolling back to version 1" in response_text(answer)


def test_palette_and_activity_offer_the_rollback(
    as_publisher: Client, as_viewer: Client, publishing: PublishingService
) -> None:
    PublishDialog(as_publisher, publishing).publish()
    goes_live(publishing, publishing.latest)
    operation = Operation.objects.get()
    link = f'href="{ROLLBACK}?from=2"'
    for url in (f"/activity/{operation.operation_key}/", "/find/?q=roll+back+bright"):
        page = as_publisher.get(url).text
        assert "Roll back to 1" in text(page), url
        assert link in page, url
        assert link not in as_viewer.get(url).text, url
    RollbackDialog(as_publisher, publishing, ROLLBACK).roll_back(note="Too early")
    goes_live(publishing, wire.live_version())
    rollback = Operation.objects.latest("requested_at")
    page = page_text(as_publisher, f"/activity/{rollback.operation_key}/")
    assert "Takes back Version 2 Reason Too early" in page
    assert "Roll back to 2" not in page_text(as_publisher, "/find/?q=roll+back+bright")
    assert "Roll back to 1" not in page_text(as_publisher, f"/activity/{operation.operation_key}/")


def rollback_links(client: Client) -> list[str]:
    """Return the classes of the audience page's links that roll back to version 1."""
    links = elements(client.get(AUDIENCE).text, "a")
    url = f"{ROLLBACK}?from=2"
    return [e.attributes["class"] for e in links if e.attributes.get("href") == url]


def test_the_audience_offers_a_rollback_for_an_hour(
    dialog: RollbackDialog, as_viewer: Client
) -> None:
    assert sorted(kind.split()[0] for kind in rollback_links(dialog.client)) == ["button", "item"]
    assert rollback_links(as_viewer) == []
    Publication.objects.filter(ended_at=None).update(started_at=ago(hours=2))
    assert [kind.split()[0] for kind in rollback_links(dialog.client)] == ["item"]
    goes_live(dialog.service, wire.live_version())
    assert rollback_links(dialog.client) == []


def ago(**duration: float) -> datetime:
    return timezone.now() - timedelta(**duration)


def test_a_version_live_at_once_can_be_rolled_back(
    as_publisher: Client, publishing: PublishingService
) -> None:
    dialog = PublishDialog(as_publisher, publishing).open(**DIALOG)

    def publishes_at_once(service: PublishingService, request: httpx.Request) -> httpx.Response:
        service.carry_out(request)
        service.moves_on("published")
        return httpx.Response(200, json=service.latest)

    publishing.way = publishes_at_once
    dialog.show(as_publisher.post(PUBLISH, dialog.form, headers=WITHIN))
    assert dialog.state == "Version 2 is live"
    assert f'href="{ROLLBACK}?from=2"' in dialog.html
