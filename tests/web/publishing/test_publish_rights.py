"""Every user can view a publish. Users who may not publish see no button and are rejected."""

import pytest
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from tests.support.html import elements, page_html, page_text, response_text, text
from tests.support.publish_dialog import ADDRESS, DIALOG, PROGRESS, PublishDialog
from tests.support.publishing_service import PublishingService, answers

pytestmark = pytest.mark.django_db


def watched() -> str:
    """Return the progress URL of the only recorded publish."""
    return f"{ADDRESS}progress/?operation={Operation.objects.get().operation_key}"


@pytest.mark.parametrize("method", ["get", "post"])
def test_users_without_permission_get_403_and_an_explanation(
    method: str, as_viewer: Client, service: PublishingService
) -> None:
    answer = getattr(as_viewer, method)(ADDRESS)
    assert answer.status_code == 403
    assert "You need the Publisher role to publish." in response_text(answer)
    assert service.reads == 0


@pytest.mark.parametrize("at", ["", "versions/", "versions/compare/"])
def test_users_who_may_not_publish_have_no_publish_link(
    at: str, as_publisher: Client, as_viewer: Client, service: PublishingService
) -> None:
    address = ADDRESS.partition("versions/")[0] + at
    links = [
        [e.attributes.get("href", "") for e in elements(page_html(browser, address), "a")]
        for browser in (as_publisher, as_viewer)
    ]
    assert [any(link.endswith("/publish/") for link in of) for of in links] == [True, False]


def test_neither_key_nor_dialog_allows_publishing(
    dialog: PublishDialog, as_viewer: Client, service: PublishingService
) -> None:
    dialog.publish()
    form = {"operation_key": Operation.objects.get().operation_key}
    for address in (ADDRESS, f"{ADDRESS}schedule/", f"{ADDRESS}request/"):
        assert as_viewer.post(address, form, headers=DIALOG).status_code == 403
    assert as_viewer.post(watched(), form, headers=DIALOG).status_code == 405
    assert as_viewer.get(ADDRESS, headers=DIALOG).status_code == 403
    assert len(service.keys) == 1


def test_users_who_may_not_publish_can_view_progress(
    dialog: PublishDialog, as_viewer: Client, service: PublishingService
) -> None:
    dialog.publish()
    record = page_html(as_viewer, f"/activity/{Operation.objects.get().operation_key}/")
    assert watched() in [e.attributes.get("href") for e in elements(record, "a")]
    assert "Publishing version 2" in page_text(as_viewer, watched())
    service.moves_on("published")
    part = page_html(as_viewer, f"{watched()}&kind=progress&was=queued", **PROGRESS)
    assert "Version 2 is live" in text(part)


def test_an_unknown_outcome_is_shown_without_settling_buttons(
    dialog: PublishDialog, as_viewer: Client
) -> None:
    dialog.service.way = answers(500)
    dialog.publish()
    page = page_html(as_viewer, watched())
    assert "We don’t know if version 2 was published" in text(page)
    assert "Only users who can publish can check it." in text(page)
    dialog = page[page.index("<dialog") :]
    assert [form for form in elements(dialog, "form") if "/activity/" in str(form)] == []


@pytest.mark.parametrize("headers", [{}, DIALOG, PROGRESS])
def test_a_failed_publish_redirects_viewers_to_its_record(
    headers: dict[str, str], dialog: PublishDialog, as_viewer: Client
) -> None:
    dialog.service.way = answers(409, "No.")
    dialog.publish()
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.REJECTED
    answer = as_viewer.get(watched(), headers=headers)
    led_to = answer["HX-Redirect"] if headers else answer["Location"]
    assert led_to == f"/activity/{operation.operation_key}/"
