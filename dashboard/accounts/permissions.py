"""Permissions of users. A migration creates the groups.

Check permissions only with these functions: the rule on second factors may require more than the
permission of the session's user.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from dashboard.accounts.sessions import lacks_second_factor
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind

PUBLISH = "ledger.publish_version"
CREATE_PAGE = "ledger.create_page"
UPDATE_SUBSCRIPTION = "ledger.update_subscription"
MANAGE_PEOPLE = "auth.change_user"
MANAGE_APPROVALS = "approvals.manage_approvals"
MANAGE_DELIVERIES = "notifications.manage_deliveries"
CHANGE_TEAM_VIEWS = "saved_views.change_team_views"
REMOVE_COMMENTS = "comments.remove_comments"
MANAGE_SITE = "previews.manage_site"

REFUSALS = {
    PUBLISH: "You need the Publisher role to publish.",
    CREATE_PAGE: "You need the Publisher role to create pages.",
    UPDATE_SUBSCRIPTION: "You need the Administrator role to edit webhooks.",
    MANAGE_PEOPLE: "You need the Administrator role to manage sign-in settings.",
    MANAGE_APPROVALS: "You need the Administrator role to change the approval rule.",
    MANAGE_DELIVERIES: "You need the Administrator role to manage deliveries and team webhooks.",
    REMOVE_COMMENTS: "You need the Administrator role to remove others’ comments.",
    MANAGE_SITE: "You need the Administrator role to set the address of the site.",
    CHANGE_TEAM_VIEWS: "Only publishers and administrators can change the team’s views.",
}
"""Sentence for a user who lacks the permission. The rule on second factors applies to users with
any of these permissions."""

USER_RIGHTS = {"is_active", "is_staff", "is_superuser"}
"""Columns of a user that decide what the user may do."""

View = Callable[..., HttpResponse]


class AuthenticatedRequest(HttpRequest):
    user: User


class SecondFactorNeededError(PermissionDenied):
    """The user has the permission, but the session lacks a second factor."""


def may(request: HttpRequest, permission: str) -> bool:
    """Whether the user has the permission, and the session a second factor if required."""
    return request.user.has_perm(permission) and not lacks_second_factor(request)


def note_changed_rights(
    instance: User | Group,
    action: str = "",
    update_fields: Iterable[str] | None = None,
    **more: Any,
) -> None:
    """Add an entry to the feed for the user, or for everybody after a change of a group.

    Receiver of Django's signals about users, groups and their permissions.
    """
    is_about_rights = update_fields is None or not USER_RIGHTS.isdisjoint(update_fields)
    if is_about_rights and not action.startswith("pre_"):
        user_id = instance.pk if isinstance(instance, User) else None
        feed.add(FeedEntry(kind=FeedKind.RIGHTS, user_id=user_id))


def require_permission(request: HttpRequest, permission: str, *, refusal: str = "") -> None:
    """Require a permission.

    Raises PermissionDenied with a sentence, or SecondFactorNeededError if only that is missing.
    """
    if not request.user.has_perm(permission):
        raise PermissionDenied(refusal or REFUSALS[permission])
    require_second_factor(request)


def require_second_factor(request: HttpRequest) -> None:
    """Require a second factor if the rule does. Raises SecondFactorNeededError."""
    if lacks_second_factor(request):
        raise SecondFactorNeededError(
            "Publishers and administrators must sign in with a second factor."
        )


def must_set_up_second_factor(request: HttpRequest) -> bool:
    if not request.user.is_authenticated or not lacks_second_factor(request):
        return False
    return request.user.is_staff or any(
        request.user.has_perm(permission) for permission in REFUSALS
    )


def requires(
    permission: str, *, methods: tuple[str, ...] = (), refusal: str = ""
) -> Callable[[View], View]:
    """Require a permission for a view; otherwise respond with 403 and a sentence.

    `methods` limits it to requests of these methods, such as ("POST",).
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not methods or request.method in methods:
                require_permission(request, permission, refusal=refusal)
            return view(request, *args, **kwargs)

        return guarded

    return decorate
