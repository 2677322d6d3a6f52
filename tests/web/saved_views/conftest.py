"""A ledger with audiences and pages, and helpers for saved views."""

from typing import Any

import pytest
from django.test import Client

from tests.support import wire
from tests.support.html import response_text
from tests.support.seeding import seed_audiences, seed_pages

NEW = "/saved-views/new/"


@pytest.fixture
def audiences(db: None) -> None:
    """Two audiences of one page: one with unpublished changes, one not live."""
    seed_pages(wire.page())
    seed_audiences(
        wire.audience(),
        wire.audience(audienceId="aud_2", effectiveName="Altmark", publishedVersion=None),
    )


def save(client: Client, list_name: str = "audiences", **fields: Any) -> Any:
    """Submit the form that saves a list as a view."""
    form = {"list": list_name, "state": "live=changed", "name": "Changed"} | fields
    return client.post(NEW, form)


def followed_text(client: Client, url: str) -> str:
    """Follow redirects; return the text of the page."""
    response = client.get(url, follow=True)
    assert response.status_code == 200
    return response_text(response)
