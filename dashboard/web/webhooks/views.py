"""The list of known webhook subscriptions: add, fetch and remove them."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from dashboard import clock
from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, requires
from dashboard.client import APIError
from dashboard.ledger.models import SubscriptionRecord
from dashboard.ledger.queries.subscriptions import delete_subscription, subscription_last_known
from dashboard.ledger.subscriptions import record_subscription
from dashboard.service.subscriptions import fetch_subscription, refresh_subscriptions
from dashboard.web.lists.saved_views import opens_saved_views
from dashboard.web.lists.state import ListState, open_list
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.query_params import rows_gone
from dashboard.web.webhooks.forms import AddForm
from dashboard.web.webhooks.listing import WEBHOOKS, ids_to_refresh, subscription_row
from dashboard.web.webhooks.listing import subscription_list as list_subscriptions

MAX_REFRESH = 64
"""Maximum number of subscriptions that one request refreshes. Source: our choice."""


@require_http_methods(["GET", "HEAD", "POST"])
@opens_saved_views(WEBHOOKS)
def subscription_list(request: Request) -> HttpResponse:
    """List known subscriptions by `?state= event=`. A POST by any user fetches one or all."""
    if request.method != "POST":
        return _show(request, AddForm(initial={"subscription_id": request.GET.get("id", "")}))
    if "read_all" in request.POST:
        subscription_ids = ids_to_refresh(
            ListState.parse(WEBHOOKS, request.GET), at_most=MAX_REFRESH
        )
    else:
        record = subscription_last_known(request.POST.get("read", ""))
        subscription_ids = [record.subscription_id] if record else []
    failures = refresh_subscriptions(subscription_ids)
    requested = len(subscription_ids)
    done = {"requested": requested, "refreshed": requested - len(failures)}
    return _show(request, AddForm(), failures=failures, done=done)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(UPDATE_SUBSCRIPTION)
def subscription_add(request: Request) -> HttpResponse:
    if request.method != "POST":
        return redirect("subscription-list")
    form = AddForm(request.POST)
    form.fields["subscription_id"].widget.attrs["data-autofocus"] = ""
    if not form.is_valid():
        return _show(request, form, status=422)
    subscription_id = form.cleaned_data["subscription_id"]
    read_at = clock.now()
    try:
        fetched = fetch_subscription(subscription_id)
    except APIError as error:
        form.add_error("subscription_id", f"Not added. {error}")
        return _show(request, form, status=422)
    label = form.cleaned_data["label"]
    record = record_subscription(fetched, label=label, added_by=request.user, read_at=read_at)
    messages.success(request, f"Added {record}.")
    return redirect("subscription-detail", subscription_id)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(UPDATE_SUBSCRIPTION)
def subscription_forget(request: Request, subscription_id: str) -> HttpResponse:
    record = subscription_last_known(subscription_id)
    if request.method == "POST":
        is_removed = record is not None and delete_subscription(subscription_id)
        message = "Removed from Pressroom. The service wasn’t changed."
        messages.success(request, message if is_removed else "It was already removed.")
        return redirect("subscription-list")
    if record is None:
        raise Http404
    context = {"here": "webhooks", "record": record, "action": "remove"}
    return render_partial(request, "webhooks/confirm.html", context, parts=("dialogs",))


def _show(
    request: Request,
    form: AddForm,
    *,
    failures: dict[str, str] | None = None,
    done: dict[str, int] | None = None,
    status: int = 200,
) -> HttpResponse:
    state = open_list(request, WEBHOOKS)
    subscriptions = list_subscriptions(state, failures)
    gone = rows_gone(request, "subscription-", [row.record.pk for row in subscriptions.rows])
    left = SubscriptionRecord.objects.filter(pk__in=gone) if gone else []
    context: dict[str, Any] = {
        "here": "webhooks",
        "state": state,
        "subscriptions": subscriptions,
        "left": [subscription_row(record) for record in left],
        "data_as_of": min((row.record.last_seen_at for row in subscriptions.rows), default=None),
        "form": form,
        "done": done,
        "max_refresh": MAX_REFRESH,
    }
    parts = ("subscriptions",)
    return render_partial(request, "webhooks/list.html", context, parts=parts, status=status)
