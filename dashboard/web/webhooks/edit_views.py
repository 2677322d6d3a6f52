"""A webhook subscription: its fields, and the form that changes them and the label.

The form holds the original fields and the body that it has shown. So only changed fields are sent,
only after the user has seen the body, and nobody's change in the meantime is overwritten. The
label exists in Pressroom only. It is saved after the rest, or alone.
"""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.text import capfirst, get_text_list
from django.views.decorators.http import require_http_methods

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, may, requires
from dashboard.approvals.requests import ApprovalError
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import OperationKeyConflictError
from dashboard.ledger.queries.subscriptions import label_subscription, subscription_last_known
from dashboard.operations.execution import (
    ExecutionResult,
    read_operation_key,
    send,
    unused_operation_key,
)
from dashboard.operations.subscription_update import begin_update, find_update, record_not_sent
from dashboard.service.reading import ReadResult
from dashboard.service.subscriptions import refresh_subscription
from dashboard.web.ui.htmx import Request, is_refresh, render_partial
from dashboard.web.webhooks.approval import needs_approval, request_approval
from dashboard.web.webhooks.forms import EditForm
from dashboard.web.webhooks.listing import subscription_row

NOTHING_CHANGED = "No changes to send."
KEY_IN_USE = (
    "Not sent: this form’s operation key was already used for another request. "
    "Save again to use a new key."
)
FIELD_NAMES = {"label": "label", "url": "URL", "events": "events"}
LOST_KEY = "Not sent: the form had no operation key. Save again."


@require_http_methods(["GET", "HEAD", "POST"])
@requires(UPDATE_SUBSCRIPTION, methods=("POST",))
def subscription_detail(request: Request, subscription_id: str) -> HttpResponse:
    record = subscription_last_known(subscription_id)
    if record is None:
        context = {"here": "webhooks", "subscription_id": subscription_id}
        return render_partial(request, "webhooks/unknown.html", context, status=404)
    if request.method == "POST":
        return _change(request, record)
    if is_refresh(request):  # The change that caused the refresh has read it.
        return _show(request, ReadResult(record, record.last_seen_at))
    return _show(request, refresh_subscription(record))


def _change(request: Request, record: SubscriptionRecord) -> HttpResponse:
    last_known = ReadResult(record, record.last_seen_at)
    form = EditForm.of(record, request.POST)
    if request.POST.get("step") in ("all", "none", "preview"):
        return _show(request, last_known, form)
    if not form.is_valid():
        return _show(request, last_known, form, status=422)
    if form.is_label_changed and not form.body:
        return _show_saved(request, record, form)
    if reason := _not_ready(request, form):
        return _show(request, last_known, form, **reason)
    try:
        return _save(request, record, form)
    except OperationKeyConflictError:
        return _show(request, last_known, form, notice=KEY_IN_USE, status=409)


def _not_ready(request: Request, form: EditForm) -> dict[str, Any]:
    """Return the context that explains why a valid form isn't sent yet; empty if it can be."""
    if not form.body:
        return {"notice": NOTHING_CHANGED}
    if not read_operation_key(request.POST):
        return {"notice": LOST_KEY, "status": 422}
    is_reviewed = request.POST.get("shown") == json.dumps(form.body)
    return {} if is_reviewed else {"is_review": True}


def _save(request: Request, record: SubscriptionRecord, form: EditForm) -> HttpResponse:
    """Send the body that was shown, unless the subscription has changed in the meantime."""
    key, reading = read_operation_key(request.POST), refresh_subscription(record)
    if recorded := find_update(record, key, form.body):
        return _show_repeated(request, reading, form, recorded)
    if reading.error:
        not_sent = record_not_sent(record, key, form.body, reading.error, actor=request.user)
        return _show(request, reading, form, failed=not_sent, status=503)
    merged, conflicts = form.merged_with(reading.value)
    if conflicts:
        return _show(request, reading, merged, conflicts=conflicts, status=409)
    if needs_approval():
        return _request_approval(request, reading, form)
    operation, attempt = begin_update(reading.value, key, form.body, actor=request.user)
    if attempt is None:
        return _show_repeated(request, reading, form, operation)
    return _show_result(request, reading, form, send(operation, attempt))


def _request_approval(
    request: Request, reading: ReadResult[SubscriptionRecord], form: EditForm
) -> HttpResponse:
    try:
        response = request_approval(request, reading.value, form.body)
    except ApprovalError as error:
        return _show(request, reading, form, note_problem=str(error), status=422)
    _save_label(reading.value, form)
    return response


def _show_result(
    request: Request,
    reading: ReadResult[SubscriptionRecord],
    form: EditForm,
    result: ExecutionResult,
) -> HttpResponse:
    if not isinstance(result.response, WebhookSubscription):
        if result.error and result.operation.outcome != Outcome.UNKNOWN:
            form.add_api_error(result.error)
            return _show(request, reading, form, failed=result.operation, status=422)
        return _show(request, reading, form, failed=result.operation, status=502)
    now = result.response.to_wire()
    differing = [name for name, sent in form.body.items() if now.get(name) != sent]
    if not differing:
        return _show_saved(request, reading.value, form)
    _save_label(reading.value, form)
    values = ", ".join(differing)
    message = f"The service accepted the update but returned different values: {values}."
    messages.warning(request, message)
    return redirect("subscription-detail", reading.value.subscription_id)


def _show_saved(request: Request, record: SubscriptionRecord, form: EditForm) -> HttpResponse:
    _save_label(record, form)
    names = [*(["label"] if form.is_label_changed else []), *form.body]
    saved = get_text_list([FIELD_NAMES[name] for name in names], "and")
    messages.success(request, f"{capfirst(saved)} updated.")
    return redirect("subscription-detail", record.subscription_id)


def _save_label(record: SubscriptionRecord, form: EditForm) -> None:
    if form.is_label_changed:
        label_subscription(record.subscription_id, form.labels["label"])


def _show_repeated(
    request: Request, reading: ReadResult[SubscriptionRecord], form: EditForm, operation: Operation
) -> HttpResponse:
    """Show the outcome of a form that was sent before. Nothing is sent."""
    if operation.outcome == Outcome.ACCEPTED:
        messages.info(request, "This form was already sent. Nothing was sent again.")
        return redirect("subscription-detail", reading.value.subscription_id)
    if operation.outcome == Outcome.SENDING:
        return redirect("operation-detail", operation.operation_key)
    return _show(request, reading, form, failed=operation, is_repeated=True, status=409)


def _show(
    request: Request,
    reading: ReadResult[SubscriptionRecord],
    form: EditForm | None = None,
    *,
    status: int = 200,
    **extra: Any,
) -> HttpResponse:
    record = reading.value
    form = form or EditForm.of(record)
    is_valid = not form.is_bound or form.is_valid()
    context = {
        "here": "webhooks",
        "reading": reading,
        "record": record,
        "row": subscription_row(record),
        "form": form,
        "body": (body := form.body if is_valid else None),
        "is_label_changed": is_valid and form.is_label_changed,
        "body_json": json.dumps(body or {}),
        "operation_key": unused_operation_key(read_operation_key(request.POST)),
        "opened": request.GET.get("opened", form.mark if may(request, UPDATE_SUBSCRIPTION) else ""),
        "needs_approval": needs_approval(),
        "note": request.POST.get("note", ""),
        "note_problem": "",
        **extra,
    }
    parts = ("sending", "subscription-head")
    return render_partial(request, "webhooks/detail.html", context, parts=parts, status=status)
