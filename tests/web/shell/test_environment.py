"""Every page shows the environment and the service."""

from typing import Any

import pytest
from django.test import Client

from dashboard.web.shell.context_processors import TONES
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text


def pills(html: str) -> list[str]:
    """Return the tone of every environment name on a page."""
    options = [element.attributes for element in elements(html, "span")]
    return [item["data-tone"] for item in options if item.get("class") == "badge pill one-line"]


@pytest.mark.django_db
def test_login_and_shell_show_the_environment(as_viewer: Client, settings: Any) -> None:
    settings.ENVIRONMENT_NAME, settings.ENVIRONMENT_COLOUR = "Staging <2>", "amber"
    for browser, address in ((Client(), "/accounts/login/"), (as_viewer, "/find/")):
        page = browser.get(address).text
        assert "Staging <2>" in text(page)
        assert set(pills(page)) == {"warn"}


@pytest.mark.django_db
def test_the_admin_and_the_api_docs_show_the_environment(admin_client: Client) -> None:
    assert "Pressroom · Tests" in response_text(admin_client.get("/admin/"))
    page = Client().get("/service/docs").text
    assert "Tests" in text(page)
    assert pills(page) == ["plain"]


def test_two_colors_are_two_tones() -> None:
    assert len(set(TONES.values())) == len(TONES) == 6


@pytest.mark.django_db
def test_the_shell_shows_the_service_host(
    as_viewer: Client, fake_service: FakeService, settings: Any
) -> None:
    settings.SERVICE_URL = "https://api.staging.example:8443/base"
    settings.SERVICE_API_KEY = "a-key-of-the-tests"
    assert "api.staging.example:8443" in response_text(as_viewer.get("/find/"))
    assert "api.staging.example" not in Client().get("/accounts/login/").text
    settings.SERVICE_URL = None
    assert "Built-in API" in response_text(as_viewer.get("/find/"))


@pytest.mark.django_db
def test_a_page_renders_once_it_is_complete(as_viewer: Client) -> None:
    html = as_viewer.get("/").text
    [link] = [link for link in elements(html, "link") if link.attributes.get("rel") == "expect"]
    assert link.attributes["blocking"] == "render"
    awaited = link.attributes["href"].removeprefix("#")
    assert html.index("</main>") < html.index(f'id="{awaited}"')
