"""Views of an audience's conversation, which is fetched for each request and never stored."""

from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import clock
from dashboard.client import APIError, NoResponseError, NotFoundError
from dashboard.service.client import run_concurrently
from dashboard.service.reading import (
    AudienceLookup,
    ReadResult,
    page_name,
    read_audience,
    read_conversation,
)
from dashboard.web.audiences.progress import version_in_progress
from dashboard.web.audiences.state import head_last_known, head_of
from dashboard.web.conversations.export import comments_in, to_json, to_markdown
from dashboard.web.conversations.search import SHOWS, ConversationSearchResult, make_rows
from dashboard.web.conversations.snapshot import ConversationSnapshot
from dashboard.web.conversations.thread import ConversationThread, ThreadMessage, build_thread
from dashboard.web.conversations.tool_calls import ThreadCall
from dashboard.web.conversations.verdicts import verdicts_in
from dashboard.web.ui.failures import explain
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.query_params import browser_query, search_param


@require_GET
def conversation(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show a conversation, filtered by ?show= and searched by ?q=.

    Other pages of the audience fetch the partial "tab-counts".
    """
    if wants_partial(request, ("tab-counts",)):
        return _tab_counts(request, page_id, audience_id)
    if request.htmx.target == "matches":
        context = _search_context(request, _read(page_id, audience_id))
        return render_partial(request, "conversations/detail.html", context, parts=("matches",))
    fetched = run_concurrently(lambda: read_conversation(page_id, audience_id))
    context = _page_context(page_id, audience_id)
    try:
        reading, head = context["reading"], context["head"]
        if reading and isinstance(reading.error, NoResponseError):
            raise reading.error  # Spare the user a second wait.
        thread = build_thread(fetched(), live=head.live if head else None)
    except NotFoundError as error:
        if head is None:
            raise
        is_gone = error.status_code == HTTPStatus.GONE
        context |= {"missing": error, "is_gone": is_gone}
        status = HTTPStatus.GONE if is_gone else HTTPStatus.OK
        return render(request, "conversations/not_found.html", context, status=status)
    except APIError as error:
        context["failure"] = failure = explain(error)
        return render(request, "conversations/failed.html", context, status=failure.status)
    context |= _search_context(request, thread) | _conversation_context(
        thread, request.GET, (page_id, audience_id)
    )
    context["snapshot"] = ConversationSnapshot.at(thread)
    return render_partial(request, "conversations/detail.html", context)


def _tab_counts(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    context: dict[str, Any] = {"is_read": True}
    with suppress(APIError):  # the page of the tab shows the error
        context["conversation"] = _read(page_id, audience_id)
    return render(request, "conversations/_tab_counts.html", context)


@require_GET
def conversation_newer(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Return what changed since the snapshot in the query string, or 204 if nothing did."""
    snapshot = ConversationSnapshot.of_request(request)
    head = head_last_known(page_id, audience_id)
    context: dict[str, Any] = {"page_id": page_id, "audience_id": audience_id, "head": head}
    try:
        live = head.live if head else None
        thread = build_thread(read_conversation(page_id, audience_id), live=live)
    except APIError as error:
        if snapshot.failed:
            return HttpResponse(status=204)
        context |= {"snapshot": replace(snapshot, failed=True), "failure": explain(error)}
        return render(request, "conversations/newer.html", context)
    now = snapshot.advance(thread)
    if now == snapshot:
        return HttpResponse(status=204)
    params = browser_query(request)
    rows = make_rows(thread)
    announcements = []
    if snapshot.pending != now.pending:
        announcements.append(f"Pending changes updated: {len(thread.pending)} pending.")
    if snapshot.context != now.context:
        announcements.append("Context updated, and the fields and statuses inferred from it.")
    context |= _conversation_context(thread, params, (page_id, audience_id)) | {
        "rows": rows,
        "snapshot": now,
        "new_rows": rows[snapshot.count :],
        "old_rows": rows[: snapshot.count],
        "is_changed": snapshot.is_outdated_by(thread),
        "announcements": announcements,
        "show": _show_param(params),
    }
    return render(request, "conversations/newer.html", context)


@require_GET
def tool_call(
    request: Request, page_id: str, audience_id: str, message_key: str, index: int
) -> HttpResponse:
    """Show a tool call on its own page, or only the content of its fold."""
    message, call = _find_call(_read(page_id, audience_id), message_key, index)
    context = {
        "page_id": page_id,
        "audience_id": audience_id,
        "message": message,
        "call": call,
        "words": search_param(request.GET),
    }
    if request.htmx.target == f"{message.anchor}-{index}-in":
        response = render(request, "conversations/_call_body.html", context)
    else:
        context |= _page_context(page_id, audience_id)
        response = render(request, "conversations/call.html", context)
    patch_vary_headers(response, ["HX-Target"])
    return response


@require_GET
@never_cache
def tool_result(
    request: Request, page_id: str, audience_id: str, message_key: str, index: int
) -> HttpResponse:
    message, call = _find_call(_read(page_id, audience_id), message_key, index)
    response = JsonResponse(call.result, safe=False, json_dumps_params=_READABLE)
    return _attach(response, f"result-{message.number}-{index}.json")


@require_GET
@never_cache
def conversation_export(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Download the conversation as received in JSON, or as Markdown with ?format=markdown.

    Both include verdicts and comments.
    """
    conversation = read_conversation(page_id, audience_id)
    comments = comments_in(page_id, audience_id)
    if request.GET.get("format") != "markdown":
        verdicts = verdicts_in(build_thread(conversation), page_id, audience_id)
        exported = to_json(conversation, verdicts=verdicts, comments=comments)
        response: HttpResponse = JsonResponse(exported, json_dumps_params=_READABLE)
        return _attach(response, "conversation.json")
    reading = _audience(page_id, audience_id)
    live = reading.value.audience.published_version if reading else None
    title = _title(audience_id, reading)
    thread = build_thread(conversation, live=live)
    verdicts = verdicts_in(thread, page_id, audience_id)
    text = to_markdown(thread, title=title, verdicts=verdicts, comments=comments)
    response = HttpResponse(text.encode(), content_type="text/markdown; charset=utf-8")
    return _attach(response, "conversation.md")


_READABLE = {"ensure_ascii": False, "indent": 2}


def _read(page_id: str, audience_id: str) -> ConversationThread:
    return build_thread(read_conversation(page_id, audience_id))


def _audience(page_id: str, audience_id: str) -> ReadResult[AudienceLookup] | None:
    """Return the audience; None if neither the service's list nor the ledger has it.

    A truncated list may lack an audience whose conversation exists.
    """
    try:
        return read_audience(page_id, audience_id)
    except NotFoundError:
        return None


def _title(audience_id: str, reading: ReadResult[AudienceLookup] | None) -> str:
    return (reading.value.audience.name if reading else None) or audience_id


def _page_context(page_id: str, audience_id: str) -> dict[str, Any]:
    reading = _audience(page_id, audience_id)
    head = head_of(page_id, audience_id, reading.value) if reading else None
    return {
        "here": "pages",
        "reading": reading,
        "page_id": page_id,
        "page_name": page_name(page_id),
        "audience_id": audience_id,
        "head": head,
        "in_progress": version_in_progress(head, now=clock.now()) if head else None,
        "title": _title(audience_id, reading),
    }


def _search_context(request: Request, thread: ConversationThread) -> dict[str, Any]:
    show = _show_param(request.GET)
    words = search_param(request.GET)
    rows = make_rows(thread, show=show, words=words)
    result = ConversationSearchResult(words, rows) if words else None
    return {"rows": rows, "result": result, "show": show, "words": words}


def _show_param(params: QueryDict) -> str:
    show = params.get("show", "")
    return show if show in SHOWS else ""


def _conversation_context(
    thread: ConversationThread, params: QueryDict, ids: tuple[str, str]
) -> dict[str, Any]:
    """Return the context of a conversation. `params` is the query string of the page."""
    # Ignore a filter whose buttons are not rendered, as the user couldn't remove it.
    states = {state for state, _, _ in thread.pending_filters}
    return {
        "conversation": thread,
        "verdicts": verdicts_in(thread, *ids),
        "messages_count": len(thread.messages),
        "messages_after": len(thread.after_line),
        "params": params,
        "pending_show": params.get("pending") if params.get("pending") in states else "",
    }


def _find_call(
    thread: ConversationThread, message_key: str, index: int
) -> tuple[ThreadMessage, ThreadCall]:
    for message in thread.messages:
        if message.key == message_key and 1 <= index <= len(message.calls):
            return message, message.calls[index - 1]
    raise Http404("Tool call not found.")


def _attach(response: HttpResponse, filename: str) -> HttpResponse:
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
