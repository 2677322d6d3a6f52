"""The delivery log of e-mails and webhooks, for administrators."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from dashboard.accounts.permissions import MANAGE_DELIVERIES, requires
from dashboard.notifications.messages import message_of, names_in, words_of
from dashboard.notifications.models import Channel, DeliveryState
from dashboard.notifications.outbox import delivery_counts, list_deliveries, send_again
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import choice_among
from dashboard.web.lists.state import ListState
from dashboard.web.lists.window import render_list
from dashboard.web.ui.htmx import Request

BADGES = {
    DeliveryState.WAITING: ("Waiting", "st-pending", "info"),
    DeliveryState.SENT: ("Sent", "st-published", "ok"),
    DeliveryState.GIVEN_UP: ("Given up", "st-failed", "bad"),
    DeliveryState.DROPPED: ("Not sent", "st-off", "plain"),
}
STATE = choice_among(
    "state", "State", DeliveryState.choices, all_label="All states", column="state"
)
CHANNEL = choice_among(
    "channel",
    "Channel",
    [(channel, channel.label) for channel in (Channel.EMAIL, Channel.WEBHOOK)],
    all_label="All channels",
    column="channel",
)
DELIVERIES = ListDefinition(filters=(STATE, CHANNEL), start="before")


@require_GET
@requires(MANAGE_DELIVERIES)
def delivery_log(request: Request) -> HttpResponse:
    state = ListState.parse(DELIVERIES, request.GET)
    deliveries, next_pk = state.page_of(list_deliveries().filter(state.condition))
    context = {
        "state": state,
        "deliveries": deliveries,
        "next_pk": next_pk,
        "counts": delivery_counts(),
        "badges": BADGES,
    }
    return render_list(
        request,
        "notifications/deliveries.html",
        context,
        state=state,
        added=len(deliveries),
        parts=("rows",),
    )


@require_GET
@requires(MANAGE_DELIVERIES)
def delivery_entry(request: Request, delivery_id: int) -> HttpResponse:
    delivery = get_object_or_404(list_deliveries(), pk=delivery_id)
    message = message_of(delivery)
    context = {
        "delivery": delivery,
        "attempts": list(delivery.attempt_log.all()),
        "badge": BADGES[DeliveryState(delivery.state)],
        "message": message,
        "events": [(event, words_of(event), names_in(event)) for event in message.events],
    }
    return render(request, "notifications/delivery.html", context)


@require_POST
@requires(MANAGE_DELIVERIES)
def delivery_send(request: Request, delivery_id: int) -> HttpResponse:
    delivery = get_object_or_404(list_deliveries(), pk=delivery_id)
    if send_again(delivery):
        messages.success(request, "It’s sent again within seconds, with the same message ID.")
    else:
        messages.info(request, "It’s being sent at this moment. Reload the page for the result.")
    return redirect("delivery-entry", delivery.pk)
