"""The matrix, quiet hours and the daily summary."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.notifications.kinds import KINDS
from dashboard.notifications.models import Channel
from dashboard.notifications.preferences import get_settings, read_matrix
from tests.support.notification_settings import CHOSEN, SETTINGS, NotificationSettings

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(as_viewer: Client) -> NotificationSettings:
    """The settings in Vera's browser."""
    return NotificationSettings(as_viewer)


def test_the_matrix_has_a_box_per_event_and_channel(page: NotificationSettings) -> None:
    cells = page.open().cells
    assert len(cells) == len(KINDS) * len(Channel)
    assert all(cells[f"publish_failed:{channel}"] for channel in Channel)
    assert [cells[f"followed_changed:{channel}"] for channel in Channel] == [True, False, False]
    assert not cells["publish_finished:email"]


def test_checked_boxes_are_on_and_others_off(page: NotificationSettings, vera: User) -> None:
    assert page.save().location == SETTINGS
    assert read_matrix(vera) == {("publish_failed", "email")}
    assert page.open().checked("cells") == CHOSEN["cells"]


def test_quiet_hours_and_summary_are_saved_in_the_zone(
    page: NotificationSettings, vera: User
) -> None:
    page.save()
    saved = get_settings(vera)
    assert (saved.time_zone, f"{saved.quiet_from:%H:%M}") == ("Europe/Oslo", "19:00")
    assert (saved.has_digest, saved.digest_hour) == (False, 9)
    assert page.open().value("quiet_to") == "07:30"


def test_the_zone_is_at_first_that_of_the_viewer(page: NotificationSettings) -> None:
    page.client.cookies["pressroom_timezone"] = "Asia/Tokyo"
    assert '<option value="Asia/Tokyo" selected>' in page.open().html


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"quiet_to": ""}, "To: Enter when quiet hours start and end, or neither."),
        ({"quiet_from": ""}, "From: Enter when quiet hours start and end, or neither."),
        ({"quiet_to": "19:00"}, "To: Quiet hours can’t end when they start."),
        ({"quiet_from": "noon"}, "From: Enter a time, such as 19:00."),
        ({"time_zone": "Europe/Atlantis"}, "Time zone: Choose a time zone."),
        ({"time_zone": ""}, "Time zone: Choose a time zone."),
        ({"digest_hour": "24"}, "At: Select a valid choice."),
        ({"cells": ["publish_failed:pigeon"]}, "This form is out of date."),
    ],
)
def test_invalid_settings_are_explained_and_not_saved(
    page: NotificationSettings, vera: User, changes: dict[str, Any], problem: str
) -> None:
    assert page.save(**changes).status == 422
    assert problem in page.text
    assert get_settings(vera).pk is None
    assert {kind for kind, channel in read_matrix(vera) if channel == "in_app"} == set(KINDS)


def test_an_error_keeps_everything_that_was_entered(page: NotificationSettings) -> None:
    page.save(quiet_to="")
    assert page.checked("cells") == CHOSEN["cells"]
    assert page.value("quiet_from") == "19:00"
    assert '<option value="9" selected>' in page.html


def test_without_a_mail_server_the_page_says_so(page: NotificationSettings) -> None:
    assert "E-mail is off." in page.open().text


def test_without_an_address_the_page_says_so(
    page: NotificationSettings, vera: User, settings: Any
) -> None:
    settings.EMAIL_IS_ON = True
    assert "Your account has no e-mail address." in page.open().text
    vera.email = "vera@kestrel.example"
    vera.save()
    assert "Sent to vera@kestrel.example" in page.open().text


def test_the_settings_are_a_tab_of_ones_own(page: NotificationSettings) -> None:
    assert f'href="{SETTINGS}"' in page.open("/accounts/settings/").html
