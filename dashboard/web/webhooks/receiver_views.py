"""The receiver: a URL that a webhook subscription can point to, and the log of its deliveries.

Deliveries are stored and shown. Nothing acts on them: their sender is not authenticated.
"""

import json
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, may, requires
from dashboard.contract.webhooks import EventName
from dashboard.ledger.models import Delivery
from dashboard.ledger.models.operations import actor_name
from dashboard.ledger.receiver import (
    get_delivery,
    get_receiver,
    is_receiver_secret,
    list_deliveries,
    record_delivery,
    replace_secret,
    switch_receiver,
)
from dashboard.rate_limits import seconds_to_wait
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import int_param
from dashboard.web.ui.request_body import BodyTooLargeError, IncompleteBodyError, read_body
from dashboard.web.webhooks.deliveries import MAX_BODY, MAX_PER_MINUTE, build_delivery

PAGE_SIZE = 50


# The service has no session and no CSRF token: the secret in the URL authorizes it.
@csrf_exempt
@login_not_required
@require_POST
def hook(request: HttpRequest, secret: str) -> HttpResponse:
    """Record a delivery to the receiver, whatever its content."""
    if not is_receiver_secret(secret):
        return _text_response("Receiver not found.", 404)
    if wait := seconds_to_wait("receiver", at_most=MAX_PER_MINUTE):
        limit = f"Limit of {MAX_PER_MINUTE} requests a minute exceeded. Try again later."
        return _text_response(limit, 429, headers={"Retry-After": str(wait)})
    try:
        body = read_body(request, at_most=MAX_BODY)
    except BodyTooLargeError:
        return _text_response(f"The body exceeds {MAX_BODY} bytes. Nothing was stored.", 413)
    except IncompleteBodyError:
        return _text_response("The body is incomplete. Nothing was stored.", 400)
    record_delivery(build_delivery(request.headers, body))
    return _text_response("Received.", 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(UPDATE_SUBSCRIPTION, methods=("POST",))
def receiver_page(request: Request) -> HttpResponse:
    """Show the receiver and its deliveries by `?event= before=`; change its state or URL."""
    if request.method == "POST":
        return _change(request)
    event = request.GET.get("event", "")
    chosen = event if event in set(EventName) else ""
    before = int_param(request.GET.get("before", "")) or None
    found = list(list_deliveries(event=chosen, before=before)[: PAGE_SIZE + 1])
    state = get_receiver()
    path = reverse("hook", kwargs={"secret": state.secret})
    context = {
        "here": "webhooks",
        "receiver": state,
        "receiver_url": request.build_absolute_uri(path)
        if may(request, UPDATE_SUBSCRIPTION)
        else "",
        "events": list(EventName),
        "event": chosen,
        "deliveries": found[:PAGE_SIZE],
        "next": found[PAGE_SIZE - 1].pk if len(found) > PAGE_SIZE else None,
        "max_per_minute": MAX_PER_MINUTE,
    }
    return render(request, "webhooks/receiver/detail.html", context)


@require_GET
def delivery_detail(request: Request, number: int) -> HttpResponse:
    """Show one delivery. Headers and body may hold personal data, for administrators only."""
    delivery = get_delivery(number)
    if delivery is None:
        raise Http404
    may_read = may(request, UPDATE_SUBSCRIPTION)
    context = {
        "here": "webhooks",
        "delivery": delivery,
        "may_read": may_read,
        "parsed": _parsed(delivery) if may_read else None,
    }
    return render(request, "webhooks/receiver/delivery.html", context)


def _change(request: Request) -> HttpResponse:
    name = actor_name(request.user)
    match request.POST.get("do"):
        case "on":
            switch_receiver(is_on=True, by=name)
            messages.success(request, "Receiver turned on. Copy its URL into a subscription.")
        case "off":
            switch_receiver(is_on=False, by=name)
            messages.success(request, "Receiver turned off. Requests return 404.")
        case "replace":
            replace_secret(by=name)
            messages.success(request, "URL replaced. The old one returns 404.")
    return redirect("receiver")


def _parsed(delivery: Delivery) -> dict[str, Any] | None:
    """Return the body's JSON as `{"json": …}`, or None if it is invalid or truncated."""
    try:
        return {"json": json.loads(delivery.body)} if not delivery.is_cut else None
    except (ValueError, RecursionError):
        return None


def _text_response(text: str, status: int, **options: Any) -> HttpResponse:
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain", **options)
