from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from dashboard.compiled_query import compiled
from dashboard.saved_views.models import DefaultView, SavedView


@dataclass(frozen=True)
class ViewOfUser:
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


class ViewRow(NamedTuple):
    pk: int
    list_name: str
    name: str
    query: str
    owner_id: int | None
    is_own_default: bool
    is_team_default: bool
    has_own_default: bool


def views_of(user: User) -> list[ViewOfUser]:
    """Return the user's own views, then the team's, each in their order; one query."""
    views = _views.rows(user.pk)
    counts = Counter((row.list_name, row.query) for row in views)
    rows = [
        ViewOfUser(
            pk=row.pk,
            list_name=row.list_name,
            name=row.name,
            query=row.query,
            is_team=row.owner_id is None,
            is_own_default=row.is_own_default,
            is_team_default=row.is_team_default,
            has_own_default=row.has_own_default,
            has_twin=counts[row.list_name, row.query] > 1,
        )
        for row in views
    ]
    return sorted(rows, key=lambda row: row.is_team)


def find_view(user: User, pk: int) -> SavedView | None:
    """Return a view of the user or of the team; None if they can't open it."""
    return SavedView.objects.filter(Q(owner=user) | Q(owner=None), pk=pk).first()


@compiled(ViewRow._make)
def _views(user_pk: int) -> "QuerySet[SavedView, Any]":
    own = DefaultView.objects.filter(user=user_pk)
    views = SavedView.objects.filter(Q(owner=user_pk) | Q(owner=None)).annotate(
        is_own_default=Exists(own.filter(view=OuterRef("pk"))),
        is_team_default=Exists(DefaultView.objects.filter(user=None, view=OuterRef("pk"))),
        has_own_default=Exists(own.filter(list_name=OuterRef("list_name"))),
    )
    return views.values_list(*ViewRow._fields)
