from collections import Counter
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from dashboard.compiled_query import compiled
from dashboard.saved_views.models import DefaultView, SavedView


class ViewOfUser(NamedTuple):
    """A view that a user can open, and whether it is a default for them."""

    pk: int
    list_name: str
    name: str
    query: str
    is_team: bool
    is_own_default: bool
    is_team_default: bool
    has_own_default: bool
    """Whether the user chose a default for this list: this view, another one, or the whole list."""
    has_twin: bool = False
    """Whether the user can open another view of the list with the same query."""

    @property
    def is_default(self) -> bool:
        """Whether the list opens with it: the user's own default wins."""
        return self.is_own_default or (self.is_team_default and not self.has_own_default)


def views_of(user: User) -> list[ViewOfUser]:
    """Return the user's own views, then the team's, each in their order; one query."""
    views = _views.rows(user.pk)
    counts = Counter((view.list_name, view.query) for view in views)
    marked = [view._replace(has_twin=counts[view.list_name, view.query] > 1) for view in views]
    return sorted(marked, key=lambda view: view.is_team)


def find_view(user: User, pk: int) -> SavedView | None:
    """Return a view of the user or of the team; None if they can't open it."""
    return SavedView.objects.filter(Q(owner=user) | Q(owner=None), pk=pk).first()


@compiled(lambda row: ViewOfUser(*row))
def _views(user_pk: int) -> "QuerySet[SavedView, Any]":
    own = DefaultView.objects.filter(user=user_pk)
    views = SavedView.objects.filter(Q(owner=user_pk) | Q(owner=None)).annotate(
        of_team=Q(owner=None),
        is_own_default=Exists(own.filter(view=OuterRef("pk"))),
        is_team_default=Exists(DefaultView.objects.filter(user=None, view=OuterRef("pk"))),
        has_own_default=Exists(own.filter(list_name=OuterRef("list_name"))),
    )
    return views.values_list(
        *("pk", "list_name", "name", "query"),
        *("of_team", "is_own_default", "is_team_default", "has_own_default"),
    )
