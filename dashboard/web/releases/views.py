"""Releases: the agenda, one release, and its export."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url

from dashboard.releases.approval_subjects import approval_of
from dashboard.releases.drafting import REVIEWABLE
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release
from dashboard.releases.reviewing import light_items
from dashboard.web.lists.state import ListState
from dashboard.web.releases.board import ItemDetail, read_board
from dashboard.web.releases.listing import RELEASES, list_owners, read_agenda
from dashboard.web.releases.progress import (
    preview_retry,
    preview_rollback,
    progress_context,
)
from dashboard.web.releases.summary import finished_rollbacks, summarize, worker_status
from dashboard.web.ui.csv import Cell, csv_response
from dashboard.web.ui.forms import resumed_form
from dashboard.web.ui.htmx import Request, render_partial

PARTS = ("detail", "release")
EXPORT = (
    Cell("order", "position"),
    Cell("page", "page_name"),
    Cell("audience", "audience_name"),
    Cell("version number", "version_number"),
    Cell("live version number before", "live_version_number"),
    Cell("words added", "words_added"),
    Cell("words removed", "words_removed"),
    Cell("state", lambda item: item.get_state_display()),
    Cell("reason", "reason"),
    Cell("reviewed at (UTC)", "reviewed_at"),
    Cell("reviewed by", "reviewed_by_name"),
    Cell("sent at (UTC)", "sent_at"),
    Cell("settled at (UTC)", "settled_at"),
    Cell("page ID", "page_id"),
    Cell("audience ID", "audience_id"),
    Cell("version ID", "version_id"),
    Cell("live version ID before", "live_version_id"),
    Cell("operation key", "operation_key"),
)
_RELEASES = Release.objects.select_related("rolls_back", "approval")


@require_GET
def release_list(request: Request) -> HttpResponse:
    """List releases by state and time, filtered by `?q= state= owner=`."""
    state = ListState.parse(RELEASES, request.GET)
    context = {
        "here": "releases",
        "state": state,
        "agenda": read_agenda(state),
        "owners": list_owners(),
        "worker": worker_status(),
    }
    return render_partial(request, "releases/list.html", context, parts=("results", "scheduler"))


@require_GET
def release_detail(request: Request, release_id: int) -> HttpResponse:
    """Show the review board, or the progress and result of a started release.

    `?item=` selects an item of the board. `?state=` shows all items of a group.
    """
    release = get_object_or_404(_RELEASES, pk=release_id)
    if release.state in REVIEWABLE or "item" in request.GET:
        return show_board(request, release, request.GET)
    return show_progress(request, release)


def release_url(release: Release, *, item: int | None = None) -> str:
    url = reverse("release-detail", args=[release.pk])
    return f"{url}?{urlencode({'item': item})}#detail" if item else url


def show_board(
    request: Request,
    release: Release,
    params: Mapping[str, str],
    *,
    error: ReleaseError | None = None,
) -> HttpResponse:
    release = get_object_or_404(_RELEASES, pk=release.pk)
    context = _board_context(request, release, params) | entered_fields(request, error)
    status = 422 if error else 200
    if error and request.htmx.target == "detail":
        return render(request, "releases/detail.html#detail", context, status=status)
    return render_partial(request, "releases/detail.html", context, parts=PARTS, status=status)


def show_marked(request: Request, release: Release, *, marked: int, selected: int) -> HttpResponse:
    """Return the partial after an item was marked: the selected item, and the marked entry."""
    context = _board_context(request, release, {"item": str(selected)})
    entries = context["board"].entries
    context["marked"] = next((entry for entry in entries if entry.item.pk == marked), None)
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
        "entered_count": "",
        "chosen_version": "",
        "emergency_reason": "",
        "publishes_others": release.publishes_others,
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


def problem_context(error: ReleaseError | None) -> dict[str, Any]:
    return {"problem": str(error) if error else "", "problem_field": error.field if error else ""}


def confirmation(request: Request) -> dict[str, Any]:
    """Return what the user confirmed in a form, as arguments of a decision."""
    fields = request.POST
    return {
        "entered_count": fields.get("typed", ""),
        "displayed_digest": fields.get("shown", ""),
        "publishes_others": "publishes_others" in fields,
    }


def entered_fields(request: Request, error: ReleaseError | None) -> dict[str, Any]:
    """Return what was typed into a form that was rejected, with the problem.

    Also returns what was typed before the user had to sign in again.
    """
    fields = request.POST if error else resumed_form(request)
    if fields is None:
        return {}
    return {
        **problem_context(error),
        "entered_count": fields.get("typed", ""),
        "chosen_version": fields.get("version", ""),
        "emergency_reason": fields.get("emergency_reason", ""),
        "publishes_others": "publishes_others" in fields,
    }


def show_progress(
    request: Request, release: Release, *, error: ReleaseError | None = None
) -> HttpResponse:
    context = progress_page_context(request, release) | entered_fields(request, error)
    status = 422 if error else 200
    return render_partial(request, "releases/detail.html", context, parts=PARTS, status=status)


def progress_page_context(request: Request, release: Release) -> dict[str, Any]:
    context = _release_context(release)
    return context | {
        "view": "progress",
        "rollback": preview_rollback(context["summary"]),
        "retry": preview_retry(context["summary"]),
        **progress_context(request, context["summary"], page_url=release_url(release)),
    }


@require_GET
def release_export(request: Request, release_id: int) -> StreamingHttpResponse:
    release = get_object_or_404(Release, pk=release_id)
    return csv_response(f"release-{release.pk}.csv", EXPORT, light_items(release))
