"""A user's notification settings: events by channel, quiet hours, daily summary, e-mail address."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.permissions import MANAGE_DELIVERIES, may
from dashboard.accounts.preferences import email_address_of
from dashboard.limits import seconds_to_wait
from dashboard.notifications.email import is_email_on
from dashboard.notifications.email_change import (
    confirm_link,
    is_requested,
    last_confirmation,
    read_link,
    request_confirmation,
    set_address,
)
from dashboard.notifications.kinds import KINDS
from dashboard.notifications.models import Channel, NotificationError
from dashboard.notifications.preferences import (
    get_settings,
    list_follows,
    read_matrix,
    save_matrix,
    save_settings,
)
from dashboard.notifications.targets import list_targets
from dashboard.web.notifications.forms import EmailForm, SettingsForm, group_kinds
from dashboard.web.search.hits import hits_by_visit
from dashboard.web.ui.formats import UTC, request_time_zone
from dashboard.web.ui.forms import sent_form_key
from dashboard.web.ui.htmx import Request, render_partial

MAX_LINKS_PER_MINUTE = 2
"""Limit for each user, who may enter any address. Source: our choice."""


@require_http_methods(["GET", "HEAD", "POST"])
def notification_settings(request: Request) -> HttpResponse:
    zone = request_time_zone(request)
    initial = SettingsForm.initial_from(
        get_settings(request.user), zone.key if zone and zone.key else UTC
    )
    initial["cells"] = [f"{kind}:{channel}" for kind, channel in read_matrix(request.user)]
    form = SettingsForm(data=request.POST or None, initial=initial, label_suffix="")
    if form.is_valid() and _save(request, form):
        messages.success(request, "Notification settings saved.")
        return redirect("notification-settings")
    follows = list(list_follows(request.user))
    hits = hits_by_visit([(follow.page_id, follow.audience_id) for follow in follows])
    context = {
        "form": form,
        "groups": group_kinds(KINDS.values()),
        "channels": list(Channel),
        "is_email_on": is_email_on(),
        "email": email_address_of(request.user),
        "targets": list(list_targets(request.user)),
        "team_targets": list(list_targets(None)) if may(request, MANAGE_DELIVERIES) else None,
        "follows": [
            # The hit is None if the page or audience is not in the ledger.
            (follow, hits.get((follow.page_id, follow.audience_id)))
            for follow in follows
        ],
    }
    status = 422 if form.is_bound else 200
    template, parts = "notifications/settings.html", ("email", "webhooks", "team-webhooks")
    return render_partial(request, template, context, parts=parts, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def email_change(request: Request) -> HttpResponse:
    form = EmailForm(data=request.POST or None, label_suffix="")
    if form.is_valid() and _send_link(request, form):
        address = form.cleaned_data["email"]
        sent = f"A link is being sent to {address}. Open it to confirm the address."
        messages.success(request, sent)
        return redirect("notification-settings")
    context = {
        "form": form,
        "email": email_address_of(request.user),
        "is_email_on": is_email_on(),
        "link": last_confirmation(request.user),
    }
    status = 422 if form.is_bound else 200
    return render(request, "notifications/email.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def email_confirm(request: Request, token: str) -> HttpResponse:
    """Confirm an address by a button, because mail scanners also open links."""
    try:
        if request.method == "POST":
            messages.success(request, f"E-mail goes to {confirm_link(request.user, token)}.")
            return redirect("notification-settings")
        context = {"address": read_link(request.user, token), "problem": ""}
    except NotificationError as error:
        context = {"address": "", "problem": str(error)}
    status = 422 if context["problem"] else 200
    return render(request, "notifications/email_confirm.html", context, status=status)


@require_POST
def email_reset(request: Request) -> HttpResponse:
    set_address(request.user, "")
    messages.success(request, f"E-mail goes to {request.user.email}.")
    return redirect("notification-settings")


def _save(request: Request, form: SettingsForm) -> bool:
    """Save all settings and return True, or save none, add an error to the form, return False."""
    data = dict(form.cleaned_data)
    try:
        with transaction.atomic():
            save_matrix(request.user, data.pop("cells"))
            save_settings(request.user, **data)
    except NotificationError as error:
        form.add_error(error.field or None, str(error))
    return not form.errors


def _send_link(request: Request, form: EmailForm) -> bool:
    """Queue the link and return True, or add an error to the form and return False."""
    form_key = sent_form_key(request)
    if is_requested(form_key):
        return True
    if not is_email_on():
        form.add_error("email", "E-mail is off, so no link can be sent.")
    elif wait_s := seconds_to_wait(f"email-link:{request.user.pk}", at_most=MAX_LINKS_PER_MINUTE):
        form.add_error("email", f"Too many links. Try again in {wait_s} s.")
    else:
        try:
            request_confirmation(request.user, form.cleaned_data["email"], form_key)
        except NotificationError as error:
            form.add_error(error.field, str(error))
    return not form.errors
