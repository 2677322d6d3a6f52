"""The bell on every page: its number, its poll and its panel."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.notifications.models import Notification
from tests.support.html import text
from tests.support.seeding import seed_event, seed_notification

pytestmark = pytest.mark.django_db
LIST = "/notifications/"
ANY_PAGE = "/accounts/password/"


def panel(client: Client) -> str:
    """Open the panel; return its HTML."""
    response = client.get(LIST, headers={"HX-Request": "true", "HX-Target": "notices-in"})
    return response.text


def seed_many(user: User, count: int) -> None:
    event = seed_event()
    Notification.objects.bulk_create(
        Notification(
            user=user, event=event if n == 0 else seed_event(n + 1), created_at=timezone.now()
        )
        for n in range(count)
    )


def test_every_page_says_how_many_are_unread(vera: User, as_viewer: Client) -> None:
    seed_notification(vera, 1)
    seed_notification(vera, 2)
    seed_notification(vera, 3, read_at=timezone.now())
    assert "Notifications 2 unread" in text(as_viewer.get(ANY_PAGE).text)


def test_from_a_hundred_on_the_number_ends(vera: User, as_viewer: Client) -> None:
    seed_many(vera, 101)
    assert "Notifications 99+ unread" in text(as_viewer.get(ANY_PAGE).text)


def test_what_is_unread_for_others_counts_for_them_alone(paula: User, as_viewer: Client) -> None:
    seed_notification(paula)
    assert 'id="bell-count" hidden' in as_viewer.get(ANY_PAGE).text


def test_the_panel_has_the_latest_ten_under_their_days(vera: User, as_viewer: Client) -> None:
    for number in range(1, 13):
        seed_notification(vera, number)
    html = panel(as_viewer)
    assert html.count('<li class="notice') == 10
    assert "Today Publishing version 12 of Brightwater Foods failed." in text(html).replace(
        "  ", " "
    )


def test_an_empty_panel_says_so(as_viewer: Client) -> None:
    assert "No notifications yet." in text(panel(as_viewer))


def test_all_are_marked_as_read_from_the_panel(vera: User, as_viewer: Client) -> None:
    newest = seed_notification(vera)
    headers = {"HX-Request": "true", "HX-Target": "notices-in"}
    response = as_viewer.post(f"{LIST}read/", {"until": newest.pk}, headers=headers)
    html = response.text
    assert "New" not in text(html)
    assert 'id="bell-count" hx-swap-oob="true" hidden' in html


def test_notices_received_while_open_stay_unread(vera: User, as_viewer: Client) -> None:
    seen = seed_notification(vera, 1)
    later = seed_notification(vera, 2)
    as_viewer.post(f"{LIST}read/", {"until": seen.pk})
    later.refresh_from_db()
    assert later.read_at is None
