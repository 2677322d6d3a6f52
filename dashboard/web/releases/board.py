"""The review board: the items of a release, their totals, and the selected item."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404
from django.utils.functional import cached_property

from dashboard.contract.audiences import AudienceVersion, text_of
from dashboard.ledger.queries.audiences import versions_seen
from dashboard.ledger.states import version_state
from dashboard.operations.publish_preflight import Severity
from dashboard.releases.decisions import number_to_type
from dashboard.releases.models import ItemState, Release, ReleaseItem
from dashboard.releases.reviewing import blocked, board_digest, can_roll_back, light_items, risks
from dashboard.text_diff import TextDifference, compare_texts
from dashboard.web.releases.summary import ITEM_BADGES, Badge
from dashboard.web.ui.query_params import int_param

MAX_VERSIONS = 50
"""Maximum number of an audience's other versions to choose from."""
NOT_CHECKED: Badge = ("Not checked yet", "clock", "plain")
NOT_REVIEWED: Badge = ("Not reviewed", "st-todo", "plain")
REVIEWED: Badge = ("Reviewed", "check", "ok")
BLOCKED: Badge = ("Blocked", "st-blocked", "bad")


@dataclass(frozen=True)
class BoardItem:
    item: ReleaseItem

    @cached_property
    def is_blocked(self) -> bool:
        return blocked(self.item)

    @cached_property
    def risks(self) -> int:
        return len(risks(self.item))

    @property
    def can_roll_back(self) -> bool:
        return can_roll_back(self.item)

    @property
    def is_reviewed(self) -> bool:
        return self.item.reviewed_at is not None

    @property
    def is_open(self) -> bool:
        return self.item.state in (ItemState.WAITING, ItemState.HELD)

    @property
    def is_sendable(self) -> bool:
        return self.item.state == ItemState.WAITING and not self.is_blocked

    @property
    def is_first_publish(self) -> bool:
        return self.is_sendable and self.item.checked_at is not None and not self.can_roll_back

    @cached_property
    def badges(self) -> list[Badge]:
        if not self.is_open:
            return [ITEM_BADGES[self.item.state]]
        badges = [ITEM_BADGES[self.item.state]] if self.item.state == ItemState.HELD else []
        if self.item.checked_at is None:
            return [*badges, NOT_CHECKED]
        if self.is_blocked:
            return [*badges, BLOCKED]
        badges.append(REVIEWED if self.is_reviewed else NOT_REVIEWED)
        if self.risks:
            label = f"{self.risks} warning{'s' if self.risks > 1 else ''}"
            badges.append((label, "alert", "warn"))
        return badges

    @property
    def why(self) -> str:
        """The reason for the item's state, or the finding that blocks it, as a sentence; or ""."""
        if self.item.reason:
            return self.item.reason
        stops = (finding for finding in self.item.findings if finding["severity"] == Severity.STOP)
        return next((f"{stop['headline']} {stop['detail']}".strip() for stop in stops), "")


