"""What a person may do. Groups are made by a migration. Source: DESIGN.md, Rights."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse

from dashboard.web.http import Request

PUBLISH = "ledger.publish_version"
CREATE_PAGE = "ledger.create_page"
UPDATE_SUBSCRIPTION = "ledger.update_subscription"

REFUSALS = {
    PUBLISH: "You may look at versions but not publish them. The group Publishers may.",
    CREATE_PAGE: "You may look at pages but not create them. The group Publishers may.",
    UPDATE_SUBSCRIPTION: (
        "You may look at webhooks but not change them. The group Administrators may."
    ),
}

View = Callable[..., HttpResponse]


def requires(permission: str) -> Callable[[View], View]:
    """Refuse with 403 and a sentence whoever lacks the permission."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.has_perm(permission):
                raise PermissionDenied(REFUSALS[permission])
            return view(request, *args, **kwargs)

        return guarded

    return decorate
