"""What a person may do. Groups are made by a migration. Source: DESIGN.md, Rights.

A right is asked for here and nowhere else: having it is not enough where the rule on second factors
holds, which is about the session.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from dashboard.web.http import Request
from dashboard.web.second_factor import lacks_second_factor

PUBLISH = "ledger.publish_version"
CREATE_PAGE = "ledger.create_page"
UPDATE_SUBSCRIPTION = "ledger.update_subscription"
MANAGE_PEOPLE = "auth.change_user"

REFUSALS = {
    PUBLISH: "You may look at versions but not publish them. The group Publishers may.",
    CREATE_PAGE: "You may look at pages but not create them. The group Publishers may.",
    UPDATE_SUBSCRIPTION: (
        "You may look at webhooks but not change them. The group Administrators may."
    ),
    MANAGE_PEOPLE: "How people sign in is for the group Administrators.",
}

View = Callable[..., HttpResponse]


class SecondFactorNeededError(PermissionDenied):
    """The right is there; the session has to show a second factor before it is used."""


def may(request: HttpRequest, permission: str) -> bool:
    """Whether this person may do this now."""
    return request.user.has_perm(permission) and not lacks_second_factor(request)


def demand(request: HttpRequest, permission: str, *, refusal: str = "") -> None:
    """Let who may do this pass.

    Raises PermissionDenied with a sentence, SecondFactorNeededError where that alone is missing.
    """
    if not request.user.has_perm(permission):
        raise PermissionDenied(refusal or REFUSALS[permission])
    demand_second_factor(request)


def demand_second_factor(request: HttpRequest) -> None:
    """Let a session pass that has what the rule asks for. Raises SecondFactorNeededError."""
    if lacks_second_factor(request):
        raise SecondFactorNeededError(
            "Publishers must use a second factor here, and this session has shown none."
        )


def requires(permission: str) -> Callable[[View], View]:
    """Refuse with 403 and a sentence whoever lacks the permission."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
            demand(request, permission)
            return view(request, *args, **kwargs)

        return guarded

    return decorate
