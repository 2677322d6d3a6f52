"""The receiver: an address that a webhook subscription can point to, and the log of what came.

What arrives is written down and shown. Nothing here acts on it: nobody can say who sent it.
"""

import json
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
)
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

from dashboard.contract.webhooks import EventName
from dashboard.ledger.actors import actor_name
from dashboard.ledger.models import Delivery
from dashboard.ledger.receiver import (
    deliveries,
    forget_old_deliveries,
    is_the_secret,
    receiver,
    record_delivery,
    replace_secret,
    switch_receiver,
)
from dashboard.web.deliveries import (
    LARGEST_BODY,
    MOST_A_MINUTE,
    BodyBrokeOffError,
    BodyTooLargeError,
    delivery_of,
    read_body,
    seconds_to_wait,
)
from dashboard.web.http import Request
from dashboard.web.permissions import UPDATE_SUBSCRIPTION, demand, may

SHOWN = 50


# The service has no session and no form of ours: the secret in the address is all there is.
@csrf_exempt
@login_not_required
def hook(request: HttpRequest, secret: str) -> HttpResponse:
    """Write down what arrives at the receiver's address, whatever it is."""
    request.path = reverse("receiver")  # The log of requests notes it, and is no place for secrets.
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if not is_the_secret(secret):
        return _said("There is no receiver here.", 404)
    if wait := seconds_to_wait():
        busy = _said(f"More than {MOST_A_MINUTE} in a minute. Try again later.", 429)
        busy["Retry-After"] = str(wait)
        return busy
    try:
        body = read_body(request)
    except BodyTooLargeError:
        return _said(f"Over {LARGEST_BODY} bytes. Nothing of it was kept.", 413)
    except BodyBrokeOffError:
        return _said("The body broke off. Nothing of it was kept.", 400)
    record_delivery(delivery_of(request.headers, body))
    return _said("Received.", 200)


@require_http_methods(["GET", "HEAD", "POST"])
def receiver_page(request: Request) -> HttpResponse:
    """Show the receiver and what arrived, by `?event= before=`; switch it, replace its address."""
    if request.method == "POST":
        return _change(request)
    forget_old_deliveries()
    event = request.GET.get("event", "")
    chosen = event if event in set(EventName) else ""
    found = list(deliveries(event=chosen, before=_number(request, "before"))[: SHOWN + 1])
    state = receiver()
    address = reverse("hook", kwargs={"secret": state.secret})
    context = {
        "here": "webhooks",
        "receiver": state,
        "address": request.build_absolute_uri(address) if _may_change(request) else "",
        "events": list(EventName),
        "event": chosen,
        "deliveries": found[:SHOWN],
        "next": found[SHOWN - 1].pk if len(found) > SHOWN else None,
        "most_a_minute": MOST_A_MINUTE,
    }
    return render(request, "hooks/receiver.html", context)


@require_GET
def delivery_detail(request: Request, number: int) -> HttpResponse:
    """Show one delivery. Headers and body may hold personal data: they are for administrators."""
    found = Delivery.objects.filter(pk=number).first()
    if found is None:
        raise Http404
    may_read = _may_change(request)
    context = {
        "here": "webhooks",
        "delivery": found,
        "may_read": may_read,
        "parsed": _parsed(found) if may_read else None,
    }
    return render(request, "hooks/delivery.html", context)


def _change(request: Request) -> HttpResponse:
    demand(request, UPDATE_SUBSCRIPTION)
    name = actor_name(request.user)
    match request.POST.get("do"):
        case "on":
            switch_receiver(is_on=True, by=name)
            messages.success(request, "The receiver is on. Copy its address into a subscription.")
        case "off":
            switch_receiver(is_on=False, by=name)
            messages.success(request, "The receiver is off. Whatever is sent to it gets a 404.")
        case "replace":
            replace_secret(by=name)
            messages.success(request, "The address is a new one. The old one gets a 404.")
    return redirect("receiver")


def _may_change(request: Request) -> bool:
    return may(request, UPDATE_SUBSCRIPTION)


def _parsed(delivery: Delivery) -> dict[str, Any] | None:
    """Return the body's JSON as `{"json": …}`, or None where it is none or was cut."""
    try:
        return {"json": json.loads(delivery.body)} if not delivery.is_cut else None
    except (ValueError, RecursionError):
        return None


def _number(request: Request, name: str) -> int | None:
    words = request.GET.get(name, "")
    return int(words) if words.isdecimal() and len(words) < 16 else None


def _said(words: str, status: int) -> HttpResponse:
    return HttpResponse(f"{words}\n", status=status, content_type="text/plain")
