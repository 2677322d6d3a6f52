"""The switch of a webhook subscription, on the list and on its page."""

from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_POST
from django_htmx.http import retarget

from dashboard.ledger.models import SubscriptionRecord
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.web.http import Request, address_back
from dashboard.web.operation_keys import next_key, operation_key_in
from dashboard.web.permissions import UPDATE_SUBSCRIPTION, requires
from dashboard.web.subscription_switch import Switched, carry_out_switch, switch_on_record
from dashboard.web.subscription_updates import begin_update

STATES = {"on": True, "off": False}
LOST_KEY = "The switch had lost its key, so nothing was sent. It has a new one: press it again."


@require_POST
@requires(UPDATE_SUBSCRIPTION)
def subscription_active(request: Request, subscription_id: str) -> HttpResponse:
    """Switch to what `active` says, `on` or `off`; ask before switching off."""
    record = subscription_last_known(subscription_id)
    if record is None:
        raise Http404
    wanted = STATES.get(request.POST.get("active", ""))
    if wanted is None or not operation_key_in(request.POST):
        return _answer(request, Switched(record, LOST_KEY))
    if not wanted and "confirmed" not in request.POST:
        return _ask(request, record)
    key = operation_key_in(request.POST)
    operation, attempt = begin_update(request, record, key, {"active": wanted})
    if attempt is None:
        return _answer(request, switch_on_record(record, operation))
    return _answer(request, carry_out_switch(record, operation, attempt, active=wanted))


def _ask(request: Request, record: SubscriptionRecord) -> HttpResponse:
    """Ask first: in a dialog where htmx can show one, otherwise on a page."""
    context = {
        "here": "webhooks",
        "record": record,
        "asks": "off",
        "operation_key": next_key(operation_key_in(request.POST)),
        "back": _back(request, record),
    }
    if not request.htmx:
        return render(request, "webhooks/confirm.html", context)
    dialog = render(request, "webhooks/confirm.html#dialogs", context)
    # Settled at once: later, htmx would take the focus back to where the dialog began.
    dialog["HX-Reswap"] = "innerHTML settle:0"
    return retarget(dialog, "#dialogs")


def _answer(request: Request, switched: Switched) -> HttpResponse:
    """Draw the switch anew, or go back to where it stands."""
    record = switched.record
    if request.htmx:
        context = {
            "record": record,
            "switched": switched,
            "operation_key": str(uuid4()),
            "back": _back(request, record),
        }
        return render(request, "webhooks/_switch.html", context)
    if switched.said:
        messages.error(request, f"{record}: {switched.said}")
    else:
        messages.success(request, f"{record} is {'on' if record.active else 'off'}.")
    return redirect(_back(request, record))


def _back(request: Request, record: SubscriptionRecord) -> str:
    """Return the address of the page on which the switch was pressed."""
    otherwise = resolve_url("subscription-detail", record.subscription_id)
    return address_back(request, "back", otherwise)
