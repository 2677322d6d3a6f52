"""The schedule of a release: when it is sent, with or without a request for approval."""

from collections.abc import Callable
from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.releases import approval_requests, decisions
from dashboard.releases.approval_subjects import approval_of
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseState
from dashboard.releases.schedules import ScheduledMoment
from dashboard.web.releases.board import read_board
from dashboard.web.releases.schedule_form import SCHEDULE, ScheduleForm
from dashboard.web.releases.summary import summarize, worker_status
from dashboard.web.releases.views import confirmation, entered_fields, release_url
from dashboard.web.ui.forms import forget_unsent_form, redirect_to_request, resumed_form
from dashboard.web.ui.htmx import Request, render_partial, wants_partial


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def release_schedule(request: Request, release_id: int) -> HttpResponse:
    release = get_object_or_404(Release, pk=release_id)
    if request.method == "POST":
        return _submit(request, release, _schedule)
    if fields := resumed_form(request):
        form = ScheduleForm.from_params(fields, when=SCHEDULE)
    else:
        form = ScheduleForm.of_release(release)
    return _show_schedule(request, release, form)


@require_POST
@requires(PUBLISH)
def release_schedule_request(request: Request, release_id: int) -> HttpResponse:
    release = get_object_or_404(Release, pk=release_id)
    return _submit(request, release, _request_approval)


@require_POST
@requires(PUBLISH)
def release_unschedule(request: Request, release_id: int) -> HttpResponse:
    """Cancel the schedule of a release. It becomes a draft again."""
    release = get_object_or_404(Release, pk=release_id)
    try:
        decisions.cancel_schedule(release, request.user)
    except ReleaseError as error:
        form = replace(ScheduleForm.of_release(release), error=error)
        return _show_schedule(request, release, form)
    messages.success(request, "The schedule was canceled. This is a draft again.")
    return redirect(release_url(release))


@requires(PUBLISH)
@require_safe
def schedule_moment(request: Request) -> HttpResponse:
    """Show what the chosen date, time and zone mean, in the form of a release or of a version."""
    parts = ("schedule-moment",)
    if not wants_partial(request, parts):
        return redirect("release-list")
    form = ScheduleForm.from_params(request.GET, when=SCHEDULE).until_complete
    return render_partial(request, "releases/schedule.html", {"form": form}, parts=parts)


def _submit(
    request: Request,
    release: Release,
    decide: Callable[[Request, Release, ScheduledMoment], HttpResponse],
) -> HttpResponse:
    form = ScheduleForm.from_params(request.POST, when=SCHEDULE)
    if form.moment is None:
        return _show_schedule(request, release, form)
    try:
        is_set = _is_set_already(request, release, form.moment)
        response = (
            redirect(release_url(release)) if is_set else decide(request, release, form.moment)
        )
    except ReleaseError as error:
        approval = approval_requests.requested_by(release, request.user)
        if approval is None:
            return _show_schedule(request, release, replace(form, error=error))
        response = redirect_to_request(request, approval)
    forget_unsent_form(request)
    return response


def _is_set_already(request: Request, release: Release, moment: ScheduledMoment) -> bool:
    """Return whether the same form was sent before, and has set the schedule.

    Raises ReleaseError if the schedule was changed in another way since the form was shown.
    """
    if request.POST.get("due", "") == _due_mark(release):
        return False
    if release.due_at == moment.instant and release.owner == request.user:
        return True
    raise ReleaseError(decisions.SCHEDULE_CHANGED)


def _schedule(request: Request, release: Release, moment: ScheduledMoment) -> HttpResponse:
    if release.state == ReleaseState.SCHEDULED:
        if approval := decisions.reschedule(release, request.user, moment):
            return redirect_to_request(request, approval)
    else:
        decisions.schedule(release, request.user, moment, **confirmation(request))
    return redirect(release_url(release))


def _request_approval(request: Request, release: Release, moment: ScheduledMoment) -> HttpResponse:
    approval = approval_requests.request_approval(
        release, request.user, moment=moment, **confirmation(request)
    )
    return redirect_to_request(request, approval)


def _due_mark(release: Release) -> str:
    """Return the value of the hidden field with the due time; "" if it is not scheduled."""
    is_scheduled = release.state == ReleaseState.SCHEDULED
    return release.due_at.isoformat() if is_scheduled and release.due_at else ""


def _show_schedule(request: Request, release: Release, form: ScheduleForm) -> HttpResponse:
    """Show the form. A problem of a submitted form makes it a 422."""
    release = get_object_or_404(Release, pk=release.pk)
    error = form.error if request.method == "POST" else None
    context = {
        "here": "releases",
        "release": release,
        "summary": summarize(release),
        "worker": worker_status(),
        "board": read_board(release, {}),
        "approval": approval_of(release, request.user, for_schedule=True),
        "form": form,
        "due": _due_mark(release),
        "publishes_others": release.publishes_others,
        "entered_count": "",
        "problem": "",
        "problem_field": "",
        **entered_fields(request, error),
    }
    status = 422 if error else 200
    return render(request, "releases/schedule.html", context, status=status)
