"""If two users change different fields of a view at the same moment, both changes are saved."""

import pytest
from django.contrib.auth.models import User

from dashboard.saved_views.models import SavedView
from dashboard.saved_views.rules import SavedViewError, create_view, edit_view, update_query


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
