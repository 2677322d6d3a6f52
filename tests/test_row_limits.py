"""Limits of rows per owner hold when two are added at the same moment."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection

from dashboard.notifications.models import Follow, NotificationError, WebhookFormat, WebhookTarget
from dashboard.notifications.preferences import MAX_FOLLOWS, follow
from dashboard.notifications.targets import MAX_TARGETS, add_target
from dashboard.saved_views.models import SavedView
from dashboard.saved_views.rules import MAX_VIEWS, SavedViewError, create_view, edit_view
from tests.support.interleaving import PATIENCE_S, before_commit, before_statement, begun, held_at
from tests.support.seeding import seed_target, seed_view


def add_webhook(user: User, name: str) -> None:
    url = "https://hooks.example.com/1"
    add_target(user, is_team=False, name=name, url=url, format=WebhookFormat.SLACK)


def save_view(user: User, name: str) -> None:
    create_view(user, "audiences", name=name, query="live=changed")


def seed_followed(user: User, number: int) -> None:
    follow(user, f"page_{number}")


@pytest.mark.parametrize(
    ("seed", "add", "model", "limit"),
    [
        (lambda user, pk: seed_target(pk, user=user), add_webhook, WebhookTarget, MAX_TARGETS),
        (seed_view, save_view, SavedView, MAX_VIEWS),
        (seed_followed, follow, Follow, MAX_FOLLOWS),
    ],
    ids=["webhooks", "saved views", "follows"],
)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_two_at_once_are_not_more_than_the_limit(
    vera: User,
    seed: Callable[[User, int], object],
    add: Callable[[User, str], object],
    model: type[WebhookTarget | SavedView | Follow],
    limit: int,
) -> None:
    for number in range(1_001, 1_000 + limit):
        seed(vera, number)
    with held_at(before_commit(), add, vera, "first"):
        second = begun(before_statement(f'"{model._meta.db_table}"'), add, vera, "second")
    with pytest.raises((NotificationError, SavedViewError)):
        second.result(PATIENCE_S)
    assert model._default_manager.count() == limit


@pytest.mark.django_db
def test_a_full_team_takes_no_more_views(vera: User) -> None:
    for number in range(1, MAX_VIEWS + 1):
        seed_view(None, number)
    own = seed_view(vera, 1_000, name="Own")
    with pytest.raises(SavedViewError, match="50 views of this list already"):
        edit_view(own, vera, name="Own", is_team=True, is_team_default=False)
