"""The counts of views: from the ledger, in one query, cached, with their coverage."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import OperationalError, connection
from django.test import Client

from dashboard.saved_views.queries import views_of
from dashboard.web.saved_views.counts import MAX_COUNTED, count_views
from tests.support import wire
from tests.support.operations import operation
from tests.support.queries import queries_of
from tests.support.saved_views import SavedViews
from tests.support.seeding import seed_audiences, seed_pages, seed_subscription, seed_view

pytestmark = pytest.mark.django_db


def queries_of_counts(client: Client, url: str) -> list[str]:
    # The overview's chart is a union of operations and publications.
    unions = [sql for sql in queries_of(lambda: client.get(url)) if "UNION ALL" in sql]
    return [sql for sql in unions if "ledger_publication" not in sql]


def test_each_list_is_counted_as_its_rows_are(
    audiences: None, as_viewer: Client, vera: User, paula: User
) -> None:
    seed_subscription()
    operation(paula, "key-1")
    queries = {"audiences": "live=changed", "pages": "q=fleet", "activity": "actor=paula"}
    for pk, (name, query) in enumerate((queries | {"webhooks": "state=on"}).items(), start=1):
        seed_view(vera, pk, list_name=name, query=query)
    counts = count_views(views_of(vera), vera).items()
    assert {pk: count.count for pk, count in counts} == {1: 1, 2: 1, 3: 1, 4: 1}
    assert not any(count.is_partial for _, count in counts)


def test_people_and_events_of_webhooks_are_not_counted(vera: User) -> None:
    seed_view(vera, 1, list_name="people", query="q=ada")
    seed_view(vera, 2, list_name="webhooks", query="event=form.submitted")
    assert count_views(views_of(vera), vera) == {}


def test_an_incomplete_ledger_gives_minimum_counts(views: SavedViews, vera: User) -> None:
    seed_pages(wire.page(), total=9)
    seed_audiences(wire.audience())
    seed_view(vera, name="Mine")
    assert "Mine 1+" in views.open("/audiences/?live=changed").text


def test_all_counts_take_one_query_and_then_none(
    audiences: None, as_viewer: Client, vera: User
) -> None:
    for pk in range(1, 11):
        seed_view(vera, pk, query=f"q={pk}")
    assert len(queries_of_counts(as_viewer, "/audiences/?q=1")) == 1
    assert queries_of_counts(as_viewer, "/pages/") == []
    assert len(count_views(views_of(vera), vera)) == MAX_COUNTED


def test_a_changed_view_is_counted_at_once(audiences: None, views: SavedViews, vera: User) -> None:
    seed_view(vera, name="Mine", query="live=up-to-date")
    assert "Mine 0" in views.open("/").text
    views.press("save", state="live=changed")
    assert "Mine 1" in views.open("/").text


def test_counts_are_shared_by_all_who_see_them(
    audiences: None, as_viewer: Client, as_publisher: Client
) -> None:
    seed_view(None)
    assert len(queries_of_counts(as_viewer, "/")) == 1
    assert queries_of_counts(as_publisher, "/") == []


def test_a_page_is_shown_although_views_cannot_be_read(views: SavedViews, vera: User) -> None:
    seed_view(vera, name="Mine")

    def fail(execute: Any, sql: str, *arguments: Any) -> Any:
        if "savedview" in sql:
            raise OperationalError("no such table")
        return execute(sql, *arguments)

    cache.clear()
    with connection.execute_wrapper(fail):
        assert "Mine" not in views.open("/audiences/").text


def test_a_value_that_may_not_exist_is_not_counted(audiences: None, vera: User) -> None:
    seed_view(vera, 1, query="status=paused")
    seed_view(vera, 2, query="live=changed")
    counts = count_views(views_of(vera), vera)
    assert [counts[1].count, counts[2].count] == [None, 1]
