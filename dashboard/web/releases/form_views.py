"""The forms of a release: new, name and note, schedule, and what is done with one item."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.ledger.models import ApprovalRequest
from dashboard.releases import approving, decisions, drafting
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import MAX_NAME, MAX_NOTE, Release, ReleaseItem, ReleaseState
from dashboard.releases.schedules import AmbiguousTimeError, parse_moment
from dashboard.web.releases.approval import approval_of
from dashboard.web.releases.board import read_board
from dashboard.web.releases.selection import (
    AUDIENCE_FIELD,
    describe_selection,
    selected_audiences,
    selected_versions,
    with_all_matching,
)
from dashboard.web.releases.summary import summarize, worker_status
from dashboard.web.releases.unsent_forms import forget_unsent_form, resumed_form, ticket_of
from dashboard.web.releases.views import release_url, show_board, show_marked
from dashboard.web.ui.approvals import redirect_to_request
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import int_param
from dashboard.web.ui.time_zones import BROWSER_CHOICE, current_zone_name, zone_choices

NEW = "new"
"""The choice of a new release, in place of a draft's id."""
MAX_DRAFTS = 20
"""Drafts that audiences can be added to, the newest first."""


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def release_new(request: Request) -> HttpResponse:
    """Make a release of the selected audiences or versions, or add them to a draft.

    `audience` are ids of pages and audiences, `version` those of pages, audiences and versions.
    `then=review` creates it at once; otherwise the form asks for a name, or for the draft.
    """
    fields = request.POST if request.method == "POST" else resumed_form(request) or request.GET
    fields = with_all_matching(fields)
    is_decided = fields.get("then") == "review" or "release" in fields
    if request.method != "POST" or not is_decided:
        return _show_new(request, fields)
    try:
        release = _create_or_add(request, fields)
    except ReleaseError as error:
        return _show_new(request, fields, error)
    forget_unsent_form(request)
    if fields.get("then") == "schedule":
        return redirect("release-schedule", release.pk)
    # The list of audiences clears its selection then.
    return redirect(f"{release_url(release)}?added=1")


def _create_or_add(request: Request, fields: QueryDict) -> Release:
    """Create a release, or add to the draft that was chosen. Raises ReleaseError."""
    name, note = fields.get("name", ""), fields.get("note", "")
    # By one press in a list, it is only opened; the form is sent by a person who wants it.
    is_provisional = fields.get("then") == "review" and "release" not in fields
    if versions := selected_versions(fields):
        return drafting.create_from_versions(
            name=name,
            note=note,
            targets=versions,
            user=request.user,
            is_provisional=is_provisional,
        )
    audiences = selected_audiences(fields)
    chosen = fields.get("release", NEW)
    if chosen == NEW:
        return drafting.create_release(
            name=name,
            note=note,
            audiences=audiences,
            user=request.user,
            is_provisional=is_provisional,
        )
    release = Release.objects.filter(pk=int_param(chosen)).first()
    if release is None:
        raise ReleaseError("Choose a release.", field="release")
    drafting.add_audiences(release, audiences, request.user)
    messages.success(request, f"Added {len(audiences)} to this release.")
    return release


