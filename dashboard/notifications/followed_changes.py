"""Notice changes of what users follow: by the ledger, whichever request has read them."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse

from dashboard.compiled_query import ROW_COUNT, CompiledQuery
from dashboard.ledger.models import AudienceRecord, Operation, PageRecord, SubscriptionRecord
from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.saved_views import filters_of
from dashboard.notifications.followed_actors import by_actor
from dashboard.notifications.models import Follow, Followed
from dashboard.notifications.recording import Subject, record_event
from dashboard.notifications.snapshots import (
    PAGE,
    Change,
    compare,
    counted,
    in_words,
    page_of,
    rows_of,
    snapshot_of,
)
from dashboard.time_limits import recorded_after
from dashboard.work.tasks import attempt_each


def compare_followed(now: datetime) -> None:
    """Notify of what changed since it was last compared. One query if nothing was recorded."""
    attempt_each(
        [row.pk for row in _CHANGED.rows()],
        lambda pk: _compare(pk, now),
        # Compared again after its next change.
        lambda pk: Followed.objects.filter(pk=pk).update(compare_since=now),
    )


def _changed_query() -> "QuerySet[Followed, Any]":
    """Return what is followed and was recorded as changed, and views that were saved again."""
    changed = Q(changed_at__gt=OuterRef("compare_since"))
    audiences = AudienceRecord.objects.filter(changed, page_id=OuterRef("page_id"))
    pages = PageRecord.objects.filter(changed, page_id=OuterRef("page_id"))
    subscriptions = SubscriptionRecord.objects.order_by().values(number=ROW_COUNT)
    is_removed = ~Q(subscriptions=Subquery(subscriptions))
    of_pages = Q(view__list_name__in=(ListName.PAGES, ListName.AUDIENCES))
    of_webhooks = Q(view__list_name=ListName.WEBHOOKS)
    of_activity = Q(view__list_name=ListName.ACTIVITY)
    followed = Followed.objects.filter(Exists(Follow.objects.filter(followed=OuterRef("pk"))))
    found = followed.filter(
        (of_pages & Q(Exists(AudienceRecord.objects.filter(changed))))
        | (of_pages & Q(Exists(PageRecord.objects.filter(changed))))
        | (of_activity & Q(Exists(Operation.objects.filter(changed))))
        | (of_webhooks & Q(Exists(SubscriptionRecord.objects.filter(changed))))
        | (of_webhooks & is_removed)
        | (Q(view__isnull=False) & ~Q(view__query=F("view_query")))
        | Q(Exists(audiences), audience_id="")
        | Q(Exists(pages), audience_id="")
        | Q(Exists(audiences.filter(audience_id=OuterRef("audience_id"))))
    )
    return found.values_list("pk", named=True)


_CHANGED = CompiledQuery(_changed_query)


VIEW_PAUSE = timedelta(minutes=1)
"""Between two times that a saved view is compared: its rows are a query of all of its list."""
PATHS_OF_LISTS = {
    ListName.PAGES: "page-list",
    ListName.AUDIENCES: "audience-list",
    ListName.ACTIVITY: "operation-list",
    ListName.WEBHOOKS: "subscription-list",
}


@transaction.atomic
def _compare(pk: int, now: datetime) -> None:
    """Compare one thing with its snapshot, unless another worker does."""
    unlocked = Followed.objects.select_for_update(
        skip_locked=connection.features.has_select_for_update_skip_locked, no_key=True
    )
    followed = unlocked.filter(pk=pk).first()
    if followed is None or (
        followed.is_view and now < followed.compare_since + recorded_after() + VIEW_PAUSE
    ):
        return
    before, since = followed.snapshot, followed.compare_since
    # Counted first: one that is removed meanwhile is noticed the next time.
    followed.subscriptions = SubscriptionRecord.objects.count()
    rows = rows_of(followed)
    followed.snapshot = snapshot_of(rows, page_of(followed))
    followed.compare_since = now - recorded_after()
    changes = compare(
        before,
        followed.snapshot,
        rows,
        since,
        is_view=followed.is_view,
        has_all_rows=not followed.is_activity,
    )
    if followed.view:
        # With other filters, that other rows match is no change of the rows.
        is_same = filters_of(followed.view.query) == filters_of(followed.view_query)
        followed.view_query, changes = followed.view.query, changes if is_same else []
    for actor, made in by_actor(followed, changes, since):
        followed.revision += 1
        _record(followed, made, actor)
    followed.save(
        update_fields=["snapshot", "compare_since", "revision", "view_query", "subscriptions"]
    )


def _record(followed: Followed, changes: list[Change], actor: User | None) -> None:
    """Record the event of these changes, of which its actor is not notified."""
    whole = followed.snapshot[PAGE][0] if PAGE in followed.snapshot else followed.page_id
    if followed.view:
        whole = followed.view.name
    name, words = in_words(changes, whole)
    if followed.is_activity and len(changes) > 1:
        words = counted(changes)
    record_event(
        "followed_changed",
        f"followed:{followed.pk}:{followed.revision}",
        _subject(followed, changes),
        {"name": name, "changes": words},
        actor=actor,
    )


def _subject(followed: Followed, changes: list[Change]) -> Subject:
    """Return what changed, if it is one thing; of several changes, what is followed."""
    key = changes[0].key if len(changes) == 1 else PAGE
    view = followed.view
    is_removed = followed.is_view and key not in followed.snapshot
    if view and (key == PAGE or (view.list_name == ListName.WEBHOOKS and is_removed)):
        path = f"{reverse(PATHS_OF_LISTS[ListName(view.list_name)])}?{view.query}&view={view.pk}"
        return Subject(path, followed=followed)
    if view and view.list_name == ListName.ACTIVITY:
        path = reverse("operation-detail", args=[key])
        return Subject(path, operation_key=key, followed=followed)
    if view and view.list_name == ListName.WEBHOOKS:
        return Subject(reverse("subscription-detail", args=[key]), followed=followed)
    page_id, audience_id = followed.page_id, followed.audience_id
    if key != PAGE:
        page_id, _, audience_id = key.partition("\n")
    url_name, args = "page-detail", [page_id]
    if audience_id:
        url_name, args = "audience-detail", [page_id, audience_id]
    path = reverse(url_name, args=args)
    return Subject(path, page_id=page_id, audience_id=audience_id, followed=followed)
