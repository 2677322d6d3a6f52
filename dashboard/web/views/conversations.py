"""The conversation in which an agent wrote an audience: read live, never remembered."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard.client import APIError, NoAnswerError, NotFoundError
from dashboard.web.asked import words_in
from dashboard.web.audience_head import head_last_known, head_of
from dashboard.web.conversation_export import to_markdown
from dashboard.web.conversation_looks import Look
from dashboard.web.conversation_reading import ShownConversation, ShownMessage, show_conversation
from dashboard.web.conversation_search import SHOWS, Found, Row, make_rows
from dashboard.web.http import Request, render_part
from dashboard.web.parallel import started
from dashboard.web.readings import (
    FoundAudience,
    Reading,
    page_name,
    read_audience,
    read_conversation,
)
from dashboard.web.tool_calls import ShownCall
from dashboard.web.views.errors import explain


@require_GET
def conversation(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show a conversation, narrowed by ?show= and searched by ?q=."""
    if request.htmx.target == "found":
        shown = _read(page_id, audience_id)
        context = {"page_id": page_id, "audience_id": audience_id} | _talk(request, shown)
        return render_part(request, "conversations/talk.html", context, parts=("found",))
    answer = started(lambda: read_conversation(page_id, audience_id))
    context = _frame(page_id, audience_id)
    try:
        _raise_no_answer(context["reading"])
        shown = show_conversation(answer())
    except NotFoundError:
        if context["head"] is None:
            raise
        return render(request, "conversations/none.html", context)
    except APIError as error:
        context["failure"] = failure = explain(error)
        return render(request, "conversations/failed.html", context, status=failure.status)
    return render_part(request, "conversations/talk.html", context | _talk(request, shown))


