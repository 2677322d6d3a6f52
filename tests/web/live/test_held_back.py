"""A poll while an open transaction holds the feed back."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from dashboard.ledger.feed import changes_since
from tests.support.feed import feed_writers
from tests.support.html import text
from tests.support.live_page import LivePage
from tests.support.seeding import seed_notification

pytestmark = [
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer"),
]


def test_the_bell_follows_while_the_feed_is_held_back(vera: User, as_viewer: Client) -> None:
    with feed_writers(1) as [writer]:
        writer.begin()
        writer.add("held")
        page = LivePage(as_viewer)
        seed_notification(vera)
        # Other databases hold the feed back, too, so entries of the set-up may come meanwhile.
        assert changes_since(None).delay_s is not None
        assert "1 unread notification" in text(page.poll().html)
        assert "unread notification" not in text(page.poll().html)