def _show_new(
    request: Request, fields: QueryDict, error: ReleaseError | None = None
) -> HttpResponse:
    context = {
        "here": "releases",
        "fields": fields,
        "selection": describe_selection(fields, error.problems if error else ()),
        "versions": fields.getlist("version"),
        "is_empty": not (fields.getlist(AUDIENCE_FIELD) or fields.getlist("version")),
        "drafts": Release.listed.filter(state=ReleaseState.DRAFT)[:MAX_DRAFTS],
        "chosen": fields.get("release", NEW),
        "ticket": ticket_of(request),
        **_limits(),
        **_problem(error),
    }
    return render(request, "releases/new.html", context, status=422 if error else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def release_edit(request: Request, release_id: int) -> HttpResponse:
    """Edit the name and the note of a draft."""
    release = get_object_or_404(Release, pk=release_id)
    fields = {"name": release.name if release.has_own_name else "", "note": release.note}
    error = None
    if request.method == "POST":
        fields = {name: request.POST.get(name, "") for name in fields}
        try:
            drafting.set_name_and_note(release, fields["name"], fields["note"])
        except ReleaseError as problem:
            error = problem
        else:
            forget_unsent_form(request)
            return redirect(release_url(release))
    elif resumed := resumed_form(request):
        fields = {name: resumed.get(name, "") for name in fields}
    context = {
        "here": "releases",
        "release": get_object_or_404(Release, pk=release_id),
        "fields": fields,
        "ticket": ticket_of(request),
        **_limits(),
        **_problem(error),
    }
    return render(request, "releases/edit.html", context, status=422 if error else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def release_schedule(request: Request, release_id: int) -> HttpResponse:
    """Schedule a release, change its schedule, or cancel it (`action=cancel`)."""
    release = get_object_or_404(Release, pk=release_id)
    if request.method != "POST":
        return _show_schedule(request, release, resumed_form(request) or _scheduled(release))
    try:
        if request.POST.get("action") == "cancel":
            decisions.cancel_schedule(release, request.user)
            messages.success(request, "The schedule was canceled. This is a draft again.")
            return redirect(release_url(release))
        approval = _schedule(request, release)
    except AmbiguousTimeError as ambiguous:
        return _show_schedule(request, release, request.POST, ambiguous=ambiguous)
    except ReleaseError as error:
        return _show_schedule(request, release, request.POST, error=error)
    forget_unsent_form(request)
    if approval:
        return redirect_to_request(request, approval)
    return redirect(release_url(release))


def _schedule(request: Request, release: Release) -> ApprovalRequest | None:
    """Schedule a release as typed, or ask for the approval of that and return the request.

    Raises ReleaseError, and AmbiguousTimeError if the time occurs twice that day.
    """
    typed = request.POST
    moment = parse_moment(
        typed.get("date", ""),
        typed.get("time", ""),
        typed.get("zone", ""),
        fold=typed.get("fold", ""),
        now=timezone.now(),
    )
    if typed.get("due", "") != _due_mark(release):
        raise ReleaseError(decisions.SCHEDULE_CHANGED)
    if release.state == ReleaseState.SCHEDULED:
        return decisions.reschedule(release, request.user, moment)
    confirmed = (typed.get("typed", ""), typed.get("shown", ""))
    publishes_others = "publishes_others" in typed
    if "approval" in typed:
        return approving.request_approval(
            release, request.user, *confirmed, moment=moment, publishes_others=publishes_others
        )
    decisions.schedule(release, request.user, moment, *confirmed, publishes_others=publishes_others)
    return None


def _due_mark(release: Release) -> str:
    """Return when a release is due, for a hidden field; "" unless it is scheduled."""
    is_scheduled = release.state == ReleaseState.SCHEDULED
    return release.due_at.isoformat() if is_scheduled and release.due_at else ""


def _scheduled(release: Release) -> QueryDict:
    """Return the fields of the present schedule; of a draft today's date, without a time."""
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
        "ticket": ticket_of(request),
        **_problem(error),
    }
    status = 422 if error or ambiguous else 200
    return render(request, "releases/schedule.html", context, status=status)


@require_POST
@requires(PUBLISH)
def release_item(request: Request, release_id: int, item_id: int) -> HttpResponse:
    """Change one item by `action`: its mark, its place, its version; remove or skip it.

    A mark answers htmx with the next item to review; all else redirects to the board.
    """
    item = get_object_or_404(ReleaseItem.objects.select_related("release"), pk=item_id)
    release = item.release
    if release.pk != release_id:
        return redirect("release-detail", release_id)
    board = read_board(release, {"item": str(item_id)})
    action = request.POST.get("action", "")
    after = board.next or board.previous if action in ("remove", "skip") else board.selected
    try:
        _change_item(request, item, action)
    except ReleaseError as error:
        error.field = error.field or "item"
        return show_board(request, release, {"item": str(item_id)}, error=error)
    if action == "reviewed":
        after = board.next_to_review or board.selected
    if action in ("reviewed", "unreviewed") and request.htmx.target == "detail" and after:
        return show_marked(request, release, marked=item_id, selected=after.item.pk)
    return redirect(release_url(release, item=after.item.pk if after else None))


def _change_item(request: Request, item: ReleaseItem, action: str) -> None:
    """Do what a button of the item says. Raises ReleaseError."""
    match action:
        case "reviewed" | "unreviewed":
            shown = request.POST.get("shown", "")
            is_reviewed = action == "reviewed"
            drafting.mark_reviewed(item, request.user, reviewed=is_reviewed, shown=shown)
        case "remove":
            drafting.remove_item(item)
            messages.success(request, f"Removed {item.audience_name} from this release.")
        case "up":
            drafting.move_item(item, -1)
        case "down":
            drafting.move_item(item, 1)
        case "version":
            drafting.choose_version(item, request.POST.get("version", ""))
        case "skip":
            decisions.skip_item(item, request.user)
            messages.success(request, f"Skipped {item.audience_name}. It won’t be sent.")
        case _:
            raise ReleaseError("Choose what to do with this version.", field="item")


def _problem(error: ReleaseError | None) -> dict[str, Any]:
    return {
        "problem": str(error) if error else "",
        "problem_field": error.field if error else "",
    }


def _limits() -> dict[str, int]:
    return {"max_name": MAX_NAME, "max_note": MAX_NOTE}
