"""The polls of Activity: operations being sent, and releases being published."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.releases.models import Release
from dashboard.web.activity.records import (
    OperationRecord,
    changed_releases,
    for_records,
    moving_marks,
    of_release,
    record_of,
    summaries_by_pk,
)
from dashboard.web.releases.summary import ReleaseSummary
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.query_params import PAGE_SIZE, int_param

POLL_ID = "operation-poll"


def is_sending(record: OperationRecord, in_releases: list[OperationRecord]) -> bool:
    """Return whether the row of an operation has to be polled; that of a release is by itself."""
    return record.operation.outcome == Outcome.SENDING and record not in in_releases


@require_GET
def release_operations(request: Request, release_id: int) -> HttpResponse:
    """Show the operations that a release sent, for its row in the list; else the filtered list.

    While the release is published, the row fetches its partial again; `?was=` is what it shows.
    """
    release = get_object_or_404(Release, pk=release_id)
    target = request.htmx.target or ""
    if not target.startswith("release-") or request.htmx.history_restore_request:
        return redirect(f"{reverse('operation-list')}?{urlencode({'release': release_id})}")
    operations = of_release(Operation.objects.all(), release_id).order_by("requested_at", "pk")
    is_poll = target.startswith("release-poll-")
    summary = summaries_by_pk([release_id])[release_id]
    is_changed = summary.mark != request.GET.get("was", "")
    context = {
        "release": release,
        "records": [record_of(operation) for operation in for_records(operations)],
        "mark": summary.mark,
        "is_changed": is_changed,
        "is_moving": summary.is_moving,
    }
    block = "release_poll" if is_poll else "release_operations"
    response = render(request, f"activity/list.html#{block}", context)
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


def poll_sending(request: Request) -> HttpResponse:
    """Render the operations no longer being sent, the releases that changed, and the next poll."""
    pks = [int_param(pk) for pk in request.GET.get("sending", "").split(".")][:PAGE_SIZE]
    operations = for_records(Operation.objects.filter(pk__in=pks))
    records = [record_of(operation) for operation in operations]
    settled = [record for record in records if record.operation.outcome != Outcome.SENDING]
    sending = [
        record.operation for record in records if record.operation.outcome == Outcome.SENDING
    ]
    releases, changed = changed_releases(request.GET.get("releases", ""))
    context = {
        "settled": settled,
        "changed_releases": changed,
        **poll_context(sending, releases, poll_id=request.htmx.target or POLL_ID),
    }
    response = render(request, "activity/list.html#operation_poll", context)
    patch_vary_headers(response, ["HX-Target", "HX-History-Restore-Request"])
    return response


def poll_context(
    sending: list[Operation], releases: Iterable[ReleaseSummary], *, poll_id: str
) -> dict[str, Any]:
    marks = {
        "sending": ".".join(str(operation.pk) for operation in sending),
        "releases": moving_marks(releases),
    }
    return {
        "poll_id": poll_id,
        "poll_query": urlencode(marks),
        "is_moving": any(marks.values()),
    }
