"""The draft that follows a release: what was live before, or its failed items once more."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from django.contrib.auth.models import User
from django.db.models import QuerySet

from dashboard.ledger.models import AudienceRecord
from dashboard.releases.decisions import decide
from dashboard.releases.drafting import PlannedVersion, audience_records, create_draft, keep
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import MAX_NAME, ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import can_roll_back

LeftOut: TypeAlias = list[tuple[ReleaseItem, str]]
"""Items that a draft does not have, each with the reason in a sentence."""

NOT_KNOWN_LIVE = (ItemState.FAILED, ItemState.UNKNOWN)
"""States of items that were sent and did not go live, as far as is known."""
_NOT_LIVE = {
    ItemState.WAITING: "It wasn’t sent.",
    ItemState.SENDING: "It is still in progress.",
    ItemState.IN_PROGRESS: "It is still in progress.",
    ItemState.FAILED: "It failed, so nothing changed.",
    ItemState.HELD: "It wasn’t sent.",
    ItemState.UNKNOWN: "Left out until its outcome is known.",
    ItemState.CANCELED: "It wasn’t sent.",
}


def roll_back(release: Release, user: User) -> tuple[Release, LeftOut]:
    """Create a draft of what was live before each item, and return it with the items left out.

    Each of those comes with the reason why it can't be taken back, or was not changed. For a
    finished or a held release; raises ReleaseError also if nothing can be taken back. Whoever
    presses second gets the release of the first, until that has ended.
    """
    with decide(release, *ReleaseState):
        if release.state == ReleaseState.RUNNING:
            raise ReleaseError("This release is still being published. Stop it first.")
        if release.state not in (ReleaseState.FINISHED, ReleaseState.HELD):
            raise ReleaseError("Nothing of this release was sent, so nothing can be rolled back.")
        items = list(release.items.all())
        reasons = rollback_problems(items)
        if draft := _opened(open_rollbacks(release), user):
            return draft, _left_out(items, reasons)
        earlier = [
            PlannedVersion(item.page_id, item.audience_id, item.audience_name, live, item.version)
            for item in items
            if item.pk not in reasons and (live := item.live_version)
        ]
        if not earlier:
            raise ReleaseError("No version of this release can be rolled back.")
        name = f"Roll back: {release.name}"[:MAX_NAME]
        draft = create_draft(
            name=name,
            note="",
            planned=earlier,
            user=user,
            is_provisional=True,
            rolls_back=release,
        )
    return draft, _left_out(items, reasons)


def open_rollbacks(release: Release) -> QuerySet[Release]:
    """Return the releases that take back this one and have not ended."""
    return release.rollbacks.filter(retries=None).exclude(state__in=_ENDED)


def open_retries(release: Release) -> QuerySet[Release]:
    """Return the releases with the failed versions of this one that have not ended."""
    return release.retried_by.exclude(state__in=_ENDED)


def _opened(drafts: QuerySet[Release], user: User) -> Release | None:
    """Return the first of these, which is opened once more, or None.

    A draft that a second person opens is kept: it isn't removed when the first one leaves it.
    """
    # Locked, so that it isn't being removed.
    draft = drafts.select_for_update().first()
    if draft and draft.owner != user:
        keep(draft)
    return draft


_ENDED = (ReleaseState.FINISHED, ReleaseState.CANCELED)


def rollback_problems(items: Sequence[ReleaseItem]) -> dict[int, str]:
    """Return why items can't be rolled back, in sentences by primary key. By the ledger."""
    records = audience_records([(item.page_id, item.audience_id) for item in items])
    found = {}
    for item in items:
        record = records.get((item.page_id, item.audience_id))
        if reason := _rollback_problem(item, record):
            found[item.pk] = reason
    return found


def _rollback_problem(item: ReleaseItem, record: AudienceRecord | None) -> str:
    if item.state != ItemState.LIVE:
        return _NOT_LIVE[ItemState(item.state)]
    if not can_roll_back(item):
        return "First publish. The API can’t unpublish."
    if item.live_version_id == item.version_id:
        return "The same version was live before."
    is_replaced = record and record.live_version_id not in ("", item.version_id)
    if record and is_replaced and record.live_version_id == item.live_version_id:
        return restored_sentence(item)
    if record and is_replaced:
        return f"Version {record.live_version_number} has gone live since."
    return ""


def restored_sentence(item: ReleaseItem) -> str:
    """Return that the version before an item is live again, so that nothing is left to do."""
    return f"Version {item.live_version_number} is live again."


def retry_failed(release: Release, user: User) -> tuple[Release, LeftOut]:
    """Create a draft of the failed items of a finished release; return it with those left out.

    Left out are those of `retry_problems`, each with the reason. Raises ReleaseError also if
    nothing can be retried. Whoever presses second gets the release of the first, until that has
    ended.
    """
    with decide(release, ReleaseState.FINISHED):
        items = list(release.items.filter(state__in=NOT_KNOWN_LIVE))
        reasons = retry_problems(items)
        if draft := _opened(open_retries(release), user):
            return draft, _left_out(items, reasons)
        failed = [
            PlannedVersion(
                item.page_id, item.audience_id, item.audience_name, item.version, item.live_version
            )
            for item in items
            if item.pk not in reasons
        ]
        if not failed:
            raise ReleaseError("No version of this release can be retried.")
        name, former = f"Retry: {release.name}"[:MAX_NAME], release.rolls_back
        # What is left of a rollback still rolls back the same release.
        draft = create_draft(
            name=name,
            note="",
            planned=failed,
            user=user,
            is_provisional=True,
            rolls_back=former,
            retries=release,
        )
    return draft, _left_out(items, reasons)


def retry_problems(items: Sequence[ReleaseItem]) -> dict[int, str]:
    """Return why failed or unknown items can't be retried, in sentences by primary key.

    An unknown outcome is settled first; a version that another one has replaced since, or that
    is live after all, is left out, too. By the ledger.
    """
    records = audience_records([(item.page_id, item.audience_id) for item in items])
    found = {}
    for item in items:
        record = records.get((item.page_id, item.audience_id))
        if reason := _retry_problem(item, record):
            found[item.pk] = reason
    return found


def _retry_problem(item: ReleaseItem, record: AudienceRecord | None) -> str:
    if item.state == ItemState.UNKNOWN:
        return "Its outcome is unknown. Check it first."
    if record is None or record.live_version_id in ("", item.live_version_id):
        return ""
    if record.live_version_id == item.version_id:
        return f"Version {item.version_number} is live."
    return f"Version {record.live_version_number} has gone live since."


def _left_out(items: Sequence[ReleaseItem], reasons: Mapping[int, str]) -> LeftOut:
    return [(item, reasons[item.pk]) for item in items if item.pk in reasons]
