"""Views of threads: the threads of a place, their export, and the forms that change them."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponse, JsonResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from dashboard.accounts.permissions import REMOVE_COMMENTS, require_permission
from dashboard.comments.mentions import find_names, people
from dashboard.comments.models import Comment, LineKind, Thread
from dashboard.comments.queries import exported_comments, threads_of, with_lines
from dashboard.comments.threads import (
    CommentError,
    add_comment,
    delete_comment,
    edit_comment,
    set_open,
)
from dashboard.ledger.models.operations import actor_name
from dashboard.web.comments.discussion import Discussion, discussion_url, place_or_404
from dashboard.web.comments.new_thread import TextChangedError, read_new_thread
from dashboard.web.comments.subjects import OF_CONVERSATION
from dashboard.web.ui.csv import Cell, csv_response
from dashboard.web.ui.forms import forget_unsent_form, resumed_form, sent_form_key
from dashboard.web.ui.htmx import Request, render_partial, safe_return_url
from dashboard.web.ui.query_params import MAX_TEXT_LENGTH

HIDDEN_FIELDS = ("place", "kind", "about", "object_id", "version", "start", "end", "digest")
"""The fields that say what a new thread is about."""

CELLS = (
    Cell("Thread", "thread_id"),
    Cell("On", "thread.kind"),
    Cell("Page", "thread.page_id"),
    Cell("Audience", "thread.audience_id"),
    Cell("Object", "thread.object_id"),
    Cell("Version", "thread.version_number"),
    Cell("Quote", "thread.quote"),
    Cell("State", lambda line: "open" if line.thread.is_open else "resolved"),
    Cell("Line", "kind"),
    Cell("Author", "author_name"),
    Cell("Written", "created_at"),
    Cell("Edited", "edited_at"),
    Cell("Deleted", "deleted_at"),
    Cell("Text", "body"),
)


@require_GET
def discussion(request: Request) -> HttpResponse:
    """Show the threads of `?place=`. Open pages fetch "discussion" or "item-discussion"."""
    place = place_or_404(request.GET.get("place", ""))
    context = {"place": place, "discussion": Discussion(place.place, threads_of(place.place))}
    return render_partial(
        request, "comments/discussion.html", context, parts=("discussion", "item-discussion")
    )


@require_GET
def comment_people(request: Request) -> JsonResponse:
    """Return the names of the users who can be mentioned, without the viewer's."""
    others = [user for user in people() if user.pk != request.user.pk]
    return JsonResponse([actor_name(user) for user in others], safe=False)


@require_GET
def comment_export(request: Request) -> StreamingHttpResponse:
    """Download all comments, or those of `?place=`."""
    place = request.GET.get("place", "").replace("\0", "")[: 10 * MAX_TEXT_LENGTH]
    name = f"comments-{timezone.localdate():%Y-%m-%d}.csv"
    return csv_response(name, CELLS, exported_comments(place))


@require_GET
def thread_detail(request: Request, thread_id: int) -> HttpResponse:
    """Redirect to a thread on its page. Notifications link here."""
    thread = get_object_or_404(Thread, pk=thread_id)
    return redirect(f"{place_or_404(thread.place).path}#thread-{thread.pk}")


@require_http_methods(["GET", "HEAD", "POST"])
def thread_new(request: Request) -> HttpResponse:
    """Begin a thread; see `read_new_thread` for the fields."""
    fields = _fields(request)
    body = fields.get("body", "")
    thread: Thread | None = None
    error: CommentError | None = None
    try:
        thread = read_new_thread(fields)
        if request.method == "POST":
            comment = add_comment(request.user, thread, body, form_key=sent_form_key(request))
            return _done(request, comment.thread, comment.body)
    except CommentError as problem:
        error = problem
    hidden = {name: fields.get(name) for name in HIDDEN_FIELDS}
    context: dict[str, Any] = {"button": "Comment" if thread else "", "body": body}
    if thread:
        hidden["digest"], context["quote"] = thread.text_digest, thread.quote
        if thread.kind in OF_CONVERSATION:
            note = f"On a {thread.kind} of the conversation. Its text isn’t stored."
            context["note"] = note
    place = fields.get("place", "")
    return _show_form(request, place, error, title="New comment", hidden=hidden, **context)


def _fields(request: Request) -> QueryDict:
    """Return the sent fields, or those saved until the user signed in again, or the URL's."""
    return request.POST if request.method == "POST" else resumed_form(request) or request.GET


