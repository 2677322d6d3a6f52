"""Views of the version history, and of the comparison of two versions."""

from http import HTTPStatus

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode
from django.views.decorators.http import require_GET
from django_htmx.http import replace_url

from dashboard import clock
from dashboard.contract.audiences import text_of
from dashboard.ledger.queries.operations import publishes_of_versions
from dashboard.service.reading import (
    AudienceLookup,
    ReadResult,
    poll_audience,
    read_audience,
)
from dashboard.text_diff import compare_texts
from dashboard.web.audiences.progress import version_in_progress
from dashboard.web.audiences.state import head_of
from dashboard.web.ui.htmx import Request, is_moving, is_refresh, render_partial
from dashboard.web.ui.query_params import params_for_all_rows, size_param
from dashboard.web.ui.urls import cached_reverse
from dashboard.web.versions.comparison import choices, choose, fact_rows, names
from dashboard.web.versions.history import version_history


@require_GET
def version_list(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show the versions in the ledger, newest first, from below the version `?before=`.

    `?show=` is the number of versions, if more than the default were loaded. `?from=` and `?to=`
    are the versions selected on an open page, which polls the partial "history".
    """
    reading = _read(request, page_id, audience_id)
    now = clock.now()
    head = head_of(page_id, audience_id, reading.value)
    params, before = request.GET, request.GET.get("before", "")
    old, new = choose(head, from_param=params.get("from", ""), to_param=params.get("to", ""))
    history = SimpleLazyObject(
        lambda: version_history(head, before=before, size=size_param(params), now=now)
    )
    context = {
        "here": "pages",
        "tab": "versions",
        "reading": reading,
        "head": head,
        "history": history,
        "before": before,
        "old": old.version,
        "new": new.version,
        "in_progress": version_in_progress(head, now=now),
    }
    response = render_partial(request, "versions/list.html", context, parts=("more", "history"))
    if request.htmx.target != "more":
        return response
    query = urlencode(params_for_all_rows(request, ("before",), len(history.rows)))
    return replace_url(response, f"{cached_reverse('version-list', page_id, audience_id)}?{query}")


@require_GET
def version_compare(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Compare `?from=` with `?to=`. Each is the id of a version, `live`, `latest` or `previous`.

    An open page polls the partial "comparison".
    """
    reading = _read(request, page_id, audience_id)
    head = head_of(page_id, audience_id, reading.value)
    params = request.GET
    old, new = choose(head, from_param=params.get("from", ""), to_param=params.get("to", ""))
    offered = choices(head, old, new)
    context = {
        "here": "pages",
        "reading": reading,
        "head": head,
        "old": old,
        "new": new,
        "difference": None,
        "old_names": names(head, offered, new),
        "new_names": names(head, offered, old),
        "choices": offered,
        "is_unified": params.get("layout") == "text",
        "in_progress": version_in_progress(head, now=clock.now()),
    }
    if old.version is None or new.version is None:
        return render(request, "versions/compare.html", context, status=HTTPStatus.NOT_FOUND)
    version_ids = [old.version.version_id, new.version.version_id]
    publishes = publishes_of_versions(page_id, audience_id, version_ids)
    context["difference"] = compare_texts(text_of(old.version), text_of(new.version))
    context["facts"] = fact_rows(head, old.version, new.version)
    for name, version in (("old", old.version), ("new", new.version)):
        context[f"{name}_publishes"] = [
            publish for publish in publishes if publish.version_id == version.version_id
        ]
        context[f"{name}_status"] = head.state_of(version)
    # Use ids, as "live" and "latest" may soon name other versions.
    sides = {"from": old.version.version_id, "to": new.version.version_id}
    layout = {"layout": "text"} if context["is_unified"] else {}
    context["live_query"] = urlencode(sides | layout)
    return render_partial(request, "versions/compare.html", context, parts=("comparison",))


def _read(request: Request, page_id: str, audience_id: str) -> ReadResult[AudienceLookup]:
    if is_refresh(request):
        return poll_audience(page_id, audience_id, is_moving=is_moving(request))
    return read_audience(page_id, audience_id)
