"""One webhook subscription: what it holds, the form that changes it, and its label.

A form carries what it was drawn from and which body it has shown. So only what was changed is
sent, only a body that was seen is sent, and a change by somebody else is shown and not undone.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from dashboard.contract.webhooks import EventName, WebhookSubscription
from dashboard.contract.wire import WireModel
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.subscriptions import label_subscription, subscription_last_known
from dashboard.web.forms.webhooks import PICK, EditForm, LabelForm
from dashboard.web.http import Request, render_part
from dashboard.web.operation_keys import next_key, operation_key_in
from dashboard.web.operations import Carried
from dashboard.web.permissions import UPDATE_SUBSCRIPTION, requires
from dashboard.web.readings import Reading
from dashboard.web.sending import send
from dashboard.web.subscription_edit import Held, merged, moves, not_as_asked, shown_as
from dashboard.web.subscription_reading import last_known, read_again
from dashboard.web.subscription_rows import subscription_row
from dashboard.web.subscription_updates import (
    begin_update,
    hold_back,
    update_on_record,
)

NOTHING_CHANGED = "Nothing is changed, so nothing was sent."
LOST_KEY = "This form had lost its key, so nothing was sent. It has a new one: save again."


@require_http_methods(["GET", "HEAD", "POST"])
def subscription_detail(request: Request, subscription_id: str) -> HttpResponse:
    """Show a subscription as it is now; show what a change would send; change it; label it."""
    record = subscription_last_known(subscription_id)
    if record is None:
        context = {"here": "webhooks", "subscription_id": subscription_id}
        return render_part(request, "webhooks/unknown.html", context, status=404)
    if request.method == "POST":
        return _change(request, record)
    return _show(request, read_again(record))


@requires(UPDATE_SUBSCRIPTION)
def _change(request: Request, record: SubscriptionRecord) -> HttpResponse:
    step = request.POST.get("step", "")
    if step == "label":
        return _label(request, record)
    base = Held.read(request.POST.get("seen", "")) or _held(record)
    if step in ("all", "none"):
        return _show(request, _as_known(record), _ticked(request, base, step))
    form = EditForm(request.POST, base=base)
    if step == "look" or not form.is_valid():
        return _show(request, _as_known(record), form, status=200 if step == "look" else 422)
    if why := _why_not_yet(request, form):
        return _show(request, _as_known(record), form, **why)
    return _save(request, record, form)


def _why_not_yet(request: Request, form: EditForm) -> dict[str, Any]:
    """Return what keeps a form that is in order from being sent; empty where nothing does."""
    if not form.body:
        return {"notice": NOTHING_CHANGED}
    if not operation_key_in(request.POST):
        return {"notice": LOST_KEY, "status": 422}
    has_shown = request.POST.get("shown") == shown_as(form.body)
    return {} if has_shown else {"is_review": True}


def _save(request: Request, record: SubscriptionRecord, form: EditForm) -> HttpResponse:
    """Send what was shown, unless the service holds something else by now."""
    key, reading = operation_key_in(request.POST), read_again(record)
    if on_record := update_on_record(request.POST, record):
        return _sent_before(request, reading, form, on_record)
    if reading.error:
        held = hold_back(request, record, key, form.body, reading.error)
        return _show(request, reading, form, failed=held, status=503)
    now = _held(reading.value)
    if moved := moves(form.base, form.wanted, now):
        merge = EditForm(None, base=now, wanted=merged(form.base, form.wanted, now))
        return _show(request, reading, merge, moved=moved, status=409)
    operation, attempt = begin_update(request, reading.value, key, form.body)
    if attempt is None:
        return _sent_before(request, reading, form, operation)
    return _told(request, reading, form, send(operation, attempt))


def _told(
    request: Request,
    reading: Reading[SubscriptionRecord],
    form: EditForm,
    carried: Carried[WireModel],
) -> HttpResponse:
    """Tell what became of a change that was sent."""
    if isinstance(carried.answer, WebhookSubscription):
        return _saved(request, reading.value, form, carried.answer)
    more: dict[str, Any] = {"failed": carried.operation, "error": carried.error}
    if carried.error and carried.operation.outcome != Outcome.UNKNOWN:
        form.add_refusal(carried.error)
        return _show(request, reading, form, status=422, **more)
    return _show(request, reading, form, status=502, **more)


def _saved(
    request: Request, record: SubscriptionRecord, form: EditForm, answer: WebhookSubscription
) -> HttpResponse:
    if differing := not_as_asked(form.body, answer):
        said = f"The service said yes, and yet not as asked for: {', '.join(differing)}."
        messages.warning(request, said)
    else:
        messages.success(request, f"Saved: {', '.join(form.body)}.")
    return redirect("subscription-detail", record.subscription_id)


def _sent_before(
    request: Request, reading: Reading[SubscriptionRecord], form: EditForm, operation: Operation
) -> HttpResponse:
    """The form was sent before: show what became of that, and send nothing."""
    if operation.outcome == Outcome.ACCEPTED:
        messages.info(request, "This form was sent before. Nothing was sent again.")
        return redirect("subscription-detail", reading.value.subscription_id)
    if operation.outcome == Outcome.SENDING:
        return redirect("operation-detail", operation.operation_key)
    return _show(request, reading, form, failed=operation, is_repeated=True, status=409)


def _label(request: Request, record: SubscriptionRecord) -> HttpResponse:
    form = LabelForm(request.POST)
    if not form.is_valid():
        return _show(request, _as_known(record), label_form=form, status=422)
    label_subscription(record.subscription_id, form.cleaned_data["label"])
    messages.success(request, "The label is saved. Nothing was sent to the service.")
    return redirect("subscription-detail", record.subscription_id)


def _ticked(request: Request, base: Held, step: str) -> EditForm:
    """Return the form as typed, with every event of the spec ticked, or none."""
    data = request.POST.copy()
    data["mode"] = PICK
    data.setlist("events", [event.value for event in EventName] if step == "all" else [])
    return EditForm(data, base=base)


def _held(record: SubscriptionRecord) -> Held:
    """Return what a subscription holds as last seen; nothing, where that can't be read."""
    subscription = last_known(record)
    return Held.by(subscription) if subscription else Held(record.url, None)


def _as_known(record: SubscriptionRecord) -> Reading[SubscriptionRecord]:
    return Reading(record, record.last_seen_at)


def _show(
    request: Request,
    reading: Reading[SubscriptionRecord],
    form: EditForm | None = None,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    record = reading.value
    form = form or EditForm(None, base=_held(record))
    body = form.body if not form.is_bound or form.is_valid() else None
    context = {
        "here": "webhooks",
        "reading": reading,
        "record": record,
        "row": subscription_row(record),
        "form": form,
        "body": body,
        "shown": shown_as(body or {}),
        "label_form": LabelForm(initial={"label": record.label}),
        "operation_key": next_key(operation_key_in(request.POST)),
        **more,
    }
    parts = ("sending",)
    return render_part(request, "webhooks/detail.html", context, parts=parts, status=status)
