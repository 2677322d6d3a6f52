"""The schedule of a release: when it is sent, with or without a request for approval."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from dashboard import clock
from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.releases import approval_requests, decisions
from dashboard.releases.approval_subjects import approval_of
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseState
from dashboard.releases.schedules import AmbiguousTimeError, ScheduledMoment, parse_moment
from dashboard.web.releases.board import read_board
from dashboard.web.releases.summary import summarize, worker_status
from dashboard.web.releases.views import confirmation, problem_context, release_url
from dashboard.web.ui.formats import BROWSER_CHOICE, current_zone_name, zone_choices
from dashboard.web.ui.forms import forget_unsent_form, redirect_to_request, resumed_form
from dashboard.web.ui.htmx import Request


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def release_schedule(request: Request, release_id: int) -> HttpResponse:
    release = get_object_or_404(Release, pk=release_id)
    if request.method != "POST":
        return _show_schedule(request, release, resumed_form(request) or _scheduled(release))
    return _submit(request, release, _schedule)


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
        return _show_schedule(request, release, _scheduled(release), error=error)
    messages.success(request, "The schedule was canceled. This is a draft again.")
    return redirect(release_url(release))


def _submit(
    request: Request,
    release: Release,
    decide: Callable[[Request, Release, ScheduledMoment], HttpResponse],
) -> HttpResponse:
    try:
        moment = _typed_moment(request, release)
        response = decide(request, release, moment) if moment else redirect(release_url(release))
    except AmbiguousTimeError as ambiguous:
        return _show_schedule(request, release, request.POST, ambiguous=ambiguous)
    except ReleaseError as error:
        approval = approval_requests.requested_by(release, request.user)
        if approval is None:
            return _show_schedule(request, release, request.POST, error=error)
        response = redirect_to_request(request, approval)
    forget_unsent_form(request)
    return response


def _typed_moment(request: Request, release: Release) -> ScheduledMoment | None:
    """Return the typed moment; None if the same form was sent before and has set it already.

    Raises ReleaseError, or AmbiguousTimeError if the time occurs twice on that day.
    """
    fields = request.POST
    moment = parse_moment(
        fields.get("date", ""),
        fields.get("time", ""),
        fields.get("zone", ""),
        fold=fields.get("fold", ""),
        now=clock.now(),
    )
    if fields.get("due", "") == _due_mark(release):
        return moment
    if release.due_at == moment.instant and release.owner == request.user:
        return None
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


def _scheduled(release: Release) -> QueryDict:
    """Return the fields of the current schedule; for a draft, today's date without a time."""
    fields = QueryDict(mutable=True)
    moment = release.scheduled_moment
    fields["zone"] = str(moment.known_zone) if moment else current_zone_name()
    if moment and release.state == ReleaseState.SCHEDULED:
        as_typed = (
            release.due_as_typed if moment.is_zone_known else f"{moment.local:%Y-%m-%d %H:%M}"
        )
        day, time, *_ = as_typed.split()
        fields.update({"date": day, "time": time})
    else:
        fields["date"] = timezone.localdate().isoformat()
    if release.publishes_others:
        fields["publishes_others"] = "on"
    return fields


def _show_schedule(
    request: Request,
    release: Release,
    fields: QueryDict,
    *,
    error: ReleaseError | None = None,
    ambiguous: AmbiguousTimeError | None = None,
) -> HttpResponse:
    release = get_object_or_404(Release, pk=release.pk)
    context = {
        "here": "releases",
        "release": release,
        "summary": summarize(release),
        "worker": worker_status(),
        "board": read_board(release, {}),
        "approval": approval_of(release, request.user, for_schedule=True),
        "fields": fields,
        "due": _due_mark(release),
        "zones": [choice for choice in zone_choices() if choice != BROWSER_CHOICE],
        "ambiguous": ambiguous,
        **problem_context(error),
    }
    status = 422 if error or ambiguous else 200
    return render(request, "releases/schedule.html", context, status=status)
