"""Follow a page, an audience or a saved view."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from dashboard.ledger.models import SavedView, SubscriptionRecord
from dashboard.ledger.models.saved_views import ListName
from dashboard.notifications.errors import NotificationError
from dashboard.notifications.models import Follow, Followed
from dashboard.notifications.snapshots import take_snapshot
from dashboard.time_limits import recorded_after

MAX_FOLLOWS = 200
"""Per user. Source: our choice."""


@transaction.atomic
def follow(
    user: User, page_id: str = "", audience_id: str = "", *, view: SavedView | None = None
) -> Follow:
    """Follow a page, one audience of it, or a saved view, unless the user does.

    The caller checks that it exists. Raises NotificationError if the user follows too much, and for
    a view of people: they are read from the service, and none of them is recorded.
    """
    if view and view.list_name == ListName.PEOPLE:
        raise NotificationError(
            "A view of people can’t be followed: Pressroom doesn’t store who is in it."
        )
    now = timezone.now()
    followed, is_new = Followed.objects.get_or_create(
        page_id=page_id, audience_id=audience_id, view=view, defaults={"compare_since": now}
    )
    if is_new or not followed.follows.exists():
        # What changed while it had no followers is not news.
        followed.compare_since = now - recorded_after()
        followed.view_query = view.query if view else ""
        followed.subscriptions = SubscriptionRecord.objects.count()
        followed.snapshot = take_snapshot(followed)
        followed.save(update_fields=["compare_since", "view_query", "subscriptions", "snapshot"])
    found, is_new = Follow.objects.get_or_create(
        user=user, followed=followed, defaults={"created_at": now}
    )
    if is_new and Follow.objects.filter(user=user).count() > MAX_FOLLOWS:
        raise NotificationError(
            f"You follow {MAX_FOLLOWS} things, which is the maximum. Unfollow some first."
        )
    return found


def unfollow(
    user: User, page_id: str = "", audience_id: str = "", *, view_id: int | None = None
) -> None:
    """Follow it no longer; nothing if the user does not."""
    _follows(user, page_id, audience_id, view_id).delete()


def is_followed(
    user: User, page_id: str = "", audience_id: str = "", *, view_id: int | None = None
) -> bool:
    """Return whether a user follows it. One query."""
    return _follows(user, page_id, audience_id, view_id).exists()


def list_follows(user: User) -> QuerySet[Follow]:
    """Return what a user follows, the latest first, with `followed` and its view.

    Not a view that the user can no longer open, as somebody else has taken it from the team.
    """
    found = Follow.objects.filter(user=user).select_related("followed__view")
    return found.filter(visible_to_follower())


def visible_to_follower() -> Q:
    """Return the condition that the follower of a saved view can open it."""
    return Q(followed__view__owner=None) | Q(followed__view__owner=F("user"))


def _follows(user: User, page_id: str, audience_id: str, view_id: int | None) -> QuerySet[Follow]:
    return Follow.objects.filter(
        user=user,
        followed__page_id=page_id,
        followed__audience_id=audience_id,
        followed__view=view_id,
    )