@require_GET
def conversation_newer(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Answer what is new since a Look at the conversation; nothing (204) where nothing is."""
    look = Look.of_request(request)
    context: dict[str, Any] = {"page_id": page_id, "audience_id": audience_id}
    try:
        shown = _read(page_id, audience_id)
    except APIError as error:
        if look.failed:
            return HttpResponse(status=204)
        context |= {"look": replace(look, failed=True), "failure": explain(error)}
        return render(request, "conversations/newer.html", context)
    now = look.again(shown)
    if now == look:
        return HttpResponse(status=204)
    page_query = (request.htmx.current_url or "").partition("?")[2].partition("#")[0]
    asked = QueryDict(page_query)
    rows = make_rows(shown)
    context |= _counted(shown, rows) | _board(shown, asked)
    context |= {
        "look": now,
        "newer": rows[look.count :],
        "already": rows[: look.count],
        "is_changed": look.is_outdated_by(shown),
        "told": list(_what_changed(look, now, shown)),
        "head": head_last_known(page_id, audience_id),
        "show": _show_in(asked),
    }
    return render(request, "conversations/newer.html", context)


@require_GET
def tool_call(
    request: Request, page_id: str, audience_id: str, message_key: str, index: int
) -> HttpResponse:
    """Show one tool call: by itself, or what its fold holds."""
    message, call = _find_call(_read(page_id, audience_id), message_key, index)
    context = {
        "page_id": page_id,
        "audience_id": audience_id,
        "message": message,
        "call": call,
        "words": words_in(request.GET),
    }
    if request.htmx.target == f"{message.anchor}-{index}-in":
        response = render(request, "conversations/_call_body.html", context)
    else:
        context |= _frame(page_id, audience_id)
        response = render(request, "conversations/call.html", context)
    patch_vary_headers(response, ["HX-Target"])
    return response


@require_GET
@never_cache
def tool_result(
    request: Request, page_id: str, audience_id: str, message_key: str, index: int
) -> HttpResponse:
    """Answer the whole result of a tool call as a JSON file."""
    message, call = _find_call(_read(page_id, audience_id), message_key, index)
    answer = JsonResponse(call.call.result, safe=False, json_dumps_params=_READABLE)
    return _attach(answer, f"result-{message.number}-{index}.json")


@require_GET
@never_cache
def conversation_export(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Answer the conversation as a file: ?format=markdown to read, anything else as JSON."""
    found = read_conversation(page_id, audience_id)
    if request.GET.get("format") != "markdown":
        answer: HttpResponse = JsonResponse(found.to_wire(), json_dumps_params=_READABLE)
        return _attach(answer, "conversation.json")
    title = _title(audience_id, _audience(page_id, audience_id))
    text = to_markdown(show_conversation(found), title=title)
    answer = HttpResponse(text.encode(), content_type="text/markdown; charset=utf-8")
    return _attach(answer, "conversation.md")


_READABLE = {"ensure_ascii": False, "indent": 2}


def _read(page_id: str, audience_id: str) -> ShownConversation:
    return show_conversation(read_conversation(page_id, audience_id))


def _raise_no_answer(reading: Reading[FoundAudience] | None) -> None:
    """Spare the reader a second wait for a service that just did not answer the first call."""
    if reading and isinstance(reading.error, NoAnswerError):
        raise reading.error


def _audience(page_id: str, audience_id: str) -> Reading[FoundAudience] | None:
    """Return the audience, or None where neither the service's list nor the ledger has it.

    A list that is cut may leave out an audience whose conversation is there all the same.
    """
    try:
        return read_audience(page_id, audience_id)
    except NotFoundError:
        return None


def _title(audience_id: str, reading: Reading[FoundAudience] | None) -> str:
    return (reading.value.audience.name if reading else None) or audience_id


def _frame(page_id: str, audience_id: str) -> dict[str, Any]:
    """Return what stands around a conversation, whatever becomes of it."""
    reading = _audience(page_id, audience_id)
    return {
        "here": "pages",
        "reading": reading,
        "page_id": page_id,
        "page_name": page_name(page_id),
        "audience_id": audience_id,
        "head": head_of(page_id, audience_id, reading.value) if reading else None,
        "title": _title(audience_id, reading),
    }


def _talk(request: Request, shown: ShownConversation) -> dict[str, Any]:
    show = _show_in(request.GET)
    words = words_in(request.GET)
    rows = make_rows(shown, show=show, words=words)
    return (
        _counted(shown, rows)
        | _board(shown, request.GET)
        | {
            "found": Found(words, rows) if words else None,
            "is_any_left": not all(row.is_hidden for row in rows),
            "show": show,
            "words": words,
            "look": Look.at(shown),
            "pending_count": len(shown.pending),
        }
    )


def _show_in(asked: QueryDict) -> str:
    """Return the filter, one of SHOWS; empty where all messages are shown."""
    show = asked.get("show", "")
    return show if show in SHOWS else ""


def _counted(shown: ShownConversation, rows: list[Row]) -> dict[str, Any]:
    """Return the messages, and how many there are in all and after the line."""
    return {
        "rows": rows,
        "messages_count": len(rows),
        "messages_after": len(shown.after_line),
    }


def _board(shown: ShownConversation, asked: QueryDict) -> dict[str, Any]:
    """Return what stands beside the thread; `asked` is the query of the page's address."""
    # Without its buttons a filter would hide what nothing brings back.
    states = {state for state, _, _ in shown.pending_filters}
    return {
        "conversation": shown,
        "context_now": shown.conversation.context,
        "asked": asked,
        "pending_show": asked.get("pending") if asked.get("pending") in states else "",
    }


def _what_changed(before: Look, now: Look, shown: ShownConversation) -> Iterator[str]:
    """Say what beside the thread was drawn anew."""
    if before.pending != now.pending:
        count = len(shown.pending)
        yield f"The pending changes are others now: {count} wait{'s' if count == 1 else ''}."
    if before.context != now.context:
        yield "The context is another now, and what is inferred from it."


def _find_call(
    shown: ShownConversation, message_key: str, index: int
) -> tuple[ShownMessage, ShownCall]:
    for message in shown.messages:
        if message.key == message_key and 1 <= index <= len(message.calls):
            return message, message.calls[index - 1]
    raise Http404("No such tool call in this conversation.")


def _attach(answer: HttpResponse, filename: str) -> HttpResponse:
    answer["Content-Disposition"] = f'attachment; filename="{filename}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
