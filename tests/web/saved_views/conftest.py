"""A ledger with audiences and pages, and saved views in two browsers."""

import pytest
from django.test import Client

from tests.support import wire
from tests.support.saved_views import SavedViews
from tests.support.seeding import seed_audiences, seed_pages


@pytest.fixture
def audiences(db: None) -> None:
    """Two audiences of one page: one with unpublished changes, one not live."""
    seed_pages(wire.page())
    seed_audiences(
        wire.audience(),
        wire.audience(audienceId="aud_2", effectiveName="Altmark", publishedVersion=None),
    )


@pytest.fixture
def views(as_viewer: Client) -> SavedViews:
    """Saved views in Vera's browser."""
    return SavedViews(as_viewer)


@pytest.fixture
def paulas(as_publisher: Client) -> SavedViews:
    """Saved views in Paula's browser."""
    return SavedViews(as_publisher)
