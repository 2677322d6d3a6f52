"""Saved views: create, change and move them, and choose the defaults of the lists."""

import unicodedata
from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max

from dashboard import clock
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.ledger.models.operations import actor_name
from dashboard.limits import has_room
from dashboard.saved_views.models import MAX_VIEW_NAME, DefaultView, ListName, SavedView

MAX_VIEWS = 50
"""Views per list, for each user and for the team. Source: our choice."""
FULL = f"There are {MAX_VIEWS} views of this list already. Delete one first."
GONE = "This view was deleted or moved. Reload the page."
MAX_QUERY = 3000
"""Characters: servers limit a URL to 4,094."""
DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Bidirectional classes of the characters that could disguise a name. Source: Unicode, UAX 9."""


class SavedViewError(Exception):
    """Invalid input: nothing was saved. `str(error)` is a sentence, `field` its input or ""."""

    def __init__(self, sentence: str, *, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


@transaction.atomic
def create_view(
    user: User, list_name: str, *, name: str, query: str, is_team: bool = False
) -> SavedView:
    """Save the state of a list as a view of the user, or of the team. Raises SavedViewError.

    Sending the same form again returns the same view.
    """
    name = _clean_name(name)
    _check_scope(list_name, is_team=is_team)
    _check_query(query)
    owner = None if is_team else user
    views = SavedView.objects.filter(owner=owner, list_name=list_name)
    same = views.filter(name=name, query=query, created_by_name=actor_name(user))
    is_full = not has_room(views, at_most=MAX_VIEWS)
    if view := same.first():
        return view
    if is_full:
        raise SavedViewError(FULL)
    now, actor = clock.now(), actor_name(user)
    view = SavedView(
        list_name=list_name,
        name=name,
        query=query,
        owner=owner,
        position=_next_position(owner),
        created_at=now,
        created_by_name=actor,
        changed_at=now,
        changed_by_name=actor,
    )
    try:
        return _save(view)
    except SavedViewError:
        # The same form was sent at the same moment.
        if saved := same.first():
            return saved
        raise


def update_query(view: SavedView, query: str, user: User) -> SavedView:
    """Save the changed state of the list. Raises SavedViewError."""
    _check_query(query)
    return _change(view, user, query=query)


@transaction.atomic
def edit_view(
    view: SavedView, user: User, *, name: str, is_team: bool, is_team_default: bool
) -> SavedView:
    """Rename a view, give it to the team or to the user, and make it the team's default or not.

    A view taken from the team stops being a default for others. Raises SavedViewError.
    """
    columns: dict[str, Any] = {"name": _clean_name(name)}
    if view.is_team and not is_team:
        _add_to_feed(None)
    _check_scope(view.list_name, is_team=is_team)
    if is_team != view.is_team:
        owner = None if is_team else user
        views = SavedView.objects.filter(owner=owner, list_name=view.list_name)
        if not has_room(views, at_most=MAX_VIEWS):
            raise SavedViewError(FULL)
        columns |= {"owner": owner, "position": _next_position(owner)}
    _change(view, user, **columns)
    if not is_team:
        DefaultView.objects.filter(view=view).exclude(user=user).delete()
    elif is_team_default:
        set_default(view.list_name, view, user=None)
    else:
        DefaultView.objects.filter(view=view, user=None).delete()
    return view


@transaction.atomic
def move_view(view: SavedView, *, is_up: bool) -> None:
    """Move a view by one place among its owner's, or the team's, views of the same list.

    Raises SavedViewError if it was deleted or moved.
    """
    views = [*SavedView.objects.select_for_update().filter(owner=view.owner)]
    if view not in views:
        raise SavedViewError(GONE)
    of_list = [other for other in views if other.list_name == view.list_name]
    place = of_list.index(view) + (-1 if is_up else 1)
    if not 0 <= place < len(of_list):
        return
    first, second = views.index(view), views.index(of_list[place])
    views[first], views[second] = views[second], views[first]
    for position, other in enumerate(views):
        other.position = position
    SavedView.objects.bulk_update(views, ["position"])
    _add_to_feed(view.owner_id)


@transaction.atomic
def delete_view(view: SavedView) -> None:
    view.delete()
    _add_to_feed(view.owner_id)


def is_team_default(view: SavedView) -> bool:
    """Return whether the list opens with this view for users without their own default."""
    return DefaultView.objects.filter(view=view, user=None).exists()


@transaction.atomic
def set_default(list_name: str, view: SavedView | None, *, user: User | None) -> None:
    """Set the default view of a list, or None for the whole list. `user` is None for the team.

    Raises SavedViewError if the view was deleted or moved.
    """
    if view:
        _lock(view)
    DefaultView.objects.update_or_create(user=user, list_name=list_name, defaults={"view": view})
    _add_to_feed(user.pk if user else None)


@transaction.atomic
def clear_default(list_name: str, *, user: User | None) -> None:
    """Remove the default view of a list. `user` is None for the team."""
    if DefaultView.objects.filter(user=user, list_name=list_name).delete()[0]:
        _add_to_feed(user.pk if user else None)


def _add_to_feed(owner_id: int | None) -> None:
    """Add the views of a user, or the team views (None), which everybody sees."""
    feed.add(FeedEntry(kind=FeedKind.SAVED_VIEW, user_id=owner_id))


def _next_position(owner: User | None) -> int:
    last: int | None = SavedView.objects.filter(owner=owner).aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


def _clean_name(name: str) -> str:
    """Return the name without outer spaces. Raises SavedViewError."""
    name = name.strip()
    if not name:
        raise SavedViewError("Enter a name.", field="name")
    if len(name) > MAX_VIEW_NAME:
        raise SavedViewError(f"Enter at most {MAX_VIEW_NAME} characters.", field="name")
    if any(map(_is_control, name)):
        raise SavedViewError("Remove line breaks and control characters.", field="name")
    return name


def _is_control(character: str) -> bool:
    """Return whether a character is a control, or changes the direction of what follows it."""
    is_direction = unicodedata.bidirectional(character) in DIRECTIONS
    return is_direction or unicodedata.category(character) in ("Cc", "Zl", "Zp", "Cs")


def _check_scope(list_name: str, *, is_team: bool) -> None:
    if is_team and list_name == ListName.PEOPLE:
        sentence = "A view of people can’t be shared: it may hold personal data."
        raise SavedViewError(sentence, field="share")


def _check_query(query: str) -> None:
    if not query:
        raise SavedViewError(
            "Nothing to save yet. Search, filter, sort or change the display first."
        )
    if len(query) > MAX_QUERY:
        raise SavedViewError("Too many filters to save. Remove some first.")


def _lock(view: SavedView) -> None:
    if not SavedView.objects.select_for_update().filter(pk=view.pk, owner=view.owner).first():
        raise SavedViewError(GONE)


@transaction.atomic
def _change(view: SavedView, user: User, **columns: Any) -> SavedView:
    """Change only these columns: another user may be changing the others. Raises SavedViewError."""
    _lock(view)
    columns |= {"changed_at": clock.now(), "changed_by_name": actor_name(user)}
    for name, value in columns.items():
        setattr(view, name, value)
    return _save(view, columns)


def _save(view: SavedView, columns: Collection[str] | None = None) -> SavedView:
    """Save a view. Raises SavedViewError if the name is taken."""
    try:
        with transaction.atomic():
            view.save(update_fields=columns)
            _add_to_feed(view.owner_id)
    except IntegrityError as error:
        whose = "The team has" if view.is_team else "You have"
        sentence = f"{whose} a view with this name already. Choose another name."
        raise SavedViewError(sentence, field="name") from error
    return view
