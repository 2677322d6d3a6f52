"""The history marks versions that were published outside Pressroom."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.one_audience import get, serve
from tests.support.seeding import seed_publication

pytestmark = pytest.mark.django_db

MARK = "Published outside Pressroom"


@pytest.fixture(autouse=True)
def _two_versions(fake_service: FakeService) -> None:
    serve(fake_service, wire.audience())


def rows(client: Client) -> dict[str, str]:
    """Return the text of each row by version id."""
    parts = get(client, "version-list").split('<li id="row-')[1:]
    return {part.split('"', 1)[0]: text(f"<li {part}") for part in parts}


def test_only_an_outside_publish_has_the_mark(as_viewer: Client) -> None:
    seed_publication(1)
    marked = {version_id: row.count(MARK) for version_id, row in rows(as_viewer).items()}
    assert marked == {"ver_2": 0, "ver_1": 1}
    assert "No operation on record." in rows(as_viewer)["ver_1"]


def test_each_of_the_last_three_times_is_shown(as_viewer: Client) -> None:
    for day in (3, 2, 1, 0):
        at = timezone.now() - timedelta(days=day)
        seed_publication(1, started_at=at)
    assert rows(as_viewer)["ver_1"].count(MARK) == 3


def test_an_undated_version_has_the_time_it_was_noticed(as_viewer: Client) -> None:
    seed_publication(1, published_at=None, is_start_seen=True)
    assert MARK in rows(as_viewer)["ver_1"]


@pytest.mark.parametrize("ids", [{"page_id": "page_2"}, {"audience_id": "aud_2"}])
def test_the_same_version_id_elsewhere_is_another_version(
    as_viewer: Client, ids: dict[str, Any]
) -> None:
    seed_publication(1, **ids)
    assert MARK not in rows(as_viewer)["ver_1"]


def test_a_version_going_live_is_marked_at_once(
    as_viewer: Client, fake_service: FakeService
) -> None:
    assert MARK not in rows(as_viewer)["ver_2"]
    second = wire.live_version(versionId="ver_2", versionNumber=2)
    serve(fake_service, wire.audience(latestVersion=second, publishedVersion=second))
    part = get(as_viewer, "version-list", target="watch", was="before")
    assert MARK in text(part)
