"""Releases: the agenda, one release, its decisions, and its export."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import replace_url, reswap, retarget

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.releases import approving, decisions, drafting, next_drafts
from dashboard.releases.drafting import REVIEWABLE
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseState
from dashboard.web.releases.approval import approval_of
from dashboard.web.releases.board import ItemDetail, read_board
from dashboard.web.releases.export import COLUMNS, export_rows
from dashboard.web.releases.listing import AgendaQuery, list_owners, read_agenda
from dashboard.web.releases.progress import preview_retry, preview_rollback, read_progress
from dashboard.web.releases.summary import finished_rollbacks, summarize, worker_status
from dashboard.web.releases.unsent_forms import forget_unsent_form, resumed_form, ticket_of
from dashboard.web.ui.approvals import redirect_to_request
from dashboard.web.ui.csv import csv_response
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.polling import wait_s
from dashboard.web.ui.query_params import int_param

PARTS = ("detail", "check", "progress-poll")
_RELEASES = Release.objects.select_related("rolls_back", "approval")


@require_GET
def release_list(request: Request) -> HttpResponse:
    """List releases by state and time, filtered by `?q= state= owner=`; poll while one runs."""
    query = AgendaQuery.from_params(request.GET)
    agenda = read_agenda(query)
    polls = int_param(request.GET.get("polls", "")) + 1 if request.htmx.target == "poll" else 0
    is_changed = agenda.said != request.GET.get("was", "")
    polls = 0 if is_changed else polls
    context = {
        "here": "releases",
        "query": query,
        "agenda": agenda,
        "owners": list_owners(),
        "worker": worker_status(),
        "polls": polls,
        "wait_s": wait_s(polls),
        "is_changed": is_changed,
    }
    return render_partial(request, "releases/list.html", context, parts=("results", "poll"))


@require_GET
def release_detail(request: Request, release_id: int) -> HttpResponse:
    """Show the review board, or the progress and result of a release that was started.

    `?item=` selects an item of the board, `?state=` shows all items of a group. The page polls
    its partials "check" and "progress-poll" while a worker has something to do.
    """
    release = get_object_or_404(_RELEASES, pk=release_id)
    if release.state in REVIEWABLE or "item" in request.GET:
        return show_board(request, release, request.GET)
    return _show_progress(request, release)


def release_url(release: Release, *, item: int | None = None) -> str:
    """Return the URL of a release, with an item selected."""
    url = reverse("release-detail", args=[release.pk])
    return f"{url}?{urlencode({'item': item})}#detail" if item else url


def show_board(
    request: Request,
    release: Release,
    params: Mapping[str, str],
    *,
    error: ReleaseError | None = None,
) -> HttpResponse:
    """Show the review board; with the error of a decision that was refused."""
    release = get_object_or_404(_RELEASES, pk=release.pk)
    context = _board_context(request, release, params) | _typed(request, error)
    is_poll = wants_partial(request, ("check",))
    polls = int_param(request.GET.get("polls", "")) + 1 if is_poll else 0
    if context["board"].checked != int_param(request.GET.get("checking", "")):
        polls = 0
    context |= {"polls": polls, "wait_s": wait_s(polls)}
    status = 422 if error else 200
    if is_poll and not context["board"].is_checking:
        # All is checked: the whole board is shown again.
        return _replace_release(request, context)
    if error and request.htmx.target == "detail":
        return render(request, "releases/detail.html#detail", context, status=status)
    return render_partial(request, "releases/detail.html", context, parts=PARTS, status=status)


def show_marked(request: Request, release: Release, *, marked: int, selected: int) -> HttpResponse:
    """Answer htmx after an item was marked: the selected item, and what the mark changes."""
    context = _board_context(request, release, {"item": str(selected)})
    entries = context["board"].entries
    context["marked"] = next((each for each in entries if each.item.pk == marked), None)
    response = render(request, "releases/detail.html#detail", context)
    return replace_url(response, release_url(release, item=selected).partition("#")[0])


def _board_context(request: Request, release: Release, params: Mapping[str, str]) -> dict[str, Any]:
    board = read_board(release, params)
    return {
        **_release_context(release),
        "approval": approval_of(release, request.user),
        "view": "board",
        "board": board,
        "detail": ItemDetail(board.selected) if board.selected else None,
        "marked": None,
        "typed": "",
        "typed_version": "",
        "emergency_reason": "",
        "publishes_others": release.publishes_others,
        "ticket": ticket_of(request),
        "polls": 0,
        "wait_s": None,
    }


def _release_context(release: Release) -> dict[str, Any]:
    return {
        "here": "releases",
        "release": release,
        "summary": summarize(release),
        "rollbacks": finished_rollbacks(release),
        "worker": worker_status(),
        "problem": "",
        "problem_field": "",
    }


def _typed(request: Request, error: ReleaseError | None) -> dict[str, Any]:
    """Return what was typed into a decision that was refused, and why; or before a sign-in."""
    fields = request.POST if error else resumed_form(request)
    if fields is None:
        return {}
    return {
        "problem": str(error or ""),
        "problem_field": error.field if error else "",
        "typed": fields.get("typed", ""),
        "typed_version": fields.get("version", ""),
        "emergency_reason": fields.get("emergency_reason", ""),
        "publishes_others": "publishes_others" in fields,
    }


def _show_progress(
    request: Request, release: Release, *, error: ReleaseError | None = None
) -> HttpResponse:
    is_poll = wants_partial(request, ("progress-poll",))
    context = _release_context(release)
    progress = read_progress(context["summary"], request.GET, timezone.now())
    is_changed = is_poll and progress.said != request.GET.get("was", "")
    polls = int_param(request.GET.get("polls", "")) + 1 if is_poll and not is_changed else 0
    context |= {
        "view": "progress",
        "progress": progress,
        "rollback": preview_rollback(context["summary"]),
        "retry": preview_retry(context["summary"]),
        "is_changed": is_changed,
        "polls": polls,
        "wait_s": wait_s(polls),
        **_typed(request, error),
    }
    if is_poll and release.state != ReleaseState.RUNNING:
        return _replace_release(request, context)
    status = 422 if error else 200
    return render_partial(request, "releases/detail.html", context, parts=PARTS, status=status)


def _replace_release(request: Request, context: dict[str, Any]) -> HttpResponse:
    """Answer a poll with all of the page below its title."""
    response = render(request, "releases/detail.html#release", context)
    return reswap(retarget(response, "#release"), "outerHTML")


def _decide(request: Request, release_id: int, decide: Callable[[Release], None]) -> HttpResponse:
    """Carry out a decision, and show the release; or why the decision was refused."""
    release = get_object_or_404(_RELEASES, pk=release_id)
    try:
        decide(release)
    except ReleaseError as error:
        release = get_object_or_404(_RELEASES, pk=release_id)
        if release.state in REVIEWABLE:
            return show_board(request, release, {}, error=error)
        return _show_progress(request, release, error=error)
    forget_unsent_form(request)
    return redirect(release_url(release))


@require_POST
@requires(PUBLISH)
def release_discard(request: Request, release_id: int) -> HttpResponse:
    """Remove a draft that the user leaves without a decision; one that was kept stays as it is."""
    release = get_object_or_404(Release, pk=release_id)
    if not drafting.discard(release, request.user):
        return redirect(release_url(release))
    return redirect(release_url(release.rolls_back) if release.rolls_back else "release-list")


@require_POST
@requires(PUBLISH)
def release_check(request: Request, release_id: int) -> HttpResponse:
    """Have a worker read the items of a release from the service again."""
    return _decide(request, release_id, drafting.request_check)


@require_POST
@requires(PUBLISH)
def release_publish(request: Request, release_id: int) -> HttpResponse:
    """Publish a release now; in an emergency without the approval that it needs."""
    typed, shown = request.POST.get("typed", ""), request.POST.get("shown", "")
    reason = request.POST.get("emergency_reason", "") if "emergency" in request.POST else None

    def publish(release: Release) -> None:
        decisions.publish(
            release,
            request.user,
            typed,
            shown,
            publishes_others="publishes_others" in request.POST,
            emergency_reason=reason,
        )

    return _decide(request, release_id, publish)


@require_POST
@requires(PUBLISH)
def release_request_approval(request: Request, release_id: int) -> HttpResponse:
    """Ask another person to approve a release, and show the request; it is sent once approved."""
    release = get_object_or_404(_RELEASES, pk=release_id)
    typed, shown = request.POST.get("typed", ""), request.POST.get("shown", "")
    try:
        approval = approving.request_approval(
            release,
            request.user,
            typed,
            shown,
            publishes_others="publishes_others" in request.POST,
        )
    except ReleaseError as error:
        return show_board(request, release, {}, error=error)
    forget_unsent_form(request)
    return redirect_to_request(request, approval)


@require_POST
@requires(PUBLISH)
def release_continue(request: Request, release_id: int) -> HttpResponse:
    """Continue a held release with the items that were not sent."""
    typed, shown = request.POST.get("typed", ""), request.POST.get("shown", "")
    publishes_others = "publishes_others" in request.POST

    def continue_release(release: Release) -> None:
        decisions.continue_release(
            release, request.user, typed, shown, publishes_others=publishes_others
        )

    return _decide(request, release_id, continue_release)


@require_POST
@requires(PUBLISH)
def release_stop(request: Request, release_id: int) -> HttpResponse:
    """Stop a running release after the item that is being sent."""
    return _decide(request, release_id, lambda release: decisions.stop(release, request.user))


@require_POST
@requires(PUBLISH)
def release_cancel(request: Request, release_id: int) -> HttpResponse:
    """Cancel a release; of a held one, the items that were not sent."""
    return _decide(request, release_id, lambda release: decisions.cancel(release, request.user))


@require_POST
@requires(PUBLISH)
def release_roll_back(request: Request, release_id: int) -> HttpResponse:
    """Make a new draft of what was live before each item of an ended release."""
    why = "Can’t be rolled back, so left out"
    return _show_next_draft(request, release_id, next_drafts.roll_back, why)


@require_POST
@requires(PUBLISH)
def release_retry(request: Request, release_id: int) -> HttpResponse:
    """Make a new draft of the failed items of a finished release."""
    return _show_next_draft(request, release_id, next_drafts.retry_failed, "Not included")


def _show_next_draft(
    request: Request,
    release_id: int,
    make: Callable[[Release, User], tuple[Release, next_drafts.LeftOut]],
    why: str,
) -> HttpResponse:
    """Make a draft that follows a release, and show it with what it leaves out; or the refusal."""
    release = get_object_or_404(Release, pk=release_id)
    try:
        draft, left_out = make(release, request.user)
    except ReleaseError as error:
        return _show_progress(request, release, error=error)
    if left_out:
        names = "; ".join(f"{item.audience_name}: {reason}" for item, reason in left_out)
        messages.warning(request, f"{why}: {names}")
    return redirect(release_url(draft))


@require_GET
def release_export(request: Request, release_id: int) -> StreamingHttpResponse:
    """Export the items of a release as CSV."""
    release = get_object_or_404(Release, pk=release_id)
    return csv_response(f"release-{release.pk}.csv", COLUMNS, export_rows(release))
