"""Notice changes of what users follow: by the ledger, whichever request has read them."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.queries.operations import publishes_of
from dashboard.notifications.models import Follow, Followed
from dashboard.notifications.recording import Subject, record_event
from dashboard.notifications.snapshots import (
    PAGE,
    SLOWEST_READ,
    Change,
    Snapshot,
    compare,
    in_words,
    page_of,
    rows_of,
    snapshot_of,
)


def compare_followed(now: datetime) -> None:
    """Notify of what changed since it was last compared. One query if nothing was recorded."""
    for row in _CHANGED.rows():
        _compare(row.pk, now)


def _changed_query() -> "QuerySet[Followed, Any]":
    """Return what is followed and was recorded as changed."""
    changed = Q(changed_at__gt=OuterRef("compare_since"))
    audiences = AudienceRecord.objects.filter(changed, page_id=OuterRef("page_id"))
    pages = PageRecord.objects.filter(changed, page_id=OuterRef("page_id"))
    followed = Followed.objects.filter(Exists(Follow.objects.filter(followed=OuterRef("pk"))))
    found = followed.filter(
        Q(Exists(AudienceRecord.objects.filter(changed)), page_id="")
        | Q(Exists(PageRecord.objects.filter(changed)), page_id="")
        | Q(Exists(audiences), audience_id="")
        | Q(Exists(pages), audience_id="")
        | Q(Exists(audiences.filter(audience_id=OuterRef("audience_id"))))
    )
    return found.values_list("pk", named=True)


_CHANGED = CompiledQuery(_changed_query)


VIEW_PAUSE = SLOWEST_READ + timedelta(minutes=1)
"""A saved view is compared at most once a minute, as its rows are a query of all audiences."""


@transaction.atomic
def _compare(pk: int, now: datetime) -> None:
    """Compare one thing with its snapshot, unless another worker does."""
    unlocked = Followed.objects.select_for_update(
        skip_locked=connection.features.has_select_for_update_skip_locked, no_key=True
    )
    followed = unlocked.filter(pk=pk).first()
    if followed is None or (followed.is_view and now < followed.compare_since + VIEW_PAUSE):
        return
    rows, before = rows_of(followed), followed.snapshot
    snapshot = snapshot_of(rows, page_of(followed))
    changes = compare(before, snapshot, rows, followed.compare_since, is_view=followed.is_view)
    if followed.view and followed.view.query != followed.view_query:
        # Its filters were changed: that other rows match them is no change of the rows.
        followed.view_query, changes = followed.view.query, []
    followed.snapshot, followed.compare_since = snapshot, now - SLOWEST_READ
    if changes:
        followed.revision += 1
        _record(followed, changes, snapshot)
    followed.save(update_fields=["snapshot", "compare_since", "revision", "view_query"])


def _record(followed: Followed, changes: list[Change], snapshot: Snapshot) -> None:
    whole = snapshot[PAGE][0] if PAGE in snapshot else followed.page_id
    if followed.view:
        whole = followed.view.name
    name, words = in_words(changes, whole)
    page_id, audience_id = followed.page_id, followed.audience_id
    if len(changes) == 1 and changes[0].key != PAGE:
        page_id, _, audience_id = changes[0].key.partition("\n")
    record_event(
        "followed_changed",
        f"followed:{followed.pk}:{followed.revision}",
        Subject(
            _path(followed, page_id, audience_id),
            page_id=page_id,
            audience_id=audience_id,
            followed=followed,
        ),
        {"name": name, "changes": words},
        actor=_publisher(changes, snapshot),
    )


def _path(followed: Followed, page_id: str, audience_id: str) -> str:
    """Return the path of what changed; of several changes of a saved view, its own."""
    if not page_id and followed.view:
        url_name = "page-list" if followed.view.list_name == ListName.PAGES else "audience-list"
        return f"{reverse(url_name)}?{followed.view.query}&view={followed.view.pk}"
    if not audience_id:
        return reverse("page-detail", args=[page_id])
    return reverse("audience-detail", args=[page_id, audience_id])


def _publisher(changes: list[Change], snapshot: Snapshot) -> User | None:
    """Return who published what went live, if that is all that changed."""
    key, _, what = changes[0]
    # What has left a saved view is in its snapshot no more.
    if len(changes) > 1 or len(what) > 1 or key == PAGE or key not in snapshot:
        return None
    page_id, _, audience_id = key.partition("\n")
    number = snapshot[key][2]
    if what != [f"version {number} is live"]:
        return None
    publishes = publishes_of(page_id, audience_id).filter(
        kind=OperationKind.PUBLISH_VERSION, version_number=number, outcome=Outcome.ACCEPTED
    )
    last = publishes.select_related("actor").order_by("-requested_at").first()
    return last.actor if last else None
