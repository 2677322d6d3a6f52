"""Failures as pages: what happened, what did not change, what to do."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views import defaults
from django_htmx.http import HttpResponseClientRedirect

from dashboard.client import (
    APIError,
    BadAnswerError,
    KeyRefusedError,
    NoAnswerError,
    NotFoundError,
    RateLimitedError,
)
from dashboard.web.languages import number
from dashboard.web.page_drafts import asks_quietly, keep_what_was_posted
from dashboard.web.permissions import SecondFactorNeededError
from dashboard.web.request_notes import current_request_id

SECTIONS = {
    "pages": "page-list",
    "people": "people-list",
    "webhooks": "subscription-list",
    "activity": "operation-list",
}
"""The names of the sections, each with that of the page that lists what is in it."""


@dataclass(frozen=True)
class Failure:
    """An error as a person reads it."""

    status: int
    icon: str
    title: str
    what_to_do: str
    detail: str = ""
    way: str = ""
    """The name of the page that helps, where there is one."""


def explain(error: APIError) -> Failure:
    """Return the status, the headline and the next step of a failed call."""
    said = str(error)
    match error:
        case NotFoundError():
            return Failure(
                404,
                "search",
                "Not found",
                "It may have been removed, or the address is not whole.",
                said,
            )
        case KeyRefusedError():
            return Failure(
                502,
                "key",
                "The service refused our key",
                "An administrator has to check SERVICE_API_KEY.",
                said,
            )
        case RateLimitedError():
            return Failure(
                503, "clock", "The service asks us to wait", "Wait a moment, then try again.", said
            )
        case NoAnswerError():
            return Failure(
                504,
                "offline",
                "The service is not answering",
                "Nothing was changed. Try again in a moment.",
                said,
            )
        case BadAnswerError():
            return Failure(
                502,
                "st-unread",
                "The service's answer can't be read",
                "Nothing was changed. Tell whoever runs the service where it went wrong.",
                said,
            )
        case _:
            return Failure(
                502,
                "alert",
                "The service could not do this",
                "Nothing was changed. Try again in a moment.",
                said,
            )


def service_error(request: HttpRequest, error: APIError) -> HttpResponse:
    """Answer a failed call: a page by itself, a message where htmx asked for a part."""
    return _show(request, explain(error))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: no such address."""
    return _show(
        request,
        Failure(404, "search", "Not found", "Check the address, or start from the overview."),
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: this person may not do this."""
    said = str(exception) or "Your account may not do this."
    if isinstance(exception, SecondFactorNeededError):
        what_to_do = "Nothing was changed. Set one up, then come back."
        return _show(
            request, Failure(403, "lock", "Second factor needed", what_to_do, said, "settings")
        )
    return _show(
        request, Failure(403, "lock", "Not allowed", "Ask an administrator if you need to.", said)
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """413: a form too large to be read; 400: anything else that no browser sends."""
    if not isinstance(exception, RequestDataTooBig | TooManyFieldsSent):
        return defaults.bad_request(request, exception)
    fields = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    size = settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 2**20
    return _show(
        request,
        Failure(
            413,
            "alert",
            "Too much for one form",
            "Go back, where what you typed still stands, and make it shorter.",
            f"Nothing was sent. One form takes {number(fields)} fields and {number(size)} MB.",
        ),
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: the form is not one of this session's. What has a draft is kept and gone on with."""
    ticket = keep_what_was_posted(request)
    if ticket and asks_quietly(request):
        return HttpResponse(status=204)
    if ticket and ticket.person_id == request.user.pk:
        messages.warning(
            request, "You signed in anew since this form was drawn. Nothing was sent yet."
        )
        return _to_page(request, ticket.address)
    if ticket and not request.user.is_authenticated:
        login = redirect_to_login(ticket.address, resolve_url(settings.LOGIN_URL))
        return _to_page(request, login.url)
    what_to_do = (
        "It was drawn for another person. What was typed is kept as a draft of theirs."
        if ticket
        else "Nothing was changed. Go back, reload the page and try again."
    )
    return _show(request, Failure(403, "lock", "This form is out of date", what_to_do))


def _to_page(request: HttpRequest, address: str) -> HttpResponse:
    """Go to a whole page, which htmx would put into a part of this one."""
    is_part = getattr(request, "htmx", None)
    return HttpResponseClientRedirect(address) if is_part else redirect(address)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: our own fault."""
    return _show(
        request,
        Failure(
            500,
            "alert",
            "Something went wrong here",
            "This is a fault of the dashboard, and it is in its log.",
        ),
    )


def _section(path: str) -> str:
    """Return the name of the section that a path lies in, or nothing."""
    return next((name for name, view in SECTIONS.items() if path.startswith(reverse(view))), "")


def _show(request: HttpRequest, failure: Failure) -> HttpResponse:
    template = "errors/message.html" if getattr(request, "htmx", None) else "errors/page.html"
    here = _section(request.path)
    context = {
        "failure": failure,
        "here": here,
        "list_view": SECTIONS.get(here),
        "now": timezone.now(),
        "request_id": current_request_id(),
    }
    try:
        return render(request, template, context, status=failure.status)
    except DatabaseError:
        # What failed may be what the shell stands on: who is here, and how the service does.
        return HttpResponse(render_to_string("errors/bare.html", context), status=failure.status)
