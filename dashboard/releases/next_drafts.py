"""Roll back a release, or create a draft that retries its failed items."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from django.contrib.auth.models import User
from django.db.models import QuerySet

from dashboard.ledger.models import AudienceRecord
from dashboard.releases.decisions import start_rollback
from dashboard.releases.drafting import create_draft, decide, keep, valid_texts
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import MAX_NAME, ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.planning import PlannedVersion, audience_records
from dashboard.releases.reviewing import can_roll_back

LeftOut: TypeAlias = list[tuple[ReleaseItem, str]]
"""Items that were left out of a draft, each with the reason as a sentence."""

NOT_KNOWN_LIVE = (ItemState.FAILED, ItemState.UNKNOWN)
"""States of sent items that are not known to be live."""
_NOT_LIVE = {
    ItemState.WAITING: "It wasn’t sent.",
    ItemState.SENDING: "It is still in progress.",
    ItemState.IN_PROGRESS: "It is still in progress.",
    ItemState.FAILED: "It failed, so nothing changed.",
    ItemState.HELD: "It wasn’t sent.",
    ItemState.UNKNOWN: "Left out until its outcome is known.",
    ItemState.CANCELED: "It wasn’t sent.",
}


def roll_back(
    release: Release,
    user: User,
    *,
    note: str = "",
    only: Collection[int] | None = None,
    form_key: str | None = None,
) -> tuple[Release, LeftOut]:
    """Start a rollback of a finished or held release; return it with the items left out.

    A worker reads the rollback at once, holds items that changed since, and sends the others. If
    the rule needs an approval, it requests one instead. `only` has the primary keys of the items
    that a person chose. Returns the existing rollback if one is open, or was created with the same
    `form_key`. Raises ReleaseError in other states, and if nothing can be rolled back.
    """
    _, note = valid_texts("", note)
    with decide(release, *ReleaseState):
        if form_key and (sent := release.rollbacks.filter(form_key=form_key).first()):
            return sent, []
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
            if item.pk not in reasons
            and (only is None or item.pk in only)
            and (live := item.live_version)
        ]
        if not earlier and only is not None and len(reasons) < len(items):
            raise ReleaseError("Select at least one version.")
        if not earlier:
            raise ReleaseError("No version of this release can be rolled back.")
        rollback = create_draft(
            name=f"Roll back: {release.name}"[:MAX_NAME],
            note=note,
            planned=earlier,
            user=user,
            is_provisional=False,
            rolls_back=release,
            form_key=form_key,
        )
        start_rollback(rollback, user)
    return rollback, _left_out(items, reasons)


def open_rollbacks(release: Release) -> QuerySet[Release]:
    return release.rollbacks.filter(retries=None).exclude(state__in=_ENDED)


def open_retries(release: Release) -> QuerySet[Release]:
    return release.retried_by.exclude(state__in=_ENDED)


def _opened(drafts: QuerySet[Release], user: User) -> Release | None:
    """Return the first of these drafts, or None.

    A draft that a second person opens is kept when the first one leaves it.
    """
    # Lock it, so that it isn't removed meanwhile.
    draft = drafts.select_for_update().first()
    if draft and draft.owner != user:
        keep(draft)
    return draft


_ENDED = (ReleaseState.FINISHED, ReleaseState.CANCELED)


def rollback_problems(items: Sequence[ReleaseItem]) -> dict[int, str]:
    """Return why items can't be rolled back, as sentences by primary key. Reads the ledger."""
    return _problems(items, _rollback_problem)


def _problems(
    items: Sequence[ReleaseItem], problem_of: Callable[[ReleaseItem, AudienceRecord | None], str]
) -> dict[int, str]:
    records = audience_records([(item.page_id, item.audience_id) for item in items])
    problems = {
        item.pk: problem_of(item, records.get((item.page_id, item.audience_id))) for item in items
    }
    return {pk: problem for pk, problem in problems.items() if problem}


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
    return f"Version {item.live_version_number} is live again."


def retry_failed(release: Release, user: User) -> tuple[Release, LeftOut]:
    """Create a draft of the failed items of a finished release; return it with those left out.

    Items with `retry_problems` are left out. Returns the existing retry if one is open. Raises
    ReleaseError if the release isn't finished, or nothing can be retried.
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
        draft = create_draft(
            name=f"Retry: {release.name}"[:MAX_NAME],
            note="",
            planned=failed,
            user=user,
            is_provisional=True,
            # What is left of a rollback still rolls back the same release.
            rolls_back=release.rolls_back,
            retries=release,
        )
    return draft, _left_out(items, reasons)


def retry_problems(items: Sequence[ReleaseItem]) -> dict[int, str]:
    """Return why failed or unknown items can't be retried, as sentences by primary key.

    An unknown outcome must be settled first. A version that is live or was replaced since can't be
    retried. Reads the ledger.
    """
    return _problems(items, _retry_problem)


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
