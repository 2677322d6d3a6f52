"""The matrix, quiet hours and the daily summary."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.notifications.kinds import KINDS
from dashboard.notifications.models import Channel
from dashboard.notifications.preferences import get_settings, read_matrix
from tests.support.html import elements, response_text, text

pytestmark = pytest.mark.django_db
SETTINGS = "/accounts/settings/notifications/"
FORM = {
    "cells": ["publish_failed:email"],
    "quiet_from": "19:00",
    "quiet_to": "07:30",
    "time_zone": "Europe/Oslo",
    "digest_hour": "9",
}


def page(client: Client) -> str:
    return client.get(SETTINGS).text


def boxes(html: str) -> dict[str, bool]:
    """Return whether each check box of the matrix is checked, by value."""
    matching = [
        element.attributes
        for element in elements(html, "input")
        if element.attributes.get("name") == "cells"
    ]
    return {item["value"]: "checked" in item for item in matching}


def save(client: Client, **changes: Any) -> Any:
    return client.post(SETTINGS, FORM | changes)


def test_the_matrix_has_a_box_per_event_and_channel(as_viewer: Client) -> None:
    boxes_before = boxes(page(as_viewer))
    assert len(boxes_before) == len(KINDS) * len(Channel)
    assert boxes_before["publish_failed:email"]
    assert not boxes_before["publish_finished:email"]


def test_checked_boxes_are_on_and_others_off(as_viewer: Client, vera: User) -> None:
    assert save(as_viewer)["Location"] == SETTINGS
    assert read_matrix(vera) == {("publish_failed", "email")}
    assert [cell for cell, is_on in boxes(page(as_viewer)).items() if is_on] == FORM["cells"]


def test_quiet_hours_and_summary_are_saved_in_the_zone(as_viewer: Client, vera: User) -> None:
    save(as_viewer)
    saved = get_settings(vera)
    assert (saved.time_zone, f"{saved.quiet_from:%H:%M}") == ("Europe/Oslo", "19:00")
    assert (saved.has_digest, saved.digest_hour) == (False, 9)
    assert 'value="07:30"' in page(as_viewer)


def test_the_zone_is_at_first_that_of_the_viewer(as_viewer: Client) -> None:
    as_viewer.cookies["pressroom_timezone"] = "Asia/Tokyo"
    assert '<option value="Asia/Tokyo" selected>' in page(as_viewer)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"quiet_to": ""}, "To: Enter when quiet hours start and end, or neither."),
        ({"quiet_to": "19:00"}, "To: Quiet hours can’t end when they start."),
        ({"quiet_from": "noon"}, "From: Enter a time, such as 19:00."),
        ({"time_zone": "Europe/Atlantis"}, "Time zone: Choose a time zone."),
        ({"cells": ["publish_failed:pigeon"]}, "This form is out of date."),
    ],
)
def test_what_is_invalid_is_said_and_nothing_is_saved(
    as_viewer: Client, vera: User, changes: dict[str, Any], problem: str
) -> None:
    response = save(as_viewer, **changes)
    assert response.status_code == 422
    assert problem in response_text(response)
    assert get_settings(vera).pk is None
    assert {kind for kind, channel in read_matrix(vera) if channel == "in_app"} == set(KINDS)


def test_with_an_error_nothing_that_was_entered_is_lost(as_viewer: Client) -> None:
    html = save(as_viewer, quiet_to="").text
    assert [cell for cell, is_on in boxes(html).items() if is_on] == FORM["cells"]
    assert 'value="19:00"' in html
    assert '<option value="9" selected>' in html


def test_without_a_mail_server_the_page_says_so(as_viewer: Client) -> None:
    assert "E-mail is off." in text(page(as_viewer))


def test_without_an_address_the_page_says_so(as_viewer: Client, vera: User, settings: Any) -> None:
    settings.EMAIL_IS_ON = True
    assert "Your account has no e-mail address." in text(page(as_viewer))
    vera.email = "vera@kestrel.example"
    vera.save()
    assert "Sent to vera@kestrel.example" in text(page(as_viewer))


def test_the_settings_are_a_tab_of_ones_own(as_viewer: Client) -> None:
    assert f'href="{SETTINGS}"' in as_viewer.get("/accounts/settings/").text
