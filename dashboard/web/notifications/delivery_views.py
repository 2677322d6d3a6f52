"""The delivery log, for administrators: what was sent by e-mail and webhook."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import replace_url

from dashboard.accounts.permissions import MANAGE_DELIVERIES, requires
from dashboard.notifications.delivery_log import (
    delivery_counts,
    get_delivery,
    list_deliveries,
    send_again,
)
from dashboard.notifications.messages import message_of, words_of
from dashboard.notifications.models import Channel, Delivery, DeliveryState
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.load_more import params_for_all_rows, size_param
from dashboard.web.ui.query_params import int_param

BADGES = {
    DeliveryState.WAITING: ("Waiting", "st-pending", "info"),
    DeliveryState.SENT: ("Sent", "st-published", "ok"),
    DeliveryState.GIVEN_UP: ("Given up", "st-failed", "bad"),
    DeliveryState.DROPPED: ("Not sent", "st-off", "plain"),
}
CHANNELS = [Channel.EMAIL, Channel.WEBHOOK]


@require_GET
@requires(MANAGE_DELIVERIES)
def delivery_log(request: Request) -> HttpResponse:
    """List deliveries, newest first, filtered by `?state= channel=`.

    `?before=` is the primary key of the last one before the list, `show=` the number of rows.
    """
    state, channel = request.GET.get("state", ""), request.GET.get("channel", "")
    filters = {
        "state": state if state in DeliveryState.values else "",
        "channel": channel if channel in CHANNELS else "",
    }
    size, before = size_param(request.GET), int_param(request.GET.get("before", "")) or None
    rows = list(list_deliveries(**filters, before=before)[: size + 1])
    is_more, deliveries = len(rows) > size, rows[:size]
    context = filters | {
        "deliveries": deliveries,
        "next_pk": deliveries[-1].pk if is_more else None,
        "is_continued": before is not None,
        "counts": delivery_counts(),
        "badges": BADGES,
        "states": DeliveryState.choices,
        "channels": CHANNELS,
    }
    response = render_partial(request, "notifications/deliveries.html", context, parts=("rows",))
    if request.htmx.target != "rows":
        return response
    shown = params_for_all_rows(request, ("before",), len(deliveries))
    chosen = {name: value for name, value in filters.items() if value}
    return replace_url(response, f"{request.path}?{urlencode({**chosen, **shown})}")


@require_GET
@requires(MANAGE_DELIVERIES)
def delivery_entry(request: Request, delivery_id: int) -> HttpResponse:
    """Show one delivery: its events, its attempts, and what the receiver responded."""
    delivery = _delivery(delivery_id)
    message = message_of(delivery)
    context = {
        "delivery": delivery,
        "attempts": list(delivery.attempt_log.all()),
        "badge": BADGES[DeliveryState(delivery.state)],
        "message": message,
        "events": [(event, words_of(event)) for event in message.events],
    }
    return render(request, "notifications/delivery.html", context)


@require_POST
@requires(MANAGE_DELIVERIES)
def delivery_send(request: Request, delivery_id: int) -> HttpResponse:
    """Have a worker send a delivery again."""
    delivery = _delivery(delivery_id)
    if send_again(delivery):
        messages.success(request, "It’s sent again within seconds, with the same message ID.")
    else:
        messages.info(request, "It’s being sent at this moment. Reload the page for the result.")
    return redirect("delivery-entry", delivery.pk)


def _delivery(delivery_id: int) -> Delivery:
    delivery = get_delivery(delivery_id)
    if delivery is None:
        raise Http404
    return delivery
