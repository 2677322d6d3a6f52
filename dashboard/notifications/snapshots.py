"""What users follow, as the ledger has it: then and now."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from django.conf import settings
from django.utils.module_loading import import_string

from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.notifications.models import Followed

MAX_ROWS = 2_000
"""Of one snapshot; of more audiences, the rest is not followed. Source: our choice."""
SLOWEST_READ = timedelta(minutes=6)
"""A change has the time at which its read began: it may be recorded so much later."""
MAX_NAMES = 3
"""Of changed audiences in a sentence; the others are counted."""
NEW_FOR = timedelta(days=1)
"""An audience that was created earlier, and is seen for the first time, is not new."""

PAGE = "page"
"""The key of the page itself."""

Snapshot: TypeAlias = dict[str, list[Any]]
"""An audience is `[name, number of the latest version, of the live one, whether it is archived]`
by the ids of page and audience with a line feed between; the page is `[name, status]`."""


class AudienceRow(NamedTuple):
    """One audience of what is followed."""

    page_id: str
    audience_id: str
    name: str
    latest: int | None
    live: int | None
    archived: bool
    created_at: datetime | None

    @property
    def key(self) -> str:
        """Identifies it in a snapshot."""
        return f"{self.page_id}\n{self.audience_id}"


class Change(NamedTuple):
    """What changed of one audience, or of the page."""

    key: str
    name: str
    what: list[str]
    """In words, such as "version 6 is live"."""


def take_snapshot(followed: Followed) -> Snapshot:
    """Return what is followed as the ledger has it now. One or two queries."""
    return snapshot_of(rows_of(followed), page_of(followed))


def snapshot_of(rows: Iterable[AudienceRow], page: list[str] | None) -> Snapshot:
    """Return a snapshot of these audiences, and of the page if that is followed. Pure."""
    snapshot: Snapshot = {row.key: [row.name, row.latest, row.live, row.archived] for row in rows}
    return {PAGE: page, **snapshot} if page else snapshot


def rows_of(followed: Followed) -> list[AudienceRow]:
    """Return the audiences of what is followed, or the pages of a view of pages. One query.

    The rows of a saved view are those of its list, which reads its query string: of the room `web`.
    """
    if followed.view:
        rows: list[AudienceRow] = import_string(settings.ROWS_OF_FOLLOWED_VIEW)(followed.view)
        return rows[:MAX_ROWS]
    records = AudienceRecord.objects.filter(page_id=followed.page_id)
    if followed.audience_id:
        records = records.filter(audience_id=followed.audience_id)
    columns = records.order_by("pk").values_list(
        *("page_id", "audience_id", "name"),
        *("latest_version_number", "live_version_number", "archived", "created_at"),
    )
    return [AudienceRow(*row) for row in columns[:MAX_ROWS]]


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
    rows: Iterable[AudienceRow],
    since: datetime,
    *,
    is_view: bool = False,
) -> list[Change]:
    """Return what changed from one snapshot to the next, taken after `since`. Pure.

    Of a saved view, also what has entered or left it.
    """
    created = {row.key: row.created_at for row in rows}
    found = []
    for key, value in now.items():
        if key not in before:
            what = ["is in this view now"] if is_view else _as_new(created.get(key), since)
        elif key == PAGE:
            what = _page_changes(before[key], value)
        else:
            what = _audience_changes(before[key], value)
        found.append(_change(key, value, what))
    if is_view:
        gone = [(key, value) for key, value in before.items() if key not in now]
        found += [_change(key, value, ["is no longer in this view"]) for key, value in gone]
    return [change for change in found if change.what]


def _change(key: str, value: list[Any], what: list[str]) -> Change:
    return Change(key, value[0] or key.rpartition("\n")[2], what)


def _as_new(created_at: datetime | None, since: datetime) -> list[str]:
    is_new = created_at is not None and created_at > since - NEW_FOR
    return ["is new"] if is_new else []


def _page_changes(before: list[Any], now: list[Any]) -> list[str]:
    what = []
    if now[0] != before[0]:
        what.append(f"was {before[0]}")
    if now[1] != before[1]:
        what.append(f"is {now[1] or 'without a status'}")
    return what


def _audience_changes(before: list[Any], now: list[Any]) -> list[str]:
    (_, latest, live, archived), (_, old_latest, old_live, was_archived) = now, before
    what = []
    if latest != old_latest and latest is not None:
        what.append(f"version {latest} is the latest")
    if live != old_live:
        what.append("nothing is live" if live is None else f"version {live} is live")
    if archived != was_archived:
        what.append("is archived" if archived else "is no longer archived")
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
