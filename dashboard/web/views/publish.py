"""Publishing a version: what will change, the form, and what became of it."""

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect, reswap, retarget

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import publish_key
from dashboard.web.audience_head import head_last_known, head_of
from dashboard.web.http import Request, render_part
from dashboard.web.looks import last_seen_version, see_version, settle_by
from dashboard.web.permissions import PUBLISH, may, requires
from dashboard.web.preparation import Preparation, Subject, prepare
from dashboard.web.progress import Stage
from dashboard.web.publishing import (
    begin_publish,
    has_changed,
    hold_back,
    operation_of,
    problem_with,
    progress_now,
    under_way,
    usual_times_here,
)
from dashboard.web.sending import send, sweep

OUT_OF_DATE = "This form is out of date. Nothing was sent. Read it again, then publish."
CHANGED = "What you read has changed. Nothing was sent."
NOT_SENT_AGAIN = "Nothing was sent again. Read what was found first."


@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: Request, page_id: str, audience_id: str, version_id: str) -> HttpResponse:
    """Ask before publishing; publish once; then show what became of it.

    `?operation=` names one publish of this version, and everyone may watch it. Without it, one
    that is not over is shown, for who may publish.
    """
    sweep()
    subject = Subject(page_id, audience_id, version_id)
    if request.method == "POST":
        return _submit(request, subject)
    if operation_key := request.GET.get("operation", ""):
        operation = operation_of(subject, operation_key)
        if operation is None:
            raise Http404
        return show_publish(request, operation)
    return _begin(request, subject)


def show_publish(request: Request, operation: Operation, *, is_new: bool = False) -> HttpResponse:
    """Show a publish on record: its progress, its unknown outcome, or the form to try again.

    `is_new` is of one just sent: what the answer told is shown, and the service not asked again.
    """
    sighting = last_seen_version(operation) if is_new else see_version(operation)
    if not is_new:
        operation = settle_by(operation, sighting)
    if operation.outcome in (Outcome.REJECTED, Outcome.NOT_SENT):
        if not may(request, PUBLISH):
            return _to_the_record(request, operation)
        return _ask(request, prepare(_subject(operation), with_conversation=True), failed=operation)
    progress = progress_now(operation, sighting)
    attempts = list(operation.attempts.all())
    context = {
        "kind": "unknown" if progress.stage is Stage.UNKNOWN else "progress",
        "operation": operation,
        "attempts": attempts,
        "attempt": attempts[-1] if attempts else None,
        "progress": progress,
        "sighting": sighting,
        "usual": usual_times_here(),
        "is_new": is_new,
        "was": request.GET.get("was", ""),
    }
    return _render(request, _subject(operation), context)


def ask_again(request: Request, preparation: Preparation) -> HttpResponse:
    """Ask before a publish of unknown outcome is sent again, against which something was found."""
    return _ask(request, preparation, is_again=True, problem=NOT_SENT_AGAIN, status=422)


def publish_address(operation: Operation) -> str:
    """Return the address at which a publish on record is watched."""
    address = reverse("version-publish", args=_subject(operation).ids)
    return f"{address}?{urlencode({'operation': operation.operation_key})}"


@requires(PUBLISH)
def _begin(request: Request, subject: Subject) -> HttpResponse:
    preparation = prepare(subject, with_conversation=True)
    if operation := under_way(preparation):
        return show_publish(request, operation)
    return _ask(request, preparation)


@requires(PUBLISH)
def _submit(request: Request, subject: Subject) -> HttpResponse:
    preparation = prepare(subject, with_conversation=False)
    posted = request.POST.get("operation_key", "")
    if on_record := operation_of(subject, posted) or under_way(preparation):
        return _answer(request, on_record)
    if posted != preparation.operation_key:
        return _ask(request, preparation, problem=OUT_OF_DATE, status=422)
    if not preparation.reading.is_live:
        return _answer(request, hold_back(request, preparation), preparation)
    if has_changed(preparation, request.POST.get("shown", "")):
        return _ask(request, preparation, problem=CHANGED, status=422)
    typed = request.POST.get("number", "")
    if problem := problem_with(preparation, typed):
        return _ask(request, preparation, problem=problem, typed=typed, status=422)
    operation, attempt = begin_publish(request, preparation)
    if attempt is not None:
        operation = send(operation, attempt).operation
    return _answer(request, operation)


def _answer(
    request: Request, operation: Operation, preparation: Preparation | None = None
) -> HttpResponse:
    """Show the operation, at an address of its own where the browser loads whole pages."""
    if not request.htmx:
        return redirect(publish_address(operation))
    if preparation is None:
        return show_publish(request, operation, is_new=True)
    next_key = publish_key(*preparation.subject.ids)
    return _ask(request, replace(preparation, operation_key=next_key), failed=operation)


def _to_the_record(request: Request, operation: Operation) -> HttpResponse:
    """Leave the dialog for the page in Activity: who may not publish is not asked to try again."""
    record = reverse("operation-detail", args=[operation.operation_key])
    return HttpResponseClientRedirect(record) if request.htmx else redirect(record)


def _ask(
    request: Request,
    preparation: Preparation,
    *,
    failed: Operation | None = None,
    is_again: bool = False,
    problem: str = "",
    typed: str = "",
    status: int = 200,
) -> HttpResponse:
    subject = preparation.subject
    context = {
        "kind": "confirm",
        "preparation": preparation,
        "reading": preparation.reading,
        "failed": failed,
        "failed_attempt": failed.attempts.last() if failed else None,
        "is_again": is_again,
        "problem": problem,
        "typed": typed,
        "head": SimpleLazyObject(lambda: head_of(*subject.of_audience, preparation.reading.value)),
    }
    return _render(request, subject, context, status=status)


def _render(
    request: Request, subject: Subject, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    context = {
        "here": "pages",
        "subject": subject,
        "head": SimpleLazyObject(lambda: head_last_known(*subject.of_audience)),
    } | context
    template = "publish/publish.html"
    if request.htmx.target == "progress" and request.GET.get("kind") != context["kind"]:
        # What is watched became something else: the whole dialog has to change.
        whole = render(request, f"{template}#dialogs", context, status=status)
        return reswap(retarget(whole, "#dialogs"), "innerHTML")
    return render_part(request, template, context, parts=("dialogs", "progress"), status=status)


def _subject(operation: Operation) -> Subject:
    return Subject(operation.page_id, operation.audience_id, operation.version_id)