@dataclass(frozen=True)
class Board:
    release: Release
    entries: list[BoardItem]
    selected: BoardItem | None

    @cached_property
    def sendable(self) -> list[BoardItem]:
        return [entry for entry in self.entries if entry.is_sendable]

    @cached_property
    def blocked(self) -> list[BoardItem]:
        return [
            entry
            for entry in self.entries
            if entry.item.state == ItemState.WAITING and entry.is_blocked
        ]

    @cached_property
    def held(self) -> list[BoardItem]:
        return [entry for entry in self.entries if entry.item.state == ItemState.HELD]

    @cached_property
    def has_several_pages(self) -> bool:
        return len({entry.item.page_id for entry in self.entries}) > 1

    @cached_property
    def with_risks(self) -> int:
        return sum(bool(entry.risks) for entry in self.sendable)

    @cached_property
    def reviewed(self) -> int:
        return sum(entry.is_reviewed for entry in self.entries)

    @property
    def not_reviewed(self) -> int:
        return sum(not entry.is_reviewed for entry in self.sendable)

    @cached_property
    def first_publishes(self) -> list[BoardItem]:
        return [entry for entry in self.entries if entry.is_first_publish]

    @property
    def asks_for_number(self) -> bool:
        return number_to_type(entry.item for entry in self.entries) is not None

    @cached_property
    def checked(self) -> int:
        return sum(entry.item.checked_at is not None for entry in self.entries)

    @property
    def is_checking(self) -> bool:
        return self.release.needs_check or self.release.is_unrequested

    @property
    def was_checked(self) -> bool:
        waiting = (entry for entry in self.entries if entry.item.state == ItemState.WAITING)
        return all(entry.item.digest for entry in waiting)

    @property
    def checked_at(self) -> datetime | None:
        times = [entry.item.checked_at for entry in self.entries if entry.item.checked_at]
        return min(times, default=None)

    @cached_property
    def digest(self) -> str:
        """A hash of what the board shows, to detect changes before a decision."""
        return board_digest(self.release, [entry.item for entry in self.entries])

    def next_step(self, *, needs_approval: bool) -> tuple[str, str] | None:
        """Return the next step for a held release: a label and a relative link."""
        for entry in (
            *self.held,
            *(candidate for candidate in self.sendable if not candidate.is_reviewed),
        ):
            label = f"Review version {entry.item.version_number}"
            return label, f"?item={entry.item.pk}#detail"
        if not self.sendable:
            return None
        label = "Request approval" if needs_approval else f"Continue with {len(self.sendable)}"
        return label, "#verdict"

    @property
    def place(self) -> int:
        """Position of the selected item, counted from 1; 0 if there is none."""
        return self.entries.index(self.selected) + 1 if self.selected else 0

    @property
    def previous(self) -> BoardItem | None:
        return self.entries[self.place - 2] if self.place > 1 else None

    @property
    def next(self) -> BoardItem | None:
        return self.entries[self.place] if 0 < self.place < len(self.entries) else None

    @property
    def next_to_review(self) -> BoardItem | None:
        """The next unreviewed item after the selected one, or else the first one before it."""
        after, before = self.entries[self.place :], self.entries[: max(self.place - 1, 0)]
        return next((entry for entry in (*after, *before) if not entry.is_reviewed), None)


def read_board(release: Release, params: Mapping[str, str]) -> Board:
    """Return the board. `?item=` selects an item; by default, the first unreviewed one.

    Makes one query, and another one when the texts of the selected item are used. Raises Http404
    if the release has no such item.
    """
    entries = [BoardItem(item) for item in light_items(release)]
    if param := params.get("item"):
        pk = int_param(param)
        selected = next((entry for entry in entries if entry.item.pk == pk), None)
        if selected is None:
            raise Http404
        return Board(release, entries, selected)
    not_reviewed = (entry for entry in entries if not entry.is_reviewed)
    return Board(release, entries, next(not_reviewed, entries[0] if entries else None))


@dataclass(frozen=True)
class ItemDetail:
    entry: BoardItem

    @property
    def item(self) -> ReleaseItem:
        return self.entry.item

    @cached_property
    def version(self) -> AudienceVersion:
        return self.item.version

    @property
    def state(self) -> str:
        return version_state(
            self.version.status,
            is_live=self.live is not None and self.live.version_id == self.version.version_id,
            was_live=bool(self.version.published_at),
            # Only the finding that the version was rolled back has a date.
            is_rolled_back=any(finding.get("at") for finding in self.item.findings),
        )

    @cached_property
    def live(self) -> AudienceVersion | None:
        return self.item.live_version

    @cached_property
    def difference(self) -> TextDifference:
        return compare_texts(text_of(self.live), text_of(self.version))

    @cached_property
    def versions(self) -> list[dict[str, Any]]:
        """The audience's other versions in the ledger, newest first."""
        seen = versions_seen(self.item.page_id, self.item.audience_id)
        columns = ("version_id", "version_number", "status")
        rows = seen.exclude(version_id=self.item.version_id).values(*columns)[:MAX_VERSIONS]
        live_version_id = self.live.version_id if self.live else None
        return [
            row
            | {"state": version_state(row["status"], is_live=row["version_id"] == live_version_id)}
            for row in rows
        ]
