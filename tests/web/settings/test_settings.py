"""A user's settings apply in every browser; pins are in the sidebar and the palette."""

from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.web.live.shell_state import FORM_SENT_COOKIE, shell_state
from tests.conftest import logged_in
from tests.support.fake_service import FakeService
from tests.support.html import elements, page_html, response_text, text
from tests.support.wire import envelope, page

SETTINGS = "/accounts/settings/"
CHOSEN = {"theme": "dark", "density": "comfortable", "time_zone": "Asia/Tokyo", "keys": "on"}


def html_of(client: Client, url: str = SETTINGS, **headers: str) -> str:
    return page_html(client, url, **headers)


def html_attributes(html: str) -> dict[str, str]:
    attributes = elements(html, "html")[0].attributes
    assert attributes.pop("data-time-zone-cookie") == "pressroom_timezone"
    return attributes


def chosen(html: str) -> set[str]:
    inputs = {
        f"{element.attributes['name']}={element.attributes.get('value', 'on')}"
        for element in elements(html, "input")
        if "checked" in element.attributes and element.attributes.get("id", "").startswith("id_")
    }
    options = elements(html, "option")
    return inputs | {
        option.attributes["value"] for option in options if "selected" in option.attributes
    }


def test_defaults_apply_without_settings(as_viewer: Client) -> None:
    html = html_of(as_viewer)
    assert chosen(html) == {"theme=", "density=", "date_order=", "hours=", "keys=on", ""}
    assert set(html_attributes(html)) == {"lang"}


def test_settings_apply_in_every_browser_of_the_user(as_viewer: Client, vera: User) -> None:
    assert as_viewer.post(SETTINGS, CHOSEN)["Location"] == SETTINGS
    html = html_of(logged_in(vera))
    assert html_attributes(html) == {
        "lang": "en",
        "data-theme": "dark",
        "data-density": "comfortable",
    }
    assert {"theme=dark", "density=comfortable", "Asia/Tokyo"} <= chosen(html)
    assert "data-keys" not in elements(html, "body")[0].attributes


def test_settings_do_not_affect_other_users(as_viewer: Client, paula: User) -> None:
    as_viewer.post(SETTINGS, CHOSEN)
    assert set(html_attributes(html_of(logged_in(paula)))) == {"lang"}


@pytest.mark.parametrize("field", ["theme", "density", "time_zone"])
def test_an_invalid_choice_is_rejected_with_a_message(as_viewer: Client, field: str) -> None:
    answer = as_viewer.post(SETTINGS, CHOSEN | {field: "<script>"})
    assert answer.status_code == 422
    assert "Not saved: 1 problem" in response_text(answer)
    assert set(html_attributes(html_of(as_viewer))) == {"lang"}


def test_one_checkbox_shows_times_in_utc(as_viewer: Client) -> None:
    as_viewer.cookies["pressroom_timezone"] = "Asia/Tokyo"
    assert elements(html_of(as_viewer, "/"), "time")[0].attributes["title"].endswith("JST")
    as_viewer.post("/accounts/utc/", {"utc": "on", "next": "/"})
    html = html_of(as_viewer, "/")
    assert elements(html, "time")[0].attributes["title"].endswith("UTC")
    assert "UTC" in text(html[html.index("Updated") : html.index("Updated") + 300])
    as_viewer.post("/accounts/utc/", {"next": "/"})
    assert elements(html_of(as_viewer, "/"), "time")[0].attributes["title"].endswith("JST")


def test_without_a_browser_time_zone_the_zone_is_named(as_viewer: Client) -> None:
    html = html_of(as_viewer, "/")
    assert "UTC" in text(html[html.index("Updated") : html.index("Updated") + 300])


@pytest.fixture
def seen(fake_service: FakeService, as_viewer: Client) -> str:
    """The URL of a recorded page."""
    fake_service.answer = lambda request: httpx.Response(
        200,
        json=envelope()
        if request.url.path.endswith("/audiences")
        else page(pageId="page_1", name="Fleet"),
    )
    html_of(as_viewer, "/pages/page_1/")
    return "/pages/page_1/"


def pin(client: Client, page_id: str, *, off: bool = False, **more: Any) -> Any:
    return client.post(
        "/accounts/pin/", {"page_id": page_id, "pinned": "" if off else "1", "next": "/"}, **more
    )


def pins(html: str) -> str:
    start = html.find('id="pins"')
    return text(html[html.index(">", start) + 1 : html.index("</div>", start)])


def test_a_pinned_page_leads_sidebar_and_palette(as_viewer: Client, seen: str) -> None:
    assert "Pinned" not in html_of(as_viewer, "/")
    assert pin(as_viewer, "page_1").url == "/"
    assert pins(html_of(as_viewer, "/")) == "Pinned Fleet"
    palette = as_viewer.get("/find/", headers={"HX-Request": "true", "HX-Target": "palette-list"})
    assert response_text(palette).startswith("Pinned Fleet")
    assert "Recently visited" not in response_text(palette)


def test_a_pin_is_removed_on_page_or_settings(as_viewer: Client, seen: str) -> None:
    pin(as_viewer, "page_1")
    assert "Unpin" in text(html_of(as_viewer, seen))
    assert "Fleet" in text(html_of(as_viewer))
    pin(as_viewer, "page_1", off=True)
    assert "Unpin" not in text(html_of(as_viewer, seen))
    assert "Nothing pinned." in text(html_of(as_viewer))


def test_htmx_gets_the_button_and_the_sidebar(as_viewer: Client, seen: str) -> None:
    answer = pin(as_viewer, "page_1", headers={"HX-Request": "true", "HX-Target": "pin"})
    html = answer.text
    assert "Unpin" in text(html)
    assert pins(html) == "Pinned Fleet"
    assert "<html" not in html


def test_the_last_twelve_pins_are_saved_once_each(as_viewer: Client) -> None:
    for number in [*range(14), 5]:
        pin(as_viewer, f"page_{number}")
    ids = [
        element.attributes["value"]
        for element in elements(html_of(as_viewer), "input")
        if element.attributes.get("name") == "page_id"
    ]
    assert ids == [f"page_{number}" for number in (5, 13, 12, 11, 10, 9, 8, 7, 6, 4, 3, 2)]


def test_an_invalid_pin_is_rejected(as_viewer: Client) -> None:
    assert pin(as_viewer, "").status_code == 400
    assert pin(as_viewer, "a\0b").status_code == 400


def test_settings_add_no_query_to_a_request(
    as_viewer: Client, django_assert_num_queries: Any
) -> None:
    as_viewer.post(SETTINGS, CHOSEN)
    as_viewer.cookies.pop(FORM_SENT_COOKIE)
    shell_state()  # counts once; the page below uses the cache
    # The session, the user, two queries for permissions, the bell's count, and the views.
    with django_assert_num_queries(7):
        as_viewer.get("/accounts/password/")
