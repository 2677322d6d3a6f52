"""The list of a user's notifications."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.notifications.kinds import KINDS
from dashboard.notifications.models import Notification
from dashboard.web.notifications.views import LOOKS
from dashboard.web.ui.query_params import PAGE_SIZE
from tests.support.html import elements, page_text, response_text
from tests.support.seeding import seed_event, seed_notification

pytestmark = pytest.mark.django_db
LIST = "/notifications/"


def test_without_notifications_the_page_says_what_will_be_there(as_viewer: Client) -> None:
    assert "No notifications yet" in page_text(as_viewer, LIST)
    assert "No unread notifications" in page_text(as_viewer, f"{LIST}?state=unread")


def test_each_entry_is_a_sentence(vera: User, as_viewer: Client) -> None:
    seed_notification(vera)
    assert "Publishing version 1 of Brightwater Foods failed." in page_text(as_viewer, LIST)


def test_a_name_in_a_sentence_is_text(vera: User, as_viewer: Client) -> None:
    seed_event(facts={"doing": "<b>Publishing</b>"})
    seed_notification(vera)
    assert "&lt;b&gt;Publishing" in as_viewer.get(LIST).text


@pytest.mark.same_on_any_database
def test_every_kind_of_event_has_its_look() -> None:
    assert set(LOOKS) == set(KINDS)


def test_the_filter_leaves_out_what_was_read(vera: User, as_viewer: Client) -> None:
    seed_notification(vera, 1)
    seed_notification(vera, 2, read_at=timezone.now())
    page = page_text(as_viewer, f"{LIST}?state=unread")
    assert "version 1" in page
    assert "version 2" not in page


def test_more_are_loaded_below(vera: User, as_viewer: Client) -> None:
    for number in range(PAGE_SIZE + 1):
        seed_notification(vera, number)
    page = as_viewer.get(LIST)
    assert "Load more" in page.text
    assert "version 0 of" not in response_text(page)
    oldest = vera_ids(vera)[1]
    headers = {"HX-Request": "true", "HX-Target": "more"}
    more = as_viewer.get(LIST, {"before": oldest}, headers=headers)
    assert "version 0 of" in response_text(more)
    assert "<html" not in more.text


def vera_ids(user: User) -> list[int]:
    """Return the ids of a user's notifications, oldest first."""
    return list(Notification.objects.filter(user=user).order_by("pk").values_list("pk", flat=True))


def links(client: Client) -> list[str]:
    """Return the links of the notifications."""
    html = client.get(LIST).text
    return [
        a.attributes["href"] for a in elements(html, "a") if a.attributes.get("class") == "lead"
    ]


def test_each_is_a_link_to_what_it_is_about(vera: User, as_viewer: Client) -> None:
    seed_notification(vera)
    assert links(as_viewer) == ["/activity/key-1/"]


def test_a_get_marks_nothing_as_read(vera: User, as_viewer: Client) -> None:
    notification = seed_notification(vera)
    assert as_viewer.get(f"{LIST}{notification.pk}/read/").status_code == 405
    page_text(as_viewer, LIST)
    notification.refresh_from_db()
    assert notification.read_at is None


def test_notifications_of_others_are_hidden(paula: User, as_viewer: Client) -> None:
    notification = seed_notification(paula)
    assert as_viewer.post(f"{LIST}{notification.pk}/read/").status_code == 404
    notification.refresh_from_db()
    assert notification.read_at is None


@pytest.mark.parametrize("path", ["//elsewhere.example/", "https://elsewhere.example/"])
def test_none_leads_elsewhere(vera: User, as_viewer: Client, path: str) -> None:
    seed_event(path=path)
    seed_notification(vera)
    assert links(as_viewer) == [LIST]


@pytest.mark.parametrize("place", ["notification", "notice"])
def test_one_is_marked_as_read_in_its_place(vera: User, as_viewer: Client, place: str) -> None:
    notification = seed_notification(vera)
    row = f"{place}-{notification.pk}"
    response = as_viewer.post(
        f"{LIST}{notification.pk}/read/", headers={"HX-Request": "true", "HX-Target": row}
    )
    assert f'<li class="notice" id="{row}"' in response.text
    assert "Mark as read" not in response_text(response)


def test_all_are_marked_as_read_without_scripts(vera: User, as_viewer: Client) -> None:
    newest = seed_notification(vera)
    response = as_viewer.post(f"{LIST}read/", {"until": newest.pk}, follow=True)
    assert response.redirect_chain == [(LIST, 302)]
    assert "Mark all as read" not in response_text(response)
