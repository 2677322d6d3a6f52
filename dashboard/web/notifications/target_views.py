"""Notification webhooks of a user, and of teams for administrators."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard import clock
from dashboard.accounts.permissions import MANAGE_DELIVERIES, require_permission
from dashboard.accounts.policy_views import requires_reauthentication
from dashboard.limits import seconds_to_wait
from dashboard.notifications.kinds import TEAM_KINDS
from dashboard.notifications.models import (
    DeliveryState,
    NotificationError,
    WebhookFormat,
    WebhookTarget,
)
from dashboard.notifications.targets import (
    add_target,
    begin_test,
    change_target,
    delete_target,
    get_target,
    last_test,
    reveal_secret,
)
from dashboard.releases.worker import is_running
from dashboard.web.notifications.forms import FOR_TEAMS, TargetChangeForm, TargetForm, group_kinds
from dashboard.web.ui.forms import sent_form_key
from dashboard.web.ui.htmx import Request, render_partial, wants_partial

MAX_TESTS_PER_MINUTE = 10
"""Limit for each user. Source: our choice."""


@require_http_methods(["GET", "HEAD", "POST"])
def target_add(request: Request) -> HttpResponse:
    """Add a webhook for the user, or for a team with `?team=1`."""
    is_team = bool(request.GET.get("team"))
    if is_team:
        require_permission(request, MANAGE_DELIVERIES)
    form = TargetForm(is_team=is_team, data=request.POST or None, initial={"kinds": TEAM_KINDS})
    if form.is_valid():
        try:
            target = add_target(
                request.user, is_team=is_team, form_key=sent_form_key(request), **form.cleaned_data
            )
        except NotificationError as error:
            form.add_error(error.field or None, str(error))
        else:
            messages.success(request, f"{target.name} added. Send a test to check it.")
            return redirect("target-detail", target.pk)
    context = {"form": form, "is_team": is_team, "groups": group_kinds(FOR_TEAMS)}
    status = 422 if form.is_bound else 200
    return render(request, "notifications/target_add.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def target_detail(request: Request, target_id: int) -> HttpResponse:
    """Show and change a webhook. While a test is sent, the page polls the partial "test-poll"."""
    target = _target(request, target_id)
    form = TargetChangeForm(target, data=request.POST or None)
    if form.is_valid():
        try:
            change_target(target, **form.cleaned_data)
        except NotificationError as error:
            form.add_error(error.field or None, str(error))
        else:
            messages.success(request, f"{form.cleaned_data['name']} saved.")
            return redirect("target-detail", target.pk)
    return _show(request, target, form)


@require_http_methods(["GET", "HEAD", "POST"])
def target_delete(request: Request, target_id: int) -> HttpResponse:
    target = _target(request, target_id)
    if request.method != "POST":
        return render(request, "notifications/target_delete.html", {"target": target})
    delete_target(target)
    messages.success(request, f"{target.name} deleted.")
    return redirect("notification-settings")


@never_cache
@require_GET
def target_secret(request: Request, target_id: int) -> HttpResponse:
    target = _target(request, target_id)
    if target.format != WebhookFormat.STANDARD:
        raise Http404
    return _show_secret(request, target=target)


@requires_reauthentication
def _show_secret(request: Request, target: WebhookTarget) -> HttpResponse:
    context = {"target": target, "secret": reveal_secret(target)}
    return render(request, "notifications/target_secret.html", context)


@require_POST
def target_test(request: Request, target_id: int) -> HttpResponse:
    target = _target(request, target_id)
    if wait := seconds_to_wait(f"webhook-tests:{request.user.pk}", at_most=MAX_TESTS_PER_MINUTE):
        messages.error(request, f"Not sent: too many tests. Try again in {wait} s.")
        return redirect("target-detail", target.pk)
    if not begin_test(target, request.user):
        messages.error(request, "Not sent: your last test has no result yet.")
    return redirect("target-detail", target.pk)


def _target(request: Request, target_id: int) -> WebhookTarget:
    if own := get_target(request.user, target_id):
        return own
    target = get_target(None, target_id)
    if target is None:
        raise Http404
    require_permission(request, MANAGE_DELIVERIES)
    return target


def _show(request: Request, target: WebhookTarget, form: TargetChangeForm) -> HttpResponse:
    test = last_test(target, request.user)
    is_waiting = test is not None and test.state == DeliveryState.WAITING
    context = {
        "target": target,
        "form": form,
        "groups": group_kinds(FOR_TEAMS),
        "test": test,
        "is_waiting": is_waiting,
        "has_worker": not is_waiting or is_running(clock.now()),
        "is_refresh": wants_partial(request, ("test-poll",)),
    }
    status = 422 if form.is_bound else 200
    template = "notifications/target.html"
    return render_partial(
        request, template, context, parts=("target-head", "test-poll"), status=status
    )
