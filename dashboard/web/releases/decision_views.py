"""Decide on a release: publish, request approval, continue, stop, cancel, roll back, retry."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.releases import approval_requests, decisions, drafting, next_drafts
from dashboard.releases.drafting import REVIEWABLE
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import MAX_NOTE, Release
from dashboard.web.releases.progress import rollback_context
from dashboard.web.releases.views import (
    confirmation,
    progress_page_context,
    release_url,
    show_board,
    show_progress,
)
from dashboard.web.ui.forms import forget_unsent_form, redirect_to_request, sent_form_key
from dashboard.web.ui.htmx import Request, render_partial
from dashboard.web.ui.query_params import int_param

_RELEASES = Release.objects.select_related("rolls_back", "approval")


def _decide(
    request: Request, release_id: int, decide: Callable[..., None], **confirmed: Any
) -> HttpResponse:
    release = get_object_or_404(_RELEASES, pk=release_id)
    try:
        decide(release, request.user, **confirmed)
    except ReleaseError as error:
        release = get_object_or_404(_RELEASES, pk=release_id)
        if release.state in REVIEWABLE:
            return show_board(request, release, {}, error=error)
        # Usually the form was sent twice. Show the result of the first time.
        messages.info(request, str(error))
    forget_unsent_form(request)
    return redirect(release_url(release))


@require_POST
@requires(PUBLISH)
def release_discard(request: Request, release_id: int) -> HttpResponse:
    """Delete a draft that was only opened, when the user leaves it. Other drafts stay."""
    release = get_object_or_404(Release, pk=release_id)
    if not drafting.discard(release, request.user):
        return redirect(release_url(release))
    return redirect(release_url(release.rolls_back) if release.rolls_back else "release-list")


@require_POST
@requires(PUBLISH)
def release_check(request: Request, release_id: int) -> HttpResponse:
    return _decide(request, release_id, lambda release, _: drafting.request_check(release))


@require_POST
@requires(PUBLISH)
def release_publish(request: Request, release_id: int) -> HttpResponse:
    """Publish a release now. With an emergency reason, publish without the required approval."""
    reason = request.POST.get("emergency_reason", "") if "emergency" in request.POST else None
    confirmed = confirmation(request)
    return _decide(request, release_id, decisions.publish, **confirmed, emergency_reason=reason)


@require_POST
@requires(PUBLISH)
def release_request_approval(request: Request, release_id: int) -> HttpResponse:
    release = get_object_or_404(_RELEASES, pk=release_id)
    try:
        approval = approval_requests.request_approval(
            release, request.user, **confirmation(request)
        )
    except ReleaseError as error:
        if requested := approval_requests.requested_by(release, request.user):
            return redirect_to_request(request, requested)
        return show_board(request, release, {}, error=error)
    forget_unsent_form(request)
    return redirect_to_request(request, approval)


@require_POST
@requires(PUBLISH)
def release_continue(request: Request, release_id: int) -> HttpResponse:
    return _decide(request, release_id, decisions.continue_release, **confirmation(request))


@require_POST
@requires(PUBLISH)
def release_stop(request: Request, release_id: int) -> HttpResponse:
    return _decide(request, release_id, decisions.stop)


@require_POST
@requires(PUBLISH)
def release_cancel(request: Request, release_id: int) -> HttpResponse:
    return _decide(request, release_id, decisions.cancel)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def release_roll_back(request: Request, release_id: int) -> HttpResponse:
    """Show what visitors will see again, and roll back all or some of the items that went live.

    If the rule requires an approval, it is requested after a worker has read the versions.
    """
    release = get_object_or_404(_RELEASES, pk=release_id)
    if request.method != "POST":
        return _show_rollback(request, release)
    note, chosen = request.POST.get("note", ""), request.POST.getlist("item")
    try:
        rollback, left_out = next_drafts.roll_back(
            release,
            request.user,
            note=note,
            only={int_param(item) for item in chosen},
            form_key=sent_form_key(request),
        )
    except ReleaseError as error:
        return _show_rollback(request, release, error=error)
    _name_left_out(request, left_out, "Can’t be rolled back, so left out")
    if rollback.approval:
        return redirect_to_request(request, rollback.approval)
    return redirect(release_url(rollback))


def _show_rollback(
    request: Request, release: Release, *, error: ReleaseError | None = None
) -> HttpResponse:
    release = get_object_or_404(_RELEASES, pk=release.pk)
    context = progress_page_context(request, release)
    context |= {
        "problem": str(error or ""),
        "note": request.POST.get("note", ""),
        "chosen": {int_param(item) for item in request.POST.getlist("item")} if error else None,
        "max_note": MAX_NOTE,
        **rollback_context(context["rollback"].possible),
    }
    status = 422 if error else 200
    return render_partial(
        request, "releases/roll_back.html", context, parts=("dialogs",), status=status
    )


@require_POST
@requires(PUBLISH)
def release_retry(request: Request, release_id: int) -> HttpResponse:
    release = get_object_or_404(Release, pk=release_id)
    try:
        draft, left_out = next_drafts.retry_failed(release, request.user)
    except ReleaseError as error:
        return show_progress(request, release, error=error)
    _name_left_out(request, left_out, "Not included")
    return redirect(release_url(draft))


def _name_left_out(request: Request, left_out: next_drafts.LeftOut, why: str) -> None:
    if left_out:
        names = "; ".join(f"{item.audience_name}: {reason}" for item, reason in left_out)
        messages.warning(request, f"{why}: {names}")
