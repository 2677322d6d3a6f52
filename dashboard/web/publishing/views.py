"""Publish a version: its review, the form and the progress."""

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods
from django_htmx.http import (
    HttpResponseClientRedirect,
    push_url,
    replace_url,
    reswap,
    retarget,
    trigger_client_event,
)

from dashboard.accounts.permissions import PUBLISH, demand, may, requires
from dashboard.client import APIError
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import publish_key, show_interrupted
from dashboard.observability.request_context import tolerate_write_errors
from dashboard.operations.approval_requests import ApprovalError, valid_emergency_reason
from dashboard.operations.approvals import (
    current_rule,
    may_publish_in_an_emergency,
    publish_needs_approval,
)
from dashboard.operations.checking import (
    PublishTarget,
    load_version_state,
    read_version_state,
    settle_from_snapshot,
)
from dashboard.operations.execution import send
from dashboard.operations.publish import (
    OvertakenError,
    begin_reviewed_publish,
    find_publish,
    has_changed,
    publish_in_progress,
    record_not_sent,
    submit_problem,
)
from dashboard.operations.publish_progress import Stage, publish_progress
from dashboard.operations.publish_review import PublishReview, review_publish
from dashboard.operations.typical_times import typical_times
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseItem
from dashboard.releases.queries import planned_publishes
from dashboard.releases.scheduling import request_version, schedule_version
from dashboard.text_diff import TextDifference, compare_texts
from dashboard.web.audiences.state import AudienceState, head_last_known, head_of
from dashboard.web.audiences.views import audience_context
from dashboard.web.publishing.schedule_form import (
    NOW,
    SCHEDULE,
    ScheduleForm,
)
from dashboard.web.releases.summary import worker_status
from dashboard.web.releases.unsent_forms import forget_unsent_form, resumed_form, ticket_of
from dashboard.web.ui.approvals import redirect_to_request
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.query_params import int_param

OUT_OF_DATE = "This form is out of date. Nothing was sent. Review it again, then publish."
CHANGED = "Something changed since you opened this form. Nothing was sent."
NOT_RESENT = "Not sent again. Review the warnings first."
NOT_READ = "Nothing was scheduled or requested, as the version couldn’t be checked."
NEEDS_APPROVAL = "Not sent. It needs the approval of another person. Request it instead."


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH, methods=("POST",))
def publish(request: Request, page_id: str, audience_id: str, version_id: str) -> HttpResponse:
    """Show the review of a version; publish it once; show the progress.

    `?operation=` names one publish of this version, which every user may watch, and `?scheduled=`
    a release that publishes it later. Without them, users who may publish see the publish in
    progress, or the review; its partial `when-said` tells what the chosen time means.
    """
    target = PublishTarget(page_id, audience_id, version_id)
    if request.method == "POST":
        return _submit(request, target)
    if operation_key := request.GET.get("operation", ""):
        operation = find_publish(target, operation_key)
        if operation is None:
            raise Http404
        return show_publish(request, operation)
    if "scheduled" in request.GET:
        return _show_scheduled(request, target, _release_with(target, request.GET["scheduled"]))
    demand(request, PUBLISH)
    if wants_partial(request, ("when-said",)):
        return _show_moment(request)
    review = review_publish(target, with_conversation=True)
    if operation := publish_in_progress(review):
        return show_publish(request, operation)
    resumed = resumed_form(request)
    return _confirm(request, review, form=ScheduleForm.from_params(resumed) if resumed else None)


def show_publish(request: Request, operation: Operation, *, is_new: bool = False) -> HttpResponse:
    """Show a recorded publish: its progress, its unknown outcome, or the form to try again.

    `is_new` means that it was just sent: show its response, and fetch nothing.
    """
    attempts = list(operation.attempts.all())
    show_interrupted(operation, attempts)
    snapshot = load_version_state(operation) if is_new else read_version_state(operation)
    if not is_new:
        with tolerate_write_errors():
            operation = settle_from_snapshot(operation, snapshot)
        show_interrupted(operation, attempts)
    if operation.outcome in (Outcome.REJECTED, Outcome.NOT_SENT):
        if not may(request, PUBLISH):
            return _redirect_to_record(request, operation)
        review = review_publish(PublishTarget.of(operation), with_conversation=True)
        return _confirm(request, review, failed=operation)
    now = timezone.now()
    usual = typical_times(timezone.localdate(now))
    progress = publish_progress(operation, snapshot, usual=usual, now=now)
    context = {
        "kind": "unknown" if progress.stage is Stage.UNKNOWN else "progress",
        "operation": operation,
        "attempts": attempts,
        "attempt": attempts[-1] if attempts else None,
        "progress": progress,
        "snapshot": snapshot,
        "usual": usual,
        "is_new": is_new,
        "was": request.GET.get("was", ""),
    }
    return _render(request, PublishTarget.of(operation), context)


def confirm_resend(request: Request, review: PublishReview) -> HttpResponse:
    """Show the findings against a retry of a publish of unknown outcome, to be confirmed."""
    return _confirm(request, review, is_retry=True, problem=NOT_RESENT, status=422)


