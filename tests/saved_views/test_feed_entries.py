"""Changes of team views are in the feed for everyone, changes of own views for their owner."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.saved_views.models import SavedView
from dashboard.saved_views.rules import (
    SavedViewError,
    clear_default,
    create_view,
    edit_view,
    move_view,
    set_default,
    update_query,
)
from tests.support.feed import added_to_feed
from tests.support.saved_views import SavedViews
from tests.support.seeding import seed_view

pytestmark = pytest.mark.django_db

CHANGES: dict[str, Callable[[SavedView, User], object]] = {
    "query": lambda view, user: update_query(view, "q=autumn", user),
    "name": lambda view, user: edit_view(
        view, user, name="Autumn", is_team=view.is_team, is_team_default=False
    ),
    "move": lambda view, _: move_view(view, is_up=False),
    "default": lambda view, user: set_default(
        view.list_name, view, user=None if view.is_team else user
    ),
}


@pytest.mark.parametrize("is_team", [True, False], ids=["team", "own"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_added_for_whom_the_view_is(
    ada: User, change: Callable[[SavedView, User], object], is_team: bool
) -> None:
    owner = None if is_team else ada
    view = seed_view(owner, 1, position=0)
    seed_view(owner, 2, position=1)
    with added_to_feed() as entries:
        change(view, ada)
    assert [(entry.kind, entry.user_id) for entry in entries] == [
        ("saved_view", None if is_team else ada.pk)
    ]


def test_a_new_view_is_added_once_and_a_refused_one_is_not(ada: User) -> None:
    with added_to_feed() as entries:
        for _ in range(2):
            create_view(ada, "pages", name="Drafts", query="q=spring")
        with pytest.raises(SavedViewError):
            create_view(ada, "pages", name="Drafts", query="q=autumn")
    assert [entry.user_id for entry in entries] == [ada.pk]


def test_a_view_that_its_owner_takes_from_the_team_is_added_for_both(ada: User) -> None:
    view = seed_view(None)
    with added_to_feed() as entries:
        edit_view(view, ada, name="Mine", is_team=False, is_team_default=False)
    assert [entry.user_id for entry in entries] == [None, ada.pk]


def test_a_view_that_is_deleted_is_added(as_administrator: Client) -> None:
    view = seed_view(None)
    with added_to_feed() as entries:
        SavedViews(as_administrator).press("delete", view.pk)
    assert not SavedView.objects.exists()
    assert [(entry.kind, entry.user_id) for entry in entries] == [("saved_view", None)]


def test_a_default_is_added_when_it_is_removed(ada: User) -> None:
    set_default("audiences", seed_view(ada), user=ada)
    with added_to_feed() as entries:
        clear_default("audiences", user=ada)
        clear_default("audiences", user=ada)
    assert [entry.user_id for entry in entries] == [ada.pk]
