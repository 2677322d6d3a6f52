"""The versions of an audience: their history, and two of them compared."""

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_GET

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.queries.operations import publishes_of
from dashboard.web.audience_head import AudienceHead, head_of
from dashboard.web.differences import compare_texts
from dashboard.web.http import Request, render_part
from dashboard.web.readings import read_audience
from dashboard.web.version_choices import NAMES, choices, choose
from dashboard.web.version_facts import fact_rows
from dashboard.web.version_history import version_history
from dashboard.web.version_watch import watch_of


@require_GET
def version_list(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show every version ever seen, newest first, in parts: `?before=` is where one starts.

    While a version is on its way, the page asks for its part "watch" again; `?was=` is the state
    it shows, `?from=` and `?to=` what is chosen on it.
    """
    reading, now = read_audience(page_id, audience_id), timezone.now()
    head = head_of(page_id, audience_id, reading.value)
    asked, before = request.GET, request.GET.get("before", "")
    old, new = choose(head, asked_from=asked.get("from", ""), asked_to=asked.get("to", ""))
    watch = watch_of(head, now=now)
    context = {
        "here": "pages",
        "tab": "versions",
        "reading": reading,
        "head": head,
        "history": SimpleLazyObject(lambda: version_history(head, before=before, now=now)),
        "before": before,
        "old": old.version,
        "new": new.version,
        "watch": watch,
        "is_new": asked.get("was", watch.state) != watch.state,
    }
    return render_part(request, "versions/list.html", context, parts=("more", "watch"))


@require_GET
def version_compare(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Compare `?from=` with `?to=`: ids of versions, or `live`, `latest`, `previous`."""
    reading = read_audience(page_id, audience_id)
    head = head_of(page_id, audience_id, reading.value)
    asked = request.GET
    old, new = choose(head, asked_from=asked.get("from", ""), asked_to=asked.get("to", ""))
    context = {
        "here": "pages",
        "reading": reading,
        "head": head,
        "old": old,
        "new": new,
        "names": NAMES,
        "choices": choices(head, old, new),
        "in_one_text": asked.get("layout") == "text",
    }
    if old.version is None or new.version is None:
        return render(request, "versions/compare.html", context, status=HTTPStatus.NOT_FOUND)
    context |= _compared(head, old.version, new.version)
    return render(request, "versions/compare.html", context)


def _compared(head: AudienceHead, old: AudienceVersion, new: AudienceVersion) -> dict[str, Any]:
    publishes = publishes_of(head.page_id, head.audience_id).prefetch_related("attempts")
    tries = list(publishes.filter(version_id__in=[old.version_id, new.version_id]))
    return {
        "difference": compare_texts(old.supplementary_context, new.supplementary_context),
        "facts": fact_rows(old, new),
        "old_tries": [one for one in tries if one.version_id == old.version_id],
        "new_tries": [one for one in tries if one.version_id == new.version_id],
        "old_is_live": head.is_live(old),
        "new_is_live": head.is_live(new),
    }
