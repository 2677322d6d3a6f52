"""Schedule a reviewed version or request its approval. Both create a release of one version."""

from collections.abc import Callable
from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.client import APIError
from dashboard.operations.checking import PublishTarget
from dashboard.operations.publish import submit_problem
from dashboard.operations.publish_review import PublishReview
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseItem
from dashboard.releases.scheduling import request_version, schedule_version
from dashboard.web.publishing.dialog import (
    NEEDS_APPROVAL,
    NOT_READ,
    chosen,
    render_dialog,
    reviewed_again,
    show_review,
    stale_problem,
)
from dashboard.web.releases.schedule_form import APPROVAL, SCHEDULE, ScheduleForm
from dashboard.web.releases.summary import worker_status
from dashboard.web.ui.forms import forget_unsent_form, redirect_to_request
from dashboard.web.ui.htmx import Request, posted_from


@posted_from("version-publish")
@requires(PUBLISH)
@chosen(SCHEDULE)
@reviewed_again()
def schedule(request: Request, review: PublishReview) -> HttpResponse:
    problem = NEEDS_APPROVAL if review.needs_approval else ""
    return _make_release(request, review, _schedule, problem=problem)


@posted_from("version-publish")
@requires(PUBLISH)
@chosen(APPROVAL)
@reviewed_again()
def request_approval(request: Request, review: PublishReview) -> HttpResponse:
    return _make_release(request, review, _request_approval)


@require_safe
def scheduled(
    request: Request, page_id: str, audience_id: str, version_id: str, release_id: int
) -> HttpResponse:
    target = PublishTarget(page_id, audience_id, version_id)
    releases = Release.objects.filter(due_at__isnull=False, pk=release_id)
    items = ReleaseItem.objects.filter(**target._asdict())
    release = get_object_or_404(releases, pk__in=items.values("release"))
    return _show_scheduled(request, target, release)


def _make_release(
    request: Request,
    review: PublishReview,
    make: Callable[[Request, PublishReview, ScheduleForm], HttpResponse],
    *,
    problem: str = "",
) -> HttpResponse:
    form, entered_number = ScheduleForm.from_params(request.POST), request.POST.get("number", "")
    problem = (
        stale_problem(request, review, unread=NOT_READ)
        or problem
        or submit_problem(review, entered_number)
    )
    if problem or (form.is_later and form.moment is None):
        return show_review(
            request, review, form=form, problem=problem, entered_number=entered_number, status=422
        )
    try:
        response = make(request, review, form)
    except ReleaseError as error:
        form, entered_number = replace(form, error=error), entered_number if error.field else ""
        return show_review(request, review, form=form, entered_number=entered_number, status=422)
    except APIError as error:
        problem = f"{NOT_READ} {error}"
        return show_review(
            request, review, form=form, problem=problem, entered_number=entered_number, status=422
        )
    forget_unsent_form(request)
    return response


def _schedule(request: Request, review: PublishReview, form: ScheduleForm) -> HttpResponse:
    if form.moment is None:
        raise ReleaseError("Enter a date and a time.")
    release = schedule_version(review, moment=form.moment, note=form.note, user=request.user)
    if not request.htmx:
        return redirect(_scheduled_url(review.target, release))
    return _show_scheduled(request, review.target, release)


def _request_approval(request: Request, review: PublishReview, form: ScheduleForm) -> HttpResponse:
    approval = request_version(review, moment=form.moment, note=form.note, user=request.user)
    return redirect_to_request(request, approval)


def _show_scheduled(request: Request, target: PublishTarget, release: Release) -> HttpResponse:
    context = {
        "kind": "scheduled",
        "release": release,
        "item": release.items.get(**target._asdict()),
        "due": release.scheduled_moment,
        "worker": worker_status(),
        "scheduled_url": _scheduled_url(target, release),
    }
    return render_dialog(request, target, context)


def _scheduled_url(target: PublishTarget, release: Release) -> str:
    return reverse("version-scheduled", args=[*target, release.pk])
