"""One button follows a page, an audience or a saved view."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.notifications.following import MAX_FOLLOWS, is_followed
from dashboard.notifications.models import Follow, Followed
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.seeding import seed_audiences, seed_pages, seed_view
from tests.web.every_page import answer

pytestmark = pytest.mark.django_db
FOLLOW = "/notifications/follow/"
SETTINGS = "/accounts/settings/notifications/"
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
    assert "Unfollow" not in as_viewer.get(address).content.decode()
    assert press(as_viewer, "page_1", audience_id)["Location"] == PAGE
    assert is_followed(vera, "page_1", audience_id)
    assert "Unfollow" in as_viewer.get(address).content.decode()


def test_with_scripts_the_button_alone_is_replaced(as_viewer: Client, vera: User) -> None:
    button, _, badges = (
        press(as_viewer, "page_1", headers=HTMX).content.decode().partition("</form>")
    )
    assert text(button) == "Unfollow"
    assert "<button" not in badges
    as_viewer.post(FOLLOW, {"page_id": "page_1", "followed": ""}, headers=HTMX)
    assert not is_followed(vera, "page_1")


@pytest.mark.parametrize("page_id", ["", "page_unknown", "page\0"])
def test_what_is_not_on_record_is_not_followed(as_viewer: Client, page_id: str) -> None:
    assert press(as_viewer, page_id).status_code == 404


def test_whoever_follows_too_much_is_told_why_it_failed(as_viewer: Client, vera: User) -> None:
    now = "2026-03-01T09:00:00Z"
    many = Followed.objects.bulk_create(
        Followed(page_id=f"page_{n}", compare_since=now) for n in range(2, MAX_FOLLOWS + 2)
    )
    Follow.objects.bulk_create(Follow(user=vera, followed=each, created_at=now) for each in many)
    response = press(as_viewer, "page_1", headers=HTMX).content.decode()
    assert "which is the maximum" in text(response)
    assert not is_followed(vera, "page_1")


def test_the_settings_list_what_is_followed(as_viewer: Client, vera: User) -> None:
    press(as_viewer, "page_1", "aud_1")
    assert "Brightwater Foods On Fleet telematics" in text(as_viewer.get(SETTINGS).content.decode())
    as_viewer.post(FOLLOW, {"page_id": "page_1", "audience_id": "aud_1", "next": SETTINGS})
    assert "Nothing followed." in text(as_viewer.get(SETTINGS).content.decode())


def test_what_is_gone_from_the_record_can_be_unfollowed(as_viewer: Client, vera: User) -> None:
    followed = Followed.objects.create(page_id="page_9", compare_since="2026-03-01T09:00:00Z")
    Follow.objects.create(user=vera, followed=followed, created_at="2026-03-01T09:00:00Z")
    page = text(as_viewer.get(SETTINGS).content.decode())
    assert "page_9 No longer in Pressroom" in page
    as_viewer.post(FOLLOW, {"page_id": "page_9"})
    assert not is_followed(vera, "page_9")


VIEW = {"view_id": "1", "followed": "1", "next": "/audiences/?live=changed"}


def test_the_saved_view_that_is_shown_is_followed(as_viewer: Client, vera: User) -> None:
    seed_view(None, name="Unpublished changes")
    assert "Unfollow" not in as_viewer.get("/audiences/?live=changed").content.decode()
    assert as_viewer.post(FOLLOW, VIEW)["Location"] == VIEW["next"]
    assert is_followed(vera, view_id=1)
    assert "Unfollow" in as_viewer.get("/audiences/?live=changed").content.decode()
    settings = text(as_viewer.get(SETTINGS).content.decode())
    assert "Unpublished changes View of Audiences" in settings
    as_viewer.post(FOLLOW, VIEW | {"followed": ""})
    assert not is_followed(vera, view_id=1)


@pytest.mark.parametrize(
    ("list_name", "query"), [("activity", "kind=create_page"), ("webhooks", "state=on")]
)
def test_a_view_of_activity_or_webhooks_is_followed(
    as_viewer: Client, vera: User, list_name: str, query: str
) -> None:
    seed_view(vera, list_name=list_name, query=query)
    url = f"/{list_name}/?{query}"
    button = as_viewer.get(url).content.decode()
    assert 'id="follow-button"' in button
    assert "Unfollow" not in button
    as_viewer.post(FOLLOW, VIEW)
    assert "Unfollow" in as_viewer.get(url).content.decode()


def test_a_view_of_people_can_not_be_followed(as_viewer: Client, vera: User) -> None:
    seed_view(vera, list_name="people", query="q=ada")
    assert 'id="follow-button"' not in as_viewer.get("/people/?q=ada").content.decode()
    response = as_viewer.post(FOLLOW, VIEW, headers=HTMX).content.decode()
    assert "A view of people can’t be followed" in text(response)
    page = as_viewer.post(FOLLOW, VIEW | {"next": PAGE}, follow=True).content.decode()
    assert "A view of people can’t be followed" in text(page)
    assert not Followed.objects.exists()


@pytest.mark.parametrize("columns", [{"owner": "paula"}, {"pk": 2}])
def test_a_view_of_another_user_is_not_followed(
    as_viewer: Client, paula: User, columns: dict[str, Any]
) -> None:
    owner = paula if columns.pop("owner", "") else None
    seed_view(owner, **columns)
    assert as_viewer.post(FOLLOW, VIEW).status_code == 404
    assert not Follow.objects.exists()