def publish_url(operation: Operation) -> str:
    """Return the URL of the progress of a recorded publish."""
    url = reverse("version-publish", args=PublishTarget.of(operation))
    return f"{url}?{urlencode({'operation': operation.operation_key})}"


def _submit(request: Request, target: PublishTarget) -> HttpResponse:
    review = review_publish(target, with_conversation=False)
    posted_key = request.POST.get("operation_key", "")
    if recorded := find_publish(target, posted_key) or publish_in_progress(review):
        return _show_result(request, recorded)
    form, typed = ScheduleForm.from_params(request.POST), request.POST.get("number", "")
    if "emergency" in request.POST:
        form = replace(form, when=NOW)
    if problem := _problem(request, review, form):
        # A number typed for one risk does not confirm another.
        typed = "" if problem in (OUT_OF_DATE, CHANGED) else typed
        return _confirm(request, review, form=form, problem=problem, typed=typed, status=422)
    if not form.is_now:
        return _make_release(request, review, form, typed=typed)
    if not review.reading.is_live:
        return _show_not_sent(request, review)
    return _publish_now(request, review, typed=typed)


def _publish_now(request: Request, review: PublishReview, *, typed: str) -> HttpResponse:
    """Record and send the reviewed version; or show the form with what stands in its way."""
    try:
        reason = _emergency_reason(request, review)
    except ApprovalError as error:
        return _confirm(request, review, problem=str(error), typed=typed, status=422)
    try:
        operation, attempt = begin_reviewed_publish(
            review, actor=request.user, emergency_reason=reason
        )
    except OvertakenError:
        review = review_publish(review.target, with_conversation=True)
        return _confirm(request, review, problem=CHANGED, status=422)
    if attempt is not None:
        operation = send(operation, attempt).operation
    return _show_result(request, operation)


def _problem(request: Request, review: PublishReview, form: ScheduleForm) -> str:
    """Return the reason why the form is shown again, or ""."""
    if request.POST.get("operation_key", "") != review.operation_key:
        return OUT_OF_DATE
    if not review.reading.is_live:
        # A publish is recorded as not sent.
        return "" if form.is_now else NOT_READ
    if has_changed(review, request.POST.get("shown", "")):
        return CHANGED
    if form.when == SCHEDULE and _needs_approval(review):
        return NEEDS_APPROVAL
    return submit_problem(review, request.POST.get("number", ""))


def _needs_approval(review: PublishReview) -> bool:
    return publish_needs_approval(review.snapshot.version, review.snapshot.live)


def _emergency_reason(request: Request, review: PublishReview) -> str:
    """Return why it is published without the approval that it needs; "" if it needs none.

    Raises ApprovalError if the user may not do so, or gave no reason.
    """
    if not _needs_approval(review):
        return ""
    if "emergency" not in request.POST:
        raise ApprovalError(NEEDS_APPROVAL)
    return valid_emergency_reason(request.user, request.POST.get("emergency_reason", ""))


def _show_result(request: Request, operation: Operation) -> HttpResponse:
    """Show the operation; without htmx, redirect to its own URL."""
    if not request.htmx:
        return redirect(publish_url(operation))
    # The page behind the dialog reloads the state of the version.
    return trigger_client_event(show_publish(request, operation, is_new=True), "version-published")


def _show_not_sent(request: Request, review: PublishReview) -> HttpResponse:
    """Record a publish that can't be checked first, and show the form to try again."""
    operation = record_not_sent(review, actor=request.user)
    if not request.htmx:
        return redirect(publish_url(operation))
    next_key = publish_key(*review.target)
    return _confirm(request, replace(review, operation_key=next_key), failed=operation)


def _make_release(
    request: Request, review: PublishReview, form: ScheduleForm, *, typed: str
) -> HttpResponse:
    """Schedule the reviewed version, or request its approval; else show the form's problems."""
    if form.is_later and form.moment is None:
        return _confirm(request, review, form=form, typed=typed, status=422)
    try:
        answer = _request_approval if form.asks_approval else _schedule
        response = answer(request, review, form)
    except ReleaseError as error:
        form, typed = replace(form, error=error), typed if error.field else ""
        return _confirm(request, review, form=form, typed=typed, status=422)
    except APIError as error:
        problem = f"{NOT_READ} {error}"
        return _confirm(request, review, form=form, problem=problem, typed=typed, status=422)
    forget_unsent_form(request)
    return response


def _schedule(request: Request, review: PublishReview, form: ScheduleForm) -> HttpResponse:
    """Schedule the reviewed version, and show the release. Raises ReleaseError and APIError."""
    if form.moment is None:
        raise ReleaseError("Enter a date and a time.")
    release = schedule_version(review, moment=form.moment, note=form.note, user=request.user)
    if not request.htmx:
        return redirect(_scheduled_url(review.target, release))
    return _show_scheduled(request, review.target, release)


def _request_approval(request: Request, review: PublishReview, form: ScheduleForm) -> HttpResponse:
    """Request the approval of the reviewed version, and show the request. Raises as _schedule."""
    approval = request_version(review, moment=form.moment, note=form.note, user=request.user)
    return redirect_to_request(request, approval)


