"""One button follows a page or an audience."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.notifications.models import Follow
from dashboard.notifications.preferences import MAX_FOLLOWS, is_followed
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import page_text, text
from tests.support.notification_settings import SETTINGS
from tests.support.seeding import seed_audiences, seed_pages
from tests.web.every_page import answer

pytestmark = pytest.mark.django_db
FOLLOW = "/notifications/follow/"
PAGE, AUDIENCE = "/pages/page_1/", "/pages/page_1/audiences/aud_1/"
HTMX = {"HX-Request": "true", "HX-Target": "follow"}


@pytest.fixture(autouse=True)
def _records(fake_service: FakeService) -> None:
    fake_service.answer = answer
    seed_pages(wire.page(pageId="page_1", name="Fleet telematics"))
    seed_audiences(wire.audience(audienceId="aud_1", effectiveName="Brightwater Foods"))


def press(client: Client, page_id: str, audience_id: str = "", **more: Any) -> Any:
    """Press the button that follows."""
    ids = {"page_id": page_id, "audience_id": audience_id}
    return client.post(FOLLOW, {"followed": "1", "next": PAGE} | ids, **more)


@pytest.mark.parametrize(("address", "audience_id"), [(PAGE, ""), (AUDIENCE, "aud_1")])
def test_the_button_says_whether_it_is_followed(
    as_viewer: Client, vera: User, address: str, audience_id: str
) -> None:
    assert "Unfollow" not in as_viewer.get(address).text
    assert press(as_viewer, "page_1", audience_id)["Location"] == PAGE
    assert is_followed(vera, "page_1", audience_id)
    assert "Unfollow" in as_viewer.get(address).text


def test_with_scripts_the_button_alone_is_replaced(as_viewer: Client, vera: User) -> None:
    button, _, badges = press(as_viewer, "page_1", headers=HTMX).text.partition("</form>")
    assert text(button) == "Unfollow"
    assert "<button" not in badges
    as_viewer.post(FOLLOW, {"page_id": "page_1", "followed": ""}, headers=HTMX)
    assert not is_followed(vera, "page_1")


@pytest.mark.parametrize("page_id", ["", "page_unknown", "page\0"])
def test_what_is_not_on_record_is_not_followed(as_viewer: Client, page_id: str) -> None:
    assert press(as_viewer, page_id).status_code == 404


def test_following_too_much_is_refused_with_a_reason(as_viewer: Client, vera: User) -> None:
    now = "2026-03-01T09:00:00Z"
    Follow.objects.bulk_create(
        Follow(user=vera, page_id=f"page_{n}", created_at=now) for n in range(2, MAX_FOLLOWS + 2)
    )
    response = press(as_viewer, "page_1", headers=HTMX).text
    assert "which is the maximum" in text(response)
    assert not is_followed(vera, "page_1")


def test_the_settings_list_what_is_followed(as_viewer: Client, vera: User) -> None:
    press(as_viewer, "page_1", "aud_1")
    assert "Brightwater Foods On Fleet telematics" in page_text(as_viewer, SETTINGS)
    as_viewer.post(FOLLOW, {"page_id": "page_1", "audience_id": "aud_1", "next": SETTINGS})
    assert "Nothing followed." in page_text(as_viewer, SETTINGS)


def test_what_is_gone_from_the_record_can_be_unfollowed(as_viewer: Client, vera: User) -> None:
    Follow.objects.create(user=vera, page_id="page_9", created_at="2026-03-01T09:00:00Z")
    page = page_text(as_viewer, SETTINGS)
    assert "page_9 No longer in Pressroom" in page
    as_viewer.post(FOLLOW, {"page_id": "page_9"})
    assert not is_followed(vera, "page_9")
