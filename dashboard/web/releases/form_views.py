"""Forms of a release: create it, edit its name and note, and change an item."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.releases import decisions, drafting
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import MAX_NAME, MAX_NOTE, Release, ReleaseItem, ReleaseState
from dashboard.releases.planning import planned_versions
from dashboard.web.releases.board import read_board
from dashboard.web.releases.selection import (
    AUDIENCE_FIELD,
    describe_selection,
    selected_audiences,
    selected_versions,
    with_all_matching,
)
from dashboard.web.releases.views import problem_context, release_url, show_board, show_marked
from dashboard.web.ui.forms import forget_unsent_form, resumed_form, sent_form_key
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import int_param

NEW = "new"
"""Value of the field `release` for a new release, in place of a draft's id."""
MAX_DRAFTS = 20
"""Maximum number of drafts to choose from, newest first."""


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def release_new(request: Request) -> HttpResponse:
    """Create a release from the selected audiences or versions, or add audiences to a draft.

    An `audience` holds the ids of page and audience. A `version` also holds the version's id.
    `then=review` creates the release at once. Otherwise the form asks for a name or a draft.
    """
    fields = request.POST if request.method == "POST" else resumed_form(request) or request.GET
    fields = with_all_matching(fields, request.user)
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
    # `added` makes the list of audiences clear its selection.
    return redirect(f"{release_url(release)}?added=1")


def _create_or_add(request: Request, fields: QueryDict) -> Release:
    """Create a release, or add to the chosen draft. Raises ReleaseError.

    If the same form is sent again, return the release that it created.
    """
    form_key = sent_form_key(request)
    if form_key and (release := Release.objects.filter(form_key=form_key).first()):
        return release
    columns: dict[str, Any] = {
        "name": fields.get("name", ""),
        "note": fields.get("note", ""),
        "user": request.user,
        # A button in a list only opens a release. Sending the form keeps it.
        "is_provisional": fields.get("then") == "review" and "release" not in fields,
        "form_key": form_key,
    }
    if versions := selected_versions(fields):
        return drafting.create_draft(planned=planned_versions(versions), **columns)
    audiences = selected_audiences(fields)
    chosen = fields.get("release", NEW)
    if chosen == NEW:
        return drafting.create_release(audiences=audiences, **columns)
    release = Release.objects.filter(pk=int_param(chosen)).first()
    if release is None:
        raise ReleaseError("Choose a release.", field="release")
    try:
        drafting.add_audiences(release, audiences, request.user)
    except ReleaseError:
        if not set(audiences) <= {*release.items.values_list("page_id", "audience_id")}:
            raise
        messages.info(request, "They are already in this release.")
        return release
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
        **_text_context(fields, error),
        **problem_context(error),
    }
    return render(request, "releases/new.html", context, status=422 if error else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(PUBLISH)
def release_edit(request: Request, release_id: int) -> HttpResponse:
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
        **_text_context(fields, error),
        **problem_context(error),
    }
    return render(request, "releases/edit.html", context, status=422 if error else 200)


@require_POST
@requires(PUBLISH)
def release_item(request: Request, release_id: int, item_id: int) -> HttpResponse:
    """Change an item by `action`: mark, move, remove or skip it, or choose another version.

    After a mark, htmx gets the next item to review. All other actions redirect to the board.
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
    match action:
        case "reviewed" | "unreviewed":
            displayed_digest = request.POST.get("shown", "")
            is_reviewed = action == "reviewed"
            drafting.mark_reviewed(
                item, request.user, reviewed=is_reviewed, displayed_digest=displayed_digest
            )
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


def _text_context(fields: Mapping[str, str], error: ReleaseError | None) -> dict[str, Any]:
    """Return the limits of the name and the note, and their problems if the form was rejected."""
    name, note = fields.get("name", ""), fields.get("note", "")
    return {
        "max_name": MAX_NAME,
        "max_note": MAX_NOTE,
        "text_problems": drafting.text_problems(name, note) if error else {},
    }
