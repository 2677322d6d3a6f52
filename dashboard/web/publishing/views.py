"""Review a version, publish it, and watch its progress."""

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.approvals.requests import ApprovalError
from dashboard.ledger.operations import publish_key
from dashboard.operations.checking import PublishTarget
from dashboard.operations.publish import (
    OvertakenError,
    publish_in_progress,
    publish_reviewed,
    record_not_sent,
    submit_problem,
)
from dashboard.operations.publish_review import PublishReview, review_publish
from dashboard.web.publishing.dialog import (
    CHANGED,
    chosen,
    emergency_reason,
    publish_url,
    recorded_publish,
    reviewed_again,
    show_publish,
    show_result,
    show_review,
    stale_problem,
)
from dashboard.web.releases.schedule_form import NOW, ScheduleForm
from dashboard.web.ui.forms import resumed_form
from dashboard.web.ui.htmx import Request


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def publish(request: Request, page_id: str, audience_id: str, version_id: str) -> HttpResponse:
    target = PublishTarget(page_id, audience_id, version_id)
    if request.method == "POST":
        return _publish_now(request, **target._asdict())
    review = review_publish(target, with_conversation=True)
    if operation := publish_in_progress(review):
        return show_publish(request, operation)
    resumed = resumed_form(request)
    if review.is_rollback and not resumed:
        return redirect("version-rollback", *target)
    fields = resumed or (request.GET if "when" in request.GET else None)
    return show_review(request, review, form=ScheduleForm.from_params(fields) if fields else None)


@chosen(NOW)
@reviewed_again()
def _publish_now(request: Request, review: PublishReview) -> HttpResponse:
    entered_number = request.POST.get("number", "")
    problem = stale_problem(request, review)
    if not problem and not review.reading.is_live:
        return _show_not_sent(request, review)
    if problem := problem or submit_problem(review, entered_number):
        form = replace(ScheduleForm.from_params(request.POST), when=NOW)
        return show_review(
            request, review, form=form, problem=problem, entered_number=entered_number, status=422
        )
    try:
        reason = emergency_reason(request, review)
        operation = publish_reviewed(review, actor=request.user, emergency_reason=reason)
    except ApprovalError as error:
        return show_review(
            request, review, problem=str(error), entered_number=entered_number, status=422
        )
    except OvertakenError:
        review = review_publish(review.target, with_conversation=True)
        return show_review(request, review, problem=CHANGED, status=422)
    return show_result(request, operation)


def _show_not_sent(request: Request, review: PublishReview) -> HttpResponse:
    operation = record_not_sent(review, actor=request.user)
    if not request.htmx:
        return redirect(publish_url(operation))
    next_key = publish_key(*review.target)
    return show_review(request, replace(review, operation_key=next_key), failed=operation)


@require_safe
def progress(request: Request, page_id: str, audience_id: str, version_id: str) -> HttpResponse:
    """Show the publish that `?operation=` names. Every user may watch it."""
    operation = recorded_publish(request, PublishTarget(page_id, audience_id, version_id))
    is_rollback = operation.is_rollback
    return redirect(publish_url(operation)) if is_rollback else show_publish(request, operation)
