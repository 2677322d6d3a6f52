"""If two users change different fields of a view at the same moment, both changes are saved."""

from functools import partial

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.saved_views.models import DefaultView, SavedView
from dashboard.saved_views.rules import SavedViewError, create_view, edit_view, update_query
from tests.support.html import text
from tests.support.interleaving import before_transaction, held_at
from tests.support.seeding import seed_view


@pytest.mark.django_db
def test_a_view_that_is_renamed_keeps_its_new_filters(ada: User) -> None:
    create_view(ada, "pages", name="Drafts", query="q=spring", is_team=True)
    first, second = (SavedView.objects.get() for _ in range(2))
    update_query(first, "q=autumn", ada)
    edit_view(second, ada, name="Autumn", is_team=True, is_team_default=False)
    view = SavedView.objects.get()
    assert (view.name, view.query) == ("Autumn", "q=autumn")


@pytest.mark.django_db
def test_a_deleted_view_does_not_come_back(ada: User) -> None:
    view = create_view(ada, "pages", name="Drafts", query="q=spring")
    SavedView.objects.all().delete()
    with pytest.raises(SavedViewError, match="deleted or moved"):
        update_query(view, "q=autumn", ada)
    assert not SavedView.objects.exists()


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("act", ["move", "default"])
def test_a_view_deleted_at_that_moment_is_reported(
    as_publisher: Client, paula: User, act: str
) -> None:
    view = seed_view(paula)
    url = "/saved-views/default/" if act == "default" else f"/saved-views/{view.pk}/move/"
    press = partial(as_publisher.post, url, {"list": "audiences", "view": view.pk, "move": "up"})
    with held_at(before_transaction(), press) as pressing:
        SavedView.objects.all().delete()
    assert pressing.result().status_code == 302
    assert "deleted or moved" in text(as_publisher.get("/saved-views/").text)
    assert not DefaultView.objects.exists()
