"""The page of the receiver: its URL, its signing secret and its deliveries."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, may, requires
from dashboard.accounts.sessions import absolute_url
from dashboard.contract.webhooks import EventName
from dashboard.ledger.models.operations import actor_name
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import Choice
from dashboard.web.lists.state import ListState
from dashboard.web.ui.forms import sent_form_key
from dashboard.web.ui.highlighting import has_hidden_characters
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.query_params import int_param
from dashboard.web.webhooks.deliveries import MAX_PER_MINUTE, MAX_SIGNED_PER_MINUTE, indented_json
from dashboard.web.webhooks.forms import SigningSecretForm
from dashboard.webhooks.receiver import (
    can_verify,
    get_receiver,
    list_deliveries,
    recent_deliveries,
    replace_secret,
    set_signing_secret,
    switch_receiver,
)

EVENT = Choice("event", "Event", values=tuple(EventName), all_label="All events", column="event")
DELIVERIES = ListDefinition(filters=(EVENT,), start="before")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(UPDATE_SUBSCRIPTION, methods=("POST",))
def receiver_page(request: Request) -> HttpResponse:
    """Show the receiver and its deliveries by `?event= before=`, or change the receiver.

    An open page polls its partial "deliveries". `?after=` is the newest delivery that it shows.
    """
    if wants_partial(request, ("deliveries",)):
        return _poll_deliveries(request)
    is_secret = request.POST.get("do") == "sign"
    form = SigningSecretForm(request.POST if is_secret else None, label_suffix="")
    if request.method == "POST" and (form.is_valid() or not form.is_bound):
        return _change(request, form)
    context = _deliveries_context(request)
    receiver = context["receiver"]
    path = reverse("hook", kwargs={"secret": receiver.secret})
    context |= {
        "here": "webhooks",
        "receiver_url": absolute_url(request, path) if may(request, UPDATE_SUBSCRIPTION) else "",
        "max_per_minute": MAX_SIGNED_PER_MINUTE if receiver.signing_secret else MAX_PER_MINUTE,
        "form": form,
        "can_verify": can_verify(receiver),
    }
    status = 422 if form.is_bound else 200
    return render_partial(request, "webhooks/receiver/detail.html", context, status=status)


def _deliveries_context(request: Request) -> dict[str, Any]:
    state = ListState.parse(DELIVERIES, request.GET)
    deliveries, next_pk = state.page_of(list_deliveries().filter(state.condition))
    return {
        "receiver": get_receiver(),
        "state": state,
        "deliveries": deliveries,
        "next_pk": next_pk,
        "newest": deliveries[0].pk if deliveries else 0,
        "announcement": "",
    }


def _poll_deliveries(request: Request) -> HttpResponse:
    context, after = _deliveries_context(request), int_param(request.GET.get("after", ""))
    arrived = sum(delivery.pk > after for delivery in context["deliveries"])
    if not arrived:
        return HttpResponse(status=204)
    context["announcement"] = f"{arrived} new deliver{pluralize(arrived, 'y,ies')}"
    return render_partial(request, "webhooks/receiver/detail.html", context, parts=("deliveries",))


@require_GET
def delivery_detail(request: Request, number: int) -> HttpResponse:
    """Show a delivery. Only administrators see headers and body, which may hold personal data."""
    delivery = get_object_or_404(recent_deliveries(), pk=number)
    may_read = may(request, UPDATE_SUBSCRIPTION)
    body = indented_json(delivery.body) if may_read and not delivery.is_cut else None
    changes = [*delivery.changes]
    if body and has_hidden_characters(body):
        changes.append("hidden characters are shown as their codes")
    context = {
        "here": "webhooks",
        "delivery": delivery,
        "may_read": may_read,
        "json": body,
        "changes": changes,
    }
    return render(request, "webhooks/receiver/delivery.html", context)


def _change(request: Request, form: SigningSecretForm) -> HttpResponse:
    name = actor_name(request.user)
    match request.POST.get("do"):
        case "on":
            switch_receiver(is_on=True, by=name)
            messages.success(request, "Receiver turned on. Copy its URL into a subscription.")
        case "off":
            switch_receiver(is_on=False, by=name)
            messages.success(request, "Receiver turned off. Requests return 404.")
        case "replace":
            replace_secret(by=name, form_key=sent_form_key(request))
            messages.success(request, "URL replaced. The old one returns 404.")
        case "sign":
            set_signing_secret(form.cleaned_data["signing_secret"], by=name)
            messages.success(request, "Secret saved. Unsigned requests return 401.")
        case "unsign":
            set_signing_secret("", by=name)
            messages.success(request, "Secret removed. Signatures are no longer verified.")
    return redirect("receiver")
