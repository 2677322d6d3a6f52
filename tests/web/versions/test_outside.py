"""The history marks the versions that were published outside Pressroom."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.one_audience import get, serve
from tests.support.seeding import seed_outside_publish

pytestmark = pytest.mark.django_db

MARK = "Published outside Pressroom"


@pytest.fixture(autouse=True)
def _two_versions(fake_service: FakeService) -> None:
    serve(fake_service, wire.audience())


def rows(client: Client) -> dict[str, str]:
    """Return the text of each row by the id of its version."""
    parts = get(client, "version-list").split('<li id="row-')[1:]
    return {part.split('"', 1)[0]: text(f"<li {part}") for part in parts}


def test_only_the_version_that_was_published_outside_has_the_mark(as_viewer: Client) -> None:
    seed_outside_publish(1)
    marked = {version_id: row.count(MARK) for version_id, row in rows(as_viewer).items()}
    assert marked == {"ver_2": 0, "ver_1": 1}
    assert "No operation on record." in rows(as_viewer)["ver_1"]


def test_each_of_the_last_three_times_is_shown(as_viewer: Client) -> None:
    for day in range(4):
        at = timezone.now() - timedelta(days=day)
        seed_outside_publish(1, published_at=at, noticed_at=at)
    assert rows(as_viewer)["ver_1"].count(MARK) == 3


def test_a_version_without_a_date_has_the_time_when_it_was_noticed(as_viewer: Client) -> None:
    seed_outside_publish(1, published_at=None)
    assert MARK in rows(as_viewer)["ver_1"]


@pytest.mark.parametrize("ids", [{"page_id": "page_2"}, {"audience_id": "aud_2"}])
def test_the_same_version_id_elsewhere_is_another_version(
    as_viewer: Client, ids: dict[str, Any]
) -> None:
    seed_outside_publish(1, **ids)
    assert MARK not in rows(as_viewer)["ver_1"]


def test_what_goes_live_while_the_page_is_open_is_marked(
    as_viewer: Client, fake_service: FakeService
) -> None:
    assert MARK not in rows(as_viewer)["ver_2"]
    second = wire.live_version(versionId="ver_2", versionNumber=2)
    serve(fake_service, wire.audience(latestVersion=second, publishedVersion=second))
    part = get(as_viewer, "version-list", target="watch", was="before")
    assert MARK in text(part)