def _show_scheduled(request: Request, target: PublishTarget, release: Release) -> HttpResponse:
    """Show what was scheduled, and the way to its release."""
    context = {
        "kind": "scheduled",
        "release": release,
        "item": release.items.get(**_ids(target)),
        "due": release.scheduled_moment,
        "worker": worker_status(),
        "scheduled_url": _scheduled_url(target, release),
    }
    return _render(request, target, context)


def _show_moment(request: Request) -> HttpResponse:
    """Show what the chosen date, time and zone mean; nothing is read from the service."""
    form = ScheduleForm.from_params(request.GET).until_complete
    context = {"form": form, "worker": worker_status()}
    return render_partial(request, "publishing/dialog.html", context, parts=("when-said",))


def _release_with(target: PublishTarget, release_id: str) -> Release:
    """Return a release with this version that is or was scheduled. Raises Http404."""
    releases = Release.objects.filter(due_at__isnull=False, pk=int_param(release_id))
    return get_object_or_404(
        releases, pk__in=ReleaseItem.objects.filter(**_ids(target)).values("release")
    )


def _ids(target: PublishTarget) -> dict[str, str]:
    return dict(target._asdict())


def _scheduled_url(target: PublishTarget, release: Release) -> str:
    return f"{reverse('version-publish', args=target)}?scheduled={release.pk}"


def _redirect_to_record(request: Request, operation: Operation) -> HttpResponse:
    """Redirect a user who may not publish to the operation in Activity."""
    record = reverse("operation-detail", args=[operation.operation_key])
    return HttpResponseClientRedirect(record) if request.htmx else redirect(record)


def _confirm(
    request: Request,
    review: PublishReview,
    *,
    form: ScheduleForm | None = None,
    failed: Operation | None = None,
    is_retry: bool = False,
    problem: str = "",
    typed: str = "",
    status: int = 200,
) -> HttpResponse:
    page_id, audience_id, _ = review.target
    version = review.snapshot.version
    state = AudienceState(page_id, audience_id, review.audience)
    context = {
        "kind": "confirm",
        "review": review,
        "version_status": state.status_of(version) if version else "",
        "difference": SimpleLazyObject(lambda: _difference(review)),
        "reading": review.reading,
        "usual": typical_times(timezone.localdate()),
        **_choices_context(request, review, form, problem),
        "failed": failed,
        "failed_attempt": failed.attempts.last() if failed else None,
        "is_retry": is_retry,
        "typed": typed,
        "head": SimpleLazyObject(lambda: head_of(page_id, audience_id, review.reading.value)),
    }
    return _render(request, review.target, context, status=status)


def _difference(review: PublishReview) -> TextDifference:
    """Return what changes in the supplementary context."""
    live, version = review.snapshot.live, review.snapshot.version
    return compare_texts(
        live.supplementary_context if live else None,
        version.supplementary_context if version else None,
    )


def _choices_context(
    request: Request, review: PublishReview, form: ScheduleForm | None, problem: str
) -> dict[str, Any]:
    """Return what the user may choose: at once, at a time, or once approved."""
    page_id, audience_id, _ = review.target
    needs_approval = _needs_approval(review)
    if form is None or (form.is_now and needs_approval):
        initial = ScheduleForm.initial(needs_approval=needs_approval)
        form = replace(initial, note=form.note if form else "")
    return {
        "form": form,
        "problem": problem or form.problem,
        "needs_approval": needs_approval,
        "days": current_rule().days,
        "may_skip_approval": needs_approval and may_publish_in_an_emergency(request.user),
        "emergency_reason": request.POST.get("emergency_reason", ""),
        "worker": worker_status(),
        "planned": planned_publishes([page_id]).get((page_id, audience_id), []),
        "ticket": ticket_of(request),
    }


def _render(
    request: Request, target: PublishTarget, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    defaults: dict[str, Any] = {
        "here": "pages",
        "target": target,
        "progress": None,
        "loads_counts": False,
        "head": SimpleLazyObject(lambda: head_last_known(target.page_id, target.audience_id)),
    }
    context = defaults | context
    template = "publishing/dialog.html"
    if request.htmx.target == "progress" and request.GET.get("kind") != context["kind"]:
        # The poll found another kind of dialog, which replaces the whole one.
        response = render(request, f"{template}#publish", context, status=status)
        return reswap(retarget(response, "closest dialog"), "innerHTML")
    parts = ("dialogs", "publish", "progress")
    if not wants_partial(request, parts) and context["head"]:
        context = audience_context(context["head"], may_fetch=False) | context
    response = render_partial(request, template, context, parts=parts, status=status)
    return _update_url(request, context, response)


def _update_url(request: Request, context: dict[str, Any], response: HttpResponse) -> HttpResponse:
    """Set the URL of the dialog, so that Back closes it and a reload opens it again."""
    if request.method != "POST":
        is_opened = request.htmx.target == "dialogs"
        return push_url(response, request.get_full_path()) if is_opened else response
    operation: Operation | None = context.get("operation") or context.get("failed")
    url = publish_url(operation) if operation else context.get("scheduled_url")
    return replace_url(response, url) if url and request.htmx.target == "publish" else response
