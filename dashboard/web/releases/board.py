"""What the review board shows: the items of a release, their totals, and the selected one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.http import Http404

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.queries.audiences import versions_seen
from dashboard.operations.publish_preflight import Severity
from dashboard.releases.decisions import MAX_UNTYPED
from dashboard.releases.models import ItemState, Release, ReleaseItem
from dashboard.releases.reviewing import (
    blocked,
    board_digest,
    can_roll_back,
    light_items,
    risks,
)
from dashboard.text_diff import TextDifference, compare_texts
from dashboard.web.releases.summary import ITEM_BADGES, Badge
from dashboard.web.ui.query_params import int_param

MAX_VERSIONS = 50
"""Versions of an audience to choose from."""
NOT_CHECKED: Badge = ("Not checked yet", "clock", "plain")
NOT_REVIEWED: Badge = ("Not reviewed", "st-todo", "plain")
REVIEWED: Badge = ("Reviewed", "check", "ok")
BLOCKED: Badge = ("Blocked", "st-blocked", "bad")


@dataclass(frozen=True)
class Entry:
    """One item in the list of the board."""

    item: ReleaseItem

    @cached_property
    def is_blocked(self) -> bool:
        """Whether a finding stops it."""
        return blocked(self.item)

    @cached_property
    def risks(self) -> int:
        """The number of its warnings."""
        return len(risks(self.item))

    @property
    def can_roll_back(self) -> bool:
        """Whether something was live that can be published again."""
        return can_roll_back(self.item)

    @property
    def is_reviewed(self) -> bool:
        """Whether somebody marked it as reviewed, and nothing has changed since."""
        return self.item.reviewed_at is not None

    @property
    def is_open(self) -> bool:
        """Whether it can still be sent by a decision: not sent, and not skipped."""
        return self.item.state in (ItemState.WAITING, ItemState.HELD)

    @property
    def is_sendable(self) -> bool:
        """Whether the next decision sends it; a held one has to be checked again before."""
        return self.item.state == ItemState.WAITING and not self.is_blocked

    @property
    def is_first_publish(self) -> bool:
        """Whether it is to be sent, and can't be rolled back then."""
        return self.is_sendable and self.item.checked_at is not None and not self.can_roll_back

    @cached_property
    def badges(self) -> list[Badge]:
        """Its state, and what is to consider."""
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
        """The reason for its state, in a sentence; else what stops it; else ""."""
        if self.item.reason:
            return self.item.reason
        stops = (each for each in self.item.findings if each["severity"] == Severity.STOP)
        return next((f"{each['headline']} {each['detail']}".strip() for each in stops), "")


