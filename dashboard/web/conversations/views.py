"""Views of an audience's conversation, which is always fetched and never stored."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard.client import APIError, NoResponseError, NotFoundError
from dashboard.service.concurrency import run_concurrently
from dashboard.service.reading import (
    AudienceLookup,
    ReadResult,
    page_name,
    read_audience,
    read_conversation,
)
from dashboard.web.audiences.polling import version_poll
from dashboard.web.audiences.state import head_last_known, head_of
from dashboard.web.conversations.export import to_markdown
from dashboard.web.conversations.polling import ConversationSnapshot
from dashboard.web.conversations.search import (
    SHOWS,
    ConversationSearchResult,
    make_rows,
)
from dashboard.web.conversations.thread import ShownConversation, ShownMessage, show_conversation
from dashboard.web.conversations.tool_calls import ShownCall
from dashboard.web.ui.failures import explain
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.load_more import browser_query
from dashboard.web.ui.query_params import search_param


@require_GET
def conversation(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show a conversation, narrowed by ?show= and searched by ?q=.

    The other pages of the audience fetch the partial "tab-counts".
    """
    if wants_partial(request, ("tab-counts",)):
        return _tab_counts(request, page_id, audience_id)
    if request.htmx.target == "found":
        context = _search_context(request, _read(page_id, audience_id))
        return render_partial(request, "conversations/detail.html", context, parts=("found",))
    fetched = run_concurrently(lambda: read_conversation(page_id, audience_id))
    context = _page_context(page_id, audience_id)
    try:
        _raise_if_no_response(context["reading"])
        shown = show_conversation(fetched())
    except NotFoundError as error:
        if context["head"] is None:
            raise
        is_gone = error.status_code == HTTPStatus.GONE
        context |= {"missing": error, "is_gone": is_gone}
        status = HTTPStatus.GONE if is_gone else HTTPStatus.OK
        return render(request, "conversations/not_found.html", context, status=status)
    except APIError as error:
        context["failure"] = failure = explain(error)
        return render(request, "conversations/failed.html", context, status=failure.status)
    context |= _search_context(request, shown) | _conversation_context(shown, request.GET)
    context["snapshot"] = ConversationSnapshot.at(shown)
    return render_partial(request, "conversations/detail.html", context)


