"""The comments on an audience, beside the text of a version."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from dashboard import clock
from dashboard.comments.models import TargetKind
from dashboard.comments.queries import placements, threads_of
from dashboard.contract.audiences import text_of
from dashboard.live.presence import place_of
from dashboard.service.reading import poll_audience, read_audience
from dashboard.text_diff import compare_texts
from dashboard.web.audiences.progress import version_in_progress
from dashboard.web.audiences.state import AudienceHead, head_of
from dashboard.web.comments.annotated import annotate
from dashboard.web.comments.discussion import Discussion
from dashboard.web.comments.subjects import OF_CONVERSATION, metadata_fields, subject_notes
from dashboard.web.ui.htmx import Request, is_moving, is_refresh, render_partial
from dashboard.web.versions.comparison import choices, choose

STATES = ("open", "resolved")
"""Values of `?threads=`. Any other value shows all threads."""


@require_GET
def audience_comments(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Show the threads of an audience beside the text of the version `?version=`.

    `?threads=` is one of STATES. An open page fetches the partial "discussion" again. With
    `?message=` or `?change=`, an id in the conversation, redirect to the form of a comment on it.
    """
    place = place_of("audience", page_id, audience_id)
    for kind in OF_CONVERSATION:
        if object_id := request.GET.get(kind):
            query = urlencode({"place": place, "kind": kind, "object_id": object_id})
            return redirect(f"{reverse('thread-new')}?{query}")
    if is_refresh(request):
        reading = poll_audience(page_id, audience_id, is_moving=is_moving(request))
    else:
        reading = read_audience(page_id, audience_id)
    head = head_of(page_id, audience_id, reading.value)
    context = {
        "here": "pages",
        "tab": "comments",
        "head": head,
        "reading": reading,
        "in_progress": version_in_progress(head, now=clock.now()),
        "fields": metadata_fields(head.audience),
        **_threads_context(request, head),
    }
    return render_partial(request, "comments/audience.html", context, parts=("discussion",))


def _threads_context(request: Request, head: AudienceHead) -> dict[str, Any]:
    """Return the threads beside a version's text, those whose words are gone, and the others."""
    place = place_of("audience", head.page_id, head.audience_id)
    old, new = choose(head, from_param="live", to_param=request.GET.get("version", ""))
    version, live = new.version, old.version
    text = text_of(version)
    is_compared = bool(version and live and live.version_id != version.version_id)
    before = text_of(live) if is_compared else text
    difference = compare_texts(before, text)
    threads = threads_of(place)
    placed = placements(threads, text)
    notes = subject_notes(threads, head.page_id, head.audience_id, head.audience)
    for thread in threads:
        thread.placement, thread.note = placed.get(thread.pk), notes.get(thread.pk, "")
    selected = request.GET.get("threads", "")
    chosen = selected if selected in STATES else "all"
    listed = [row for row in threads if chosen == "all" or row.is_open == (chosen == "open")]
    annotated = annotate(text, difference, listed) if version else None
    paragraphs = annotated.paragraphs if annotated else []
    beside = {thread.pk for paragraph in paragraphs for thread in paragraph.threads}
    below = [thread for thread in listed if thread.pk not in beside]
    gone = [row for row in below if row.kind == TargetKind.PASSAGE and row.is_open]
    return {
        "discussion": Discussion(place, threads),
        "annotated": annotated,
        "gone": gone,
        "others": [thread for thread in below if thread not in gone],
        "version": version,
        "problem": new.problem,
        "live": live if is_compared else None,
        "difference": difference,
        "choices": choices(head, new),
        "chosen": chosen,
        "state": head.state_of(version) if version else "",
    }
