"""Where a user's e-mail goes: change it, and confirm the new address by the link sent to it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.ledger.preferences import email_address_of, save_preferences
from dashboard.notifications.email import is_email_on
from dashboard.notifications.email_change import confirm_link, read_link, send_confirmation
from dashboard.notifications.errors import NotificationError
from dashboard.rate_limits import seconds_to_wait
from dashboard.web.notifications.forms import EmailForm
from dashboard.web.ui.htmx import Request

MAX_LINKS_PER_MINUTE = 2
"""Per user: anyone's address may be entered. Source: our choice."""


@require_http_methods(["GET", "HEAD", "POST"])
def email_change(request: Request) -> HttpResponse:
    """Send a link to a new address."""
    form = EmailForm(data=request.POST or None, label_suffix="")
    if form.is_valid() and _send(request, form):
        sent = f"Link sent to {form.cleaned_data['email']}. Open it to confirm the address."
        messages.success(request, sent)
        return redirect("notification-settings")
    context = {"form": form, "email": email_address_of(request.user), "is_email_on": is_email_on()}
    status = 422 if form.is_bound else 200
    return render(request, "notifications/email.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def email_confirm(request: Request, token: str) -> HttpResponse:
    """Confirm an address. A button asks: programs that check mail for threats open links, too."""
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
    """Send e-mail to the account's own address again."""
    save_preferences(request.user, email="")
    messages.success(request, f"E-mail goes to {request.user.email}.")
    return redirect("notification-settings")


def _send(request: Request, form: EmailForm) -> bool:
    """Send the link, or add an error to the form; return which."""
    if not is_email_on():
        form.add_error("email", "E-mail is off, so no link can be sent.")
    elif wait_s := seconds_to_wait(f"email-link:{request.user.pk}", at_most=MAX_LINKS_PER_MINUTE):
        form.add_error("email", f"Too many links. Try again in {wait_s} s.")
    else:
        try:
            send_confirmation(request.user, form.cleaned_data["email"])
        except NotificationError as error:
            form.add_error(error.field, str(error))
    return not form.errors