def _tab_counts(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    context: dict[str, Any] = {"is_read": True}
    with suppress(APIError):  # the page of the tab shows the error
        context["conversation"] = _read(page_id, audience_id)
    return render(request, "conversations/_tab_counts.html", context)


@require_GET
def conversation_newer(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Return what is new since a snapshot of the conversation, or 204 if nothing is."""
    snapshot = ConversationSnapshot.of_request(request)
    context: dict[str, Any] = {"page_id": page_id, "audience_id": audience_id}
    try:
        shown = _read(page_id, audience_id)
    except APIError as error:
        if snapshot.failed:
            return HttpResponse(status=204)
        context |= {"snapshot": replace(snapshot, failed=True), "failure": explain(error)}
        return render(request, "conversations/newer.html", context)
    now = snapshot.advance(shown)
    if now == snapshot:
        return HttpResponse(status=204)
    params = browser_query(request)
    rows = make_rows(shown)
    context |= _conversation_context(shown, params) | {
        "rows": rows,
        "snapshot": now,
        "new_rows": rows[snapshot.count :],
        "old_rows": rows[: snapshot.count],
        "is_changed": snapshot.is_outdated_by(shown),
        "announcements": list(_announcements(snapshot, now, shown)),
        "head": head_last_known(page_id, audience_id),
        "show": _show_param(params),
    }
    return render(request, "conversations/newer.html", context)


@require_GET
def tool_call(
    request: Request, page_id: str, audience_id: str, message_key: str, index: int
) -> HttpResponse:
    """Show one tool call on its own page, or only the content of its fold."""
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
    """Download the whole result of a tool call as a JSON file."""
    message, call = _find_call(_read(page_id, audience_id), message_key, index)
    response = JsonResponse(call.result, safe=False, json_dumps_params=_READABLE)
    return _attach(response, f"result-{message.number}-{index}.json")


@require_GET
@never_cache
def conversation_export(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Download the conversation: ?format=markdown, or by default the JSON as received."""
    found = read_conversation(page_id, audience_id)
    if request.GET.get("format") != "markdown":
        response: HttpResponse = JsonResponse(found.as_received(), json_dumps_params=_READABLE)
        return _attach(response, "conversation.json")
    title = _title(audience_id, _audience(page_id, audience_id))
    text = to_markdown(show_conversation(found), title=title)
    response = HttpResponse(text.encode(), content_type="text/markdown; charset=utf-8")
    return _attach(response, "conversation.md")


_READABLE = {"ensure_ascii": False, "indent": 2}


def _read(page_id: str, audience_id: str) -> ShownConversation:
    return show_conversation(read_conversation(page_id, audience_id))


def _raise_if_no_response(reading: ReadResult[AudienceLookup] | None) -> None:
    """Raise the error of a service that did not respond, to spare the user a second wait."""
    if reading and isinstance(reading.error, NoResponseError):
        raise reading.error


def _audience(page_id: str, audience_id: str) -> ReadResult[AudienceLookup] | None:
    """Return the audience, or None if neither the service's list nor the ledger has it.

    A truncated list may leave out an audience whose conversation exists.
    """
    try:
        return read_audience(page_id, audience_id)
    except NotFoundError:
        return None


def _title(audience_id: str, reading: ReadResult[AudienceLookup] | None) -> str:
    return (reading.value.audience.name if reading else None) or audience_id


def _page_context(page_id: str, audience_id: str) -> dict[str, Any]:
    """Return the context around a conversation, also if that can't be fetched."""
    reading = _audience(page_id, audience_id)
    head = head_of(page_id, audience_id, reading.value) if reading else None
    return {
        "here": "pages",
        "reading": reading,
        "page_id": page_id,
        "page_name": page_name(page_id),
        "audience_id": audience_id,
        "head": head,
        "watch": version_poll(head, now=timezone.now()) if head else None,
        "title": _title(audience_id, reading),
    }


def _search_context(request: Request, shown: ShownConversation) -> dict[str, Any]:
    """Return the rows of the messages by search and filter, and the search result."""
    show = _show_param(request.GET)
    words = search_param(request.GET)
    rows = make_rows(shown, show=show, words=words)
    found = ConversationSearchResult(words, rows) if words else None
    return {"rows": rows, "found": found, "show": show, "words": words}


def _show_param(params: QueryDict) -> str:
    """Return the filter, one of SHOWS, or "" for all messages."""
    show = params.get("show", "")
    return show if show in SHOWS else ""


def _conversation_context(shown: ShownConversation, params: QueryDict) -> dict[str, Any]:
    """Return a conversation and its counts; `params` is the page's query string."""
    # Ignore a filter whose buttons are not rendered: the user could not remove it.
    states = {state for state, _, _ in shown.pending_filters}
    return {
        "conversation": shown,
        "messages_count": len(shown.messages),
        "messages_after": len(shown.after_line),
        "params": params,
        "pending_show": params.get("pending") if params.get("pending") in states else "",
    }


def _announcements(
    before: ConversationSnapshot, now: ConversationSnapshot, shown: ShownConversation
) -> Iterator[str]:
    """Yield a message for each section beside the thread that was rendered again."""
    if before.pending != now.pending:
        count = len(shown.pending)
        yield f"Pending changes updated: {count} pending."
    if before.context != now.context:
        yield "Context updated, and the fields and statuses inferred from it."


def _find_call(
    shown: ShownConversation, message_key: str, index: int
) -> tuple[ShownMessage, ShownCall]:
    for message in shown.messages:
        if message.key == message_key and 1 <= index <= len(message.calls):
            return message, message.calls[index - 1]
    raise Http404("Tool call not found.")


def _attach(response: HttpResponse, filename: str) -> HttpResponse:
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
