"""Roll back to a version that was live before, or request approval for it."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.accounts.permissions import PUBLISH, require_permission, requires
from dashboard.approvals.requests import ApprovalError
from dashboard.client import APIError
from dashboard.ledger.models import Operation
from dashboard.operations.checking import PublishTarget
from dashboard.operations.publish import (
    OvertakenError,
    publish_in_progress,
    publish_reviewed,
    record_not_sent,
)
from dashboard.operations.publish_review import PublishReview
from dashboard.releases.errors import ReleaseError
from dashboard.releases.scheduling import request_version
from dashboard.web.publishing.dialog import (
    CHANGED,
    NEEDS_APPROVAL,
    NOT_READ,
    OUT_OF_DATE,
    emergency_reason,
    note_problem,
    publish_url,
    recorded_publish,
    review_rollback,
    reviewed_again,
    show_publish,
    show_result,
    show_rollback,
)
from dashboard.web.ui.forms import redirect_to_request
from dashboard.web.ui.htmx import Request, posted_from

IS_OFF = "Not rolled back, for the reason above."


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def roll_back(request: Request, page_id: str, audience_id: str, version_id: str) -> HttpResponse:
    """Show what visitors will see again, and roll back.

    `?from=` is the number of the version that was live when the rollback was offered.
    """
    target = PublishTarget(page_id, audience_id, version_id)
    if request.method == "POST":
        return _roll_back_now(request, **target._asdict())
    review = review_rollback(request, target)
    if operation := publish_in_progress(review):
        return show_publish(request, operation)
    if not _is_earlier(review):
        return redirect("version-publish", *target)
    return show_rollback(request, review)


@require_safe
def progress(request: Request, page_id: str, audience_id: str, version_id: str) -> HttpResponse:
    """Show the rollback that `?operation=` names. Every user may watch it.

    A failed rollback is shown as a form to try again, for users who may publish.
    """
    target = PublishTarget(page_id, audience_id, version_id)
    operation = recorded_publish(request, target)
    if not operation.has_no_effect:
        return show_publish(request, operation)
    require_permission(request, PUBLISH)
    return show_rollback(request, review_rollback(request, target), failed=operation)


def _is_earlier(review: PublishReview) -> bool:
    """Return whether publishing the version is a rollback, or the version is live already."""
    version, live = review.snapshot.version, review.snapshot.live
    if version is None or live is None or not review.reading.is_live:
        return True  # The dialog says why it can't be done.
    return review.is_rollback or version.version_id == live.version_id


def _show(request: Request, operation: Operation) -> HttpResponse:
    if not operation.has_no_effect:
        return show_result(request, operation)
    if not request.htmx:
        return redirect(publish_url(operation))
    review = review_rollback(request, PublishTarget.of(operation))
    return show_rollback(request, review, failed=operation)


@reviewed_again(review_rollback, show=_show)
def _roll_back_now(request: Request, review: PublishReview) -> HttpResponse:
    note = request.POST.get("note", "").strip()
    if problem := note_problem(note) or _problem(
        request, review, expects_approval="emergency" in request.POST
    ):
        return show_rollback(request, review, problem=problem, status=422)
    if not review.reading.is_live:
        return _show(request, record_not_sent(review, actor=request.user))
    try:
        reason = emergency_reason(request, review)
        operation = publish_reviewed(review, actor=request.user, note=note, emergency_reason=reason)
    except ApprovalError as error:
        return show_rollback(request, review, problem=str(error), status=422)
    except OvertakenError:
        review = review_rollback(request, review.target)
        return show_rollback(request, review, problem=CHANGED, status=422)
    return _show(request, operation)


@posted_from("version-rollback")
@requires(PUBLISH)
@reviewed_again(review_rollback, show=_show)
def request_approval(request: Request, review: PublishReview) -> HttpResponse:
    note = request.POST.get("note", "").strip()
    if problem := note_problem(note) or _problem(request, review, expects_approval=True):
        return show_rollback(request, review, problem=problem, status=422)
    if not review.reading.is_live:
        return _show(request, record_not_sent(review, actor=request.user))
    try:
        approval = request_version(review, moment=None, note=note, user=request.user)
    except ReleaseError as error:
        return show_rollback(request, review, problem=str(error), status=422)
    except APIError as error:
        return show_rollback(request, review, problem=f"{NOT_READ} {error}", status=422)
    return redirect_to_request(request, approval)


def _problem(request: Request, review: PublishReview, *, expects_approval: bool) -> str:
    """Return why the dialog has to be shown again, or "".

    `expects_approval` is whether the submitted dialog said that an approval is needed.
    """
    if request.POST.get("operation_key", "") != review.operation_key:
        return OUT_OF_DATE
    if not review.reading.is_live:
        return ""  # It is recorded as not sent.
    if request.POST.get("shown", "") != review.display_digest:
        return CHANGED
    if review.is_off or not review.is_rollback:
        return IS_OFF
    if review.needs_approval and not expects_approval:
        return NEEDS_APPROVAL
    return "" if review.needs_approval == expects_approval else CHANGED
