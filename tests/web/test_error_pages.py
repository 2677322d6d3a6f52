"""Where something is not there, or nobody may go: which section that is in, and the way on."""

import pytest
from django.test import Client

from tests.far_end import FarEnd
from tests.web.html import elements, text


def ways_on(html: str) -> list[str]:
    """Return where the links after the heading lead."""
    return [each.attributes["href"] for each in elements(html.partition("<h1>")[2], "a")]


@pytest.mark.parametrize(
    ("address", "status", "ways"),
    [
        ("/pages/page_1/", 404, ["/pages/", "/find/", "/"]),
        ("/activity/no-such-key/", 404, ["/activity/", "/find/", "/"]),
        ("/pages/new/", 403, ["/pages/", "/find/", "/"]),
        ("/nowhere/", 404, ["/find/", "/"]),
    ],
)
def test_what_is_not_there_or_not_allowed_leads_on_and_not_to_itself(
    address: str, status: int, ways: list[str], far_end: FarEnd, as_viewer: Client
) -> None:
    answer = as_viewer.get(address)
    assert answer.status_code == status
    assert ways_on(answer.content.decode()) == ways


def test_a_page_that_is_not_there_is_in_the_section_of_pages(
    far_end: FarEnd, as_viewer: Client
) -> None:
    html = as_viewer.get("/pages/page_1/").content.decode()
    current = [each for each in elements(html, "a") if each.attributes.get("aria-current")]
    assert [each.attributes["href"] for each in current] == ["/pages/"]
    crumbs = html.partition("<ol>")[2].partition("</ol>")[0]
    assert text(crumbs) == "PagesNot found"


def test_a_failed_call_can_be_tried_again(far_end: FarEnd, as_viewer: Client) -> None:
    far_end.answers(500)
    answer = as_viewer.get("/pages/page_1/")
    assert ways_on(answer.content.decode())[0] == "/pages/page_1/"
