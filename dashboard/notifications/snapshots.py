"""What users follow, as the ledger has it: then and now."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from django.conf import settings
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from dashboard.ledger.models import AudienceRecord, PageRecord, SavedView
from dashboard.ledger.models.saved_views import ListName
from dashboard.notifications.models import Followed
from dashboard.notifications.rows import AudienceRow, OperationRow, Row, SubscriptionRow

MAX_ROWS = 2_000
"""Of one snapshot; of more rows, the rest is not followed. Source: our choice."""
MAX_NAMES = 3
"""Of changed audiences in a sentence; the others are counted."""
NEW_FOR = timedelta(days=1)
"""An audience that was created earlier, and is seen for the first time, is not new."""

PAGE = "page"
"""The key of the page itself."""
LARGE = ("body_sent", "before", "check_result")
"""Columns of operations that are not needed to compare them."""

Snapshot: TypeAlias = dict[str, list[Any]]
"""The states of rows by their keys: see `rows.py`. A followed page itself is `[name, status]`."""

AUDIENCE_COLUMNS = (
    *("page_id", "audience_id", "name"),
    *("latest_version_number", "live_version_number", "archived", "created_at"),
)


class Change(NamedTuple):
    """What changed of one row, or of the page."""

    key: str
    name: str
    what: list[str]
    """In words, such as "version 6 is live"."""
    is_new: bool = False
    """Whether it was not in the snapshot before."""


def take_snapshot(followed: Followed) -> Snapshot:
    """Return what is followed as the ledger has it now. One or two queries."""
    return snapshot_of(rows_of(followed), page_of(followed))


def snapshot_of(rows: Iterable[Row], page: list[str] | None) -> Snapshot:
    """Return a snapshot of these rows, and of the page if that is followed. Pure."""
    snapshot: Snapshot = {row.key: row.state for row in rows}
    return {PAGE: page, **snapshot} if page else snapshot


def rows_of(followed: Followed) -> Sequence[Row]:
    """Return the audiences of what is followed, or the rows of a saved view. Two queries at most.

    Of a view of Activity, only the operations that changed since it was last compared.
    """
    if followed.view:
        return _rows_of_view(followed.view, followed.compare_since)
    records = AudienceRecord.objects.filter(page_id=followed.page_id)
    if followed.audience_id:
        records = records.filter(audience_id=followed.audience_id)
    columns = records.order_by("pk").values_list(*AUDIENCE_COLUMNS)
    return [AudienceRow(*row) for row in columns[:MAX_ROWS]]


def _rows_of_view(view: SavedView, since: datetime) -> Sequence[Row]:
    # A list reads the query string of its views itself, in the room `web`.
    found: QuerySet[Any] = import_string(settings.ROWS_OF_FOLLOWED_VIEW)(view)
    match view.list_name:
        case ListName.PAGES:
            pages = found.order_by("pk").values_list("page_id", "name")
            return [AudienceRow.of_page(*row) for row in pages[:MAX_ROWS]]
        case ListName.AUDIENCES:
            audiences = found.order_by("pk").values_list(*AUDIENCE_COLUMNS)
            return [AudienceRow(*row) for row in audiences[:MAX_ROWS]]
        case ListName.ACTIVITY:
            latest = found.filter(changed_at__gt=since).order_by("-changed_at", "-pk")
            return [OperationRow.of(each) for each in latest.defer(*LARGE)[:MAX_ROWS]]
    return [SubscriptionRow.of(each) for each in found.order_by("pk")[:MAX_ROWS]]


def page_of(followed: Followed) -> list[str] | None:
    """Return name and status of a followed page; None for all else, or a page never seen."""
    if followed.audience_id or followed.is_view:
        return None
    page = PageRecord.objects.filter(page_id=followed.page_id)
    found = page.values_list("name", "status").first()
    return list(found) if found else None


def compare(
    before: Snapshot,
    now: Snapshot,
    rows: Iterable[Row],
    since: datetime,
    *,
    is_view: bool = False,
    has_all_rows: bool = True,
) -> list[Change]:
    """Return what changed from one snapshot to the next, taken after `since`. Pure.

    Of a saved view, also what has entered it, and left it if the snapshots have all of its rows.
    """
    by_key = {row.key: row for row in rows}
    found = []
    for key, value in now.items():
        if key == PAGE:
            what = _page_changes(before[key], value) if key in before else []
        elif key in before:
            what = by_key[key].changes_since(before[key])
        else:
            what = by_key[key].entered() if is_view else _as_new(by_key[key], since)
        found.append(_change(key, value, what, is_new=key not in before))
    if is_view and has_all_rows:
        gone = [(key, value) for key, value in before.items() if key not in now]
        found += [_change(key, value, ["is no longer in this view"]) for key, value in gone]
    return [change for change in found if change.what]


def _change(key: str, value: list[Any], what: list[str], *, is_new: bool = False) -> Change:
    return Change(key, value[0] or key.rpartition("\n")[2], what, is_new)


def _as_new(row: Row, since: datetime) -> list[str]:
    is_new = row.created_at is not None and row.created_at > since - NEW_FOR
    return ["is new"] if is_new else []


def _page_changes(before: list[Any], now: list[Any]) -> list[str]:
    what = []
    if now[0] != before[0]:
        what.append(f"was {before[0]}")
    if now[1] != before[1]:
        what.append(f"is {now[1] or 'without a status'}")
    return what


def in_words(changes: list[Change], whole: str) -> tuple[str, str]:
    """Return the name of what changed, and how, for the sentence of the event.

    `whole` is the name of all of it, for several changes.
    """
    if len(changes) == 1:
        return changes[0].name, ", ".join(changes[0].what)
    names = ", ".join(change.name for change in changes[:MAX_NAMES])
    more = len(changes) - MAX_NAMES
    return whole, f"{len(changes)} changes: {names}" + (f" and {more} more" if more > 0 else "")


def counted(changes: list[Change]) -> str:
    """Return how many operations are new and how many have changed: "2 new, 1 changed"."""
    new = sum(change.is_new for change in changes)
    parts = [(new, "new"), (len(changes) - new, "changed")]
    words = ", ".join(f"{number} {word}" for number, word in parts if number)
    # There may be more than are read.
    return f"at least {words}" if len(changes) >= MAX_ROWS else words