@dataclass(frozen=True)
class Board:
    """A release with its items, in order."""

    release: Release
    entries: list[Entry]
    selected: Entry | None

    @cached_property
    def sendable(self) -> list[Entry]:
        """The items that a decision sends."""
        return [each for each in self.entries if each.is_sendable]

    @cached_property
    def blocked(self) -> list[Entry]:
        """The items that no decision sends."""
        return [
            each
            for each in self.entries
            if each.item.state == ItemState.WAITING and each.is_blocked
        ]

    @cached_property
    def held(self) -> list[Entry]:
        """The items that were held, and not checked since."""
        return [each for each in self.entries if each.item.state == ItemState.HELD]

    @cached_property
    def has_several_pages(self) -> bool:
        """Whether the audiences are of more than one page."""
        return len({each.item.page_id for each in self.entries}) > 1

    @cached_property
    def with_risks(self) -> int:
        """The number of items to be sent in spite of a warning."""
        return sum(bool(each.risks) for each in self.sendable)

    @cached_property
    def reviewed(self) -> int:
        """The number of items marked as reviewed."""
        return sum(each.is_reviewed for each in self.entries)

    @property
    def not_reviewed(self) -> int:
        """The number of items to be sent not marked as reviewed."""
        return sum(not each.is_reviewed for each in self.sendable)

    @cached_property
    def first_publishes(self) -> list[Entry]:
        """The items that can't be rolled back once they are live."""
        return [each for each in self.entries if each.is_first_publish]

    @property
    def asks_for_number(self) -> bool:
        """Whether the number of versions has to be typed."""
        return len(self.sendable) > MAX_UNTYPED or self.with_risks > 0

    @cached_property
    def checked(self) -> int:
        """The number of items that were read."""
        return sum(each.item.checked_at is not None for each in self.entries)

    @property
    def is_checking(self) -> bool:
        """Whether a worker has yet to read items."""
        return self.release.needs_check

    @property
    def was_checked(self) -> bool:
        """Whether every item to be sent was read, so that a decision can be made."""
        waiting = (each for each in self.entries if each.item.state == ItemState.WAITING)
        return all(each.item.digest for each in waiting)

    @property
    def checked_at(self) -> datetime | None:
        """When the item that was checked longest ago was checked."""
        times = [each.item.checked_at for each in self.entries if each.item.checked_at]
        return min(times, default=None)

    @cached_property
    def shown(self) -> str:
        """A hash of what the board shows, to detect changes before a decision."""
        return board_digest(self.release, [each.item for each in self.entries])

    def next_step(self, *, needs_approval: bool) -> tuple[str, str] | None:
        """Return what to do next with a held release: a label and a link on its page."""
        for entry in (*self.held, *(each for each in self.sendable if not each.is_reviewed)):
            label = f"Review version {entry.item.version_number}"
            return label, f"?item={entry.item.pk}#detail"
        if not self.sendable:
            return None
        label = "Request approval" if needs_approval else f"Continue with {len(self.sendable)}"
        return label, "#verdict"

    @property
    def place(self) -> int:
        """The place of the selected item, from 1; 0 if there is none."""
        return self.entries.index(self.selected) + 1 if self.selected else 0

    @property
    def previous(self) -> Entry | None:
        """The item before the selected one."""
        return self.entries[self.place - 2] if self.place > 1 else None

    @property
    def next(self) -> Entry | None:
        """The item after the selected one."""
        return self.entries[self.place] if 0 < self.place < len(self.entries) else None

    @property
    def next_to_review(self) -> Entry | None:
        """The first item after the selected one that is not reviewed, else the first before it."""
        after, before = self.entries[self.place :], self.entries[: max(self.place - 1, 0)]
        return next((each for each in (*after, *before) if not each.is_reviewed), None)


def read_board(release: Release, params: Mapping[str, str]) -> Board:
    """Return the board with the item of `?item=` selected, else the first not reviewed.

    One query; another one for the texts of the selected item. Raises Http404 if the release has
    no such item.
    """
    entries = [Entry(item) for item in light_items(release)]
    return Board(release, entries, _selected(entries, params.get("item", "")))


def _selected(entries: list[Entry], param: str) -> Entry | None:
    if param:
        pk = int_param(param)
        found = next((each for each in entries if each.item.pk == pk), None)
        if found is None:
            raise Http404
        return found
    not_reviewed = (each for each in entries if not each.is_reviewed)
    return next(not_reviewed, entries[0] if entries else None)


@dataclass(frozen=True)
class ItemDetail:
    """The selected item: what is live, what would be, and what is to consider."""

    entry: Entry

    @property
    def item(self) -> ReleaseItem:
        """The item."""
        return self.entry.item

    @cached_property
    def version(self) -> AudienceVersion:
        """The version that was reviewed."""
        return self.item.version

    @cached_property
    def live(self) -> AudienceVersion | None:
        """The version that was live at the review."""
        return self.item.live_version

    @cached_property
    def difference(self) -> TextDifference:
        """What changes in the supplementary context."""
        return compare_texts(
            self.live.supplementary_context if self.live else None,
            self.version.supplementary_context,
        )

    @cached_property
    def versions(self) -> list[dict[str, Any]]:
        """The other versions seen of the audience, newest first."""
        seen = versions_seen(self.item.page_id, self.item.audience_id)
        columns = ("version_id", "version_number", "status")
        return list(seen.exclude(version_id=self.item.version_id).values(*columns)[:MAX_VERSIONS])
