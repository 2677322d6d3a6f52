"""No list says or offers anything twice, or offers what can't be used."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.support.fake_service import FakeService
from tests.support.html import page_html, page_text
from tests.support.seeding import seed_view
from tests.web.every_page import answer

pytestmark = pytest.mark.django_db


def test_one_screen_has_one_time_of_update(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answer = answer
    for address in ("/audiences/", "/pages/", "/pages/?q=fleet&sort=name", "/pages/page_1/"):
        page = page_text(as_viewer, address)
        body = page[page.index("Updated ") :]
        assert not re.search(r"[Uu]pdated \d", body.replace("Updated ", "", 1)), address


def test_viewers_have_no_empty_columns(
    as_viewer: Client, as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.answer = answer
    columns = [
        page_html(client, "/pages/page_1/").count('class="actions"')
        for client in (as_viewer, as_publisher)
    ]
    assert columns[0] == 0
    assert columns[1] > 1


def test_instant_filters_have_no_apply_button(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answer = answer
    for address in ("/audiences/", "/pages/"):
        html = re.sub(
            r"<noscript>.*?</noscript>", "", page_html(as_viewer, address), flags=re.DOTALL
        )
        assert html.count(">Apply</button>") == 1, address  # The one of the display settings.


def test_a_saved_view_is_not_offered_again(
    as_viewer: Client, vera: User, fake_service: FakeService
) -> None:
    seed_view(vera, query="live=changed")
    form_opens = 'popovertarget="save-view">'
    assert (
        page_html(as_viewer, "/audiences/?live=changed").count(form_opens) == 2
    )  # New view and Cancel.
    assert page_html(as_viewer, "/audiences/?live=live").count(form_opens) == 3