def _show_form(
    request: Request, place: str, error: CommentError | None, **context: Any
) -> HttpResponse:
    """Show a form. Its field `next` is the page to return to, instead of the place's own."""
    status = HTTPStatus.OK
    if isinstance(error, TextChangedError):
        status = HTTPStatus.CONFLICT
    elif error and request.method == "POST":
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    target = place_or_404(place)
    context |= {
        "place": target,
        "problem": error or "",
        "hidden": {**context.get("hidden", {}), "next": _fields(request).get("next")},
        "back": safe_return_url(request, "next", target.path),
    }
    return render(request, "comments/form.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def thread_reply(request: Request, thread_id: int) -> HttpResponse:
    thread = get_object_or_404(Thread, pk=thread_id)
    body, error = _fields(request).get("body", ""), None
    if request.method == "POST":
        try:
            add_comment(request.user, thread, body, form_key=sent_form_key(request))
            return _done(request, thread, body)
        except CommentError as problem:
            error = problem
    context = {"thread": with_lines([thread])[0], "thread_id": thread.pk, "body": body}
    return _show_form(request, thread.place, error, title="Reply", button="Reply", **context)


@require_http_methods(["GET", "HEAD", "POST"])
def thread_resolve(request: Request, thread_id: int) -> HttpResponse:
    return _set_open(request, thread_id, is_open=False)


@require_http_methods(["GET", "HEAD", "POST"])
def thread_reopen(request: Request, thread_id: int) -> HttpResponse:
    return _set_open(request, thread_id, is_open=True)


def _set_open(request: Request, thread_id: int, *, is_open: bool) -> HttpResponse:
    thread = get_object_or_404(Thread, pk=thread_id)
    if request.method != "POST":
        return redirect("thread-detail", thread.pk)
    set_open(request.user, thread, is_open=is_open)
    return _done(request, thread)


@require_http_methods(["GET", "HEAD", "POST"])
def comment_edit(request: Request, comment_id: int) -> HttpResponse:
    comment = _comment_or_404(comment_id)
    body, error = _fields(request).get("body", comment.body), None
    if request.method == "POST":
        try:
            edit_comment(request.user, comment, body)
            return _done(request, comment.thread, body)
        except CommentError as problem:
            error = problem
    form = {"title": "Edit comment", "button": "Save", "thread_id": comment.thread_id}
    return _show_form(request, comment.thread.place, error, body=body, **form)


@require_http_methods(["GET", "HEAD", "POST"])
def comment_delete(request: Request, comment_id: int) -> HttpResponse:
    """Delete the user's own comment, or as an administrator the text of another user's."""
    comment = _comment_or_404(comment_id)
    if comment.author_id != request.user.pk:
        require_permission(request, REMOVE_COMMENTS)
    if request.method != "POST":
        note = "The text can’t be restored. If there are replies, a line shows that it was deleted."
        context = {"deleted": comment, "thread_id": comment.thread_id, "note": note}
        title = "Delete comment"
        return _show_form(request, comment.thread.place, None, title=title, button=title, **context)
    delete_comment(request.user, comment)
    messages.success(request, "Comment deleted.")
    return _done(request, comment.thread)


def _comment_or_404(comment_id: int) -> Comment:
    comments = Comment.objects.select_related("thread", "author").filter(kind=LineKind.COMMENT)
    comment = get_object_or_404(comments, pk=comment_id, deleted_at=None)
    comment.names = list(comment.mentions.all())
    return comment


def _done(request: Request, thread: Thread, body: str = "") -> HttpResponse:
    """Redirect to the threads of the place, and warn of names that match nobody."""
    forget_unsent_form(request)
    unknown = find_names(body, people()).unknown if "@" in body else []
    if unknown:
        listed = ", ".join(f"@{name}" for name in unknown[:5])
        messages.warning(request, f"No one was notified of {listed}: there is no such person.")
    if request.htmx:
        return redirect(_region_url(request, thread.place))
    page = safe_return_url(request, "next", place_or_404(thread.place).path)
    return redirect(f"{page}#thread-{thread.pk}" if thread.pk else page)


def _region_url(request: Request, place: str) -> str:
    """Return the URL of the partial with the threads, for the page from which htmx sent the form.

    An audience's page shows its threads beside a text, so its own URL is returned.
    """
    page, here = request.htmx.current_url_abs_path or "", place_or_404(place)
    is_audience_s = here.kind == "audience" and urlsplit(page).path == here.path
    return page.partition("#")[0] if is_audience_s else discussion_url(place)
