"""Create releases and edit them. Each function is one transaction.

Invalid input raises ReleaseError and changes nothing. The caller checks permissions.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from dashboard import clock
from dashboard.ledger.models.operations import actor_name
from dashboard.ledger.queries.pages import page_names
from dashboard.ledger.queries.rows import AudienceKey
from dashboard.operations.checking import PublishTarget
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import (
    LEFT_TO_SEND,
    MAX_NAME,
    MAX_NOTE,
    Release,
    ReleaseItem,
    ReleaseState,
    add_to_feed,
    change,
)
from dashboard.releases.planning import (
    PlannedVersion,
    latest_versions,
    planned_version,
    require_audiences,
    version_columns,
)
from dashboard.texts import storage_problem


def create_release(
    *,
    name: str,
    note: str,
    audiences: Sequence[AudienceKey],
    user: User,
    is_provisional: bool = False,
    form_key: str | None = None,
) -> Release:
    """Create a draft with the last known latest version of each audience, in this order.

    The other arguments are as in `create_draft`.
    """
    require_audiences(audiences)
    return create_draft(
        name=name,
        note=note,
        planned=latest_versions(audiences),
        user=user,
        is_provisional=is_provisional,
        form_key=form_key,
    )


def create_draft(
    *,
    name: str,
    note: str,
    planned: Sequence[PlannedVersion],
    user: User,
    is_provisional: bool = False,
    rolls_back: Release | None = None,
    retries: Release | None = None,
    form_key: str | None = None,
    by_program: str = "",
) -> Release:
    """Create a draft with these versions, or return the draft that this form created.

    A worker checks the draft next. Without a name it is named after its versions. A provisional
    draft isn't listed until a person changes it. `rolls_back` is the release to roll back.
    `retries` is the release whose failed versions are sent again.
    """
    name, note = valid_texts(name, note)
    now = clock.now()
    names = [(item.version.version_number, item.audience_name) for item in planned]
    columns = {
        "name": name or _default_name(names),
        "has_own_name": bool(name),
        "note": note,
        "is_provisional": is_provisional,
        "created_at": now,
        "created_by_name": actor_name(user),
        "created_by_program": by_program,
        "owner": user,
        "owner_name": actor_name(user),
        "by_program": by_program,
        "rolls_back": rolls_back,
        "retries": retries,
    }
    with transaction.atomic():
        release, is_new = Release.objects.get_or_create(
            form_key=form_key or token_hex(), defaults=columns
        )
        if is_new:
            _insert_items(release, planned, first_position=1)
            request_check(release)
    return release


def add_audiences(release: Release, audiences: Sequence[AudienceKey], user: User) -> None:
    with _edit(release):
        present = list(release.items.values_list("page_id", "audience_id"))
        require_audiences(audiences, present=present)
        planned = latest_versions(audiences)
        last = release.items.aggregate(last=Max("position"))["last"] or 0
        _insert_items(release, planned, first_position=last + 1)
        _follow_items(release)
        request_check(release)


def remove_item(item: ReleaseItem) -> None:
    with _edit(item.release):
        ReleaseItem.objects.filter(pk=item.pk).delete()
        _renumber(item.release, _item_ids(item.release))
        _follow_items(item.release)


def move_item(item: ReleaseItem, by: int) -> None:
    """Move an item of a draft by this many places from its current one; up if negative."""
    with _edit(item.release):
        ids = _item_ids(item.release)
        if item.pk not in ids:
            raise _removed()
        place = max(ids.index(item.pk) + by, 0)
        ids.remove(item.pk)
        ids.insert(place, item.pk)
        _renumber(item.release, ids)
    item.refresh_from_db(fields=["position"])


def set_name_and_note(release: Release, name: str, note: str) -> None:
    name, note = valid_texts(name, note)
    with _edit(release):
        release.name, release.has_own_name, release.note = name, bool(name), note
        release.save(update_fields=["name", "has_own_name", "note"])
        _follow_items(release)


def discard(release: Release, user: User) -> bool:
    """Remove a draft that its user leaves without a decision; return whether it was removed."""
    with transaction.atomic():
        # Lock the row first: a deletion doesn't check again that the draft is provisional.
        drafts = Release.objects.select_for_update().filter(pk=release.pk, is_provisional=True)
        draft = drafts.filter(owner=user).first()
        if draft:
            add_to_feed(draft.pk)
        return bool(draft and draft.delete())


def choose_version(item: ReleaseItem, version_id: str) -> None:
    """Replace the version of an unsent item. It needs another check and review.

    The release must be a draft or held.
    """
    planned = planned_version(PublishTarget(item.page_id, item.audience_id, version_id))
    with _edit(item.release, ReleaseState.HELD):
        _reload_unsent(item)
        columns = version_columns(planned.version, planned.live) | _UNCHECKED
        for name, value in columns.items():
            setattr(item, name, value)
        item.save(update_fields=columns.keys())
        _follow_items(item.release)
        request_check(item.release)


def mark_reviewed(
    item: ReleaseItem, user: User, *, reviewed: bool, displayed_digest: str = ""
) -> None:
    """Mark an item as reviewed or not, in a draft, a scheduled or a held release.

    `displayed_digest` is the digest of the item on the user's page. Removing the mark needs none.
    """
    with _edit(item.release, ReleaseState.SCHEDULED, ReleaseState.HELD):
        _reload_unsent(item)
        if reviewed and not item.digest:
            raise ReleaseError("This version hasn’t been checked yet. Review it after the check.")
        if reviewed and displayed_digest != item.digest:
            raise ReleaseError("This version changed since you opened the page. Review it again.")
        item.reviewed_at = clock.now() if reviewed else None
        item.reviewed_by_name = actor_name(user) if reviewed else ""
        item.save(update_fields=["reviewed_at", "reviewed_by_name"])


def keep(release: Release) -> None:
    """List a provisional draft, because a person changed it."""
    if release.is_provisional:
        change(release, is_provisional=False)


def request_check(release: Release) -> None:
    """Have a worker read a draft or a held release again."""
    now = clock.now()
    releases = Release.objects.filter(pk=release.pk, state__in=CHECKED_STATES)
    with transaction.atomic():
        if releases.update(needs_check=True, wake_at=now, worker_id=""):
            release.needs_check, release.wake_at = True, now
            add_to_feed(release.pk)


REVIEWABLE = (
    *(ReleaseState.DRAFT, ReleaseState.WAITING_FOR_APPROVAL),
    *(ReleaseState.SCHEDULED, ReleaseState.HELD),
)
"""States in which a person can review and decide."""
CHECKED_STATES = (ReleaseState.DRAFT, ReleaseState.HELD)
"""States in which a release is checked when a person requests it."""
_WORDS_OF_STATES = {
    ReleaseState.WAITING_FOR_APPROVAL: "waiting for approval. Withdraw the request to change it",
    ReleaseState.SCHEDULED: "scheduled. Cancel the schedule to change it",
    ReleaseState.RUNNING: "being published",
    ReleaseState.HELD: "held, so only versions that weren’t sent can be changed",
    ReleaseState.FINISHED: "finished",
    ReleaseState.CANCELED: "canceled",
}


def state_sentence(release: Release) -> str:
    state = _WORDS_OF_STATES.get(ReleaseState(release.state), "a draft")
    return f"This release is {state}. Nothing was changed."


@contextmanager
def decide(release: Release, *states: ReleaseState) -> Iterator[None]:
    """Lock a release for a decision. Raises ReleaseError unless it is in one of these states."""
    with transaction.atomic():
        try:
            release.refresh_from_db(from_queryset=Release.objects.select_for_update())
        except Release.DoesNotExist as error:
            raise ReleaseError("This release no longer exists. Nothing was changed.") from error
        if release.state not in states:
            raise ReleaseError(state_sentence(release))
        yield


@contextmanager
def _edit(release: Release, *also: ReleaseState) -> Iterator[None]:
    """Lock a release for an edit. Raises ReleaseError unless it is a draft or in `also`."""
    with decide(release, ReleaseState.DRAFT, *also):
        yield
        keep(release)
        add_to_feed(release.pk)


def _reload_unsent(item: ReleaseItem) -> None:
    """Read an item of a locked release again. Raises ReleaseError if it was removed or sent."""
    try:
        item.refresh_from_db(fields=_CHANGED_BY_OTHERS)
    except ReleaseItem.DoesNotExist as error:
        raise _removed() from error
    if item.state not in LEFT_TO_SEND:
        raise ReleaseError(f"Version {item.version_number} can’t be changed: it was already sent.")


_CHANGED_BY_OTHERS = ("position", "state", "reason", "version_id", "version_number", "digest")


def _removed() -> ReleaseError:
    return ReleaseError("This version is no longer in the release. Nothing was changed.")


def valid_texts(name: str, note: str) -> tuple[str, str]:
    """Return them without spaces around; raises ReleaseError with the first of their problems."""
    for field, problem in text_problems(name, note).items():
        raise ReleaseError(problem, field=field)
    return " ".join(name.split()), note.strip()


def text_problems(name: str, note: str) -> dict[str, str]:
    """Return what is wrong with the name and the note of a release, by field."""
    texts = {"name": (" ".join(name.split()), MAX_NAME), "note": (note.strip(), MAX_NOTE)}
    problems = {
        field: storage_problem(field, text, limit) for field, (text, limit) in texts.items()
    }
    return {field: problem for field, problem in problems.items() if problem}


_UNCHECKED: dict[str, object] = {
    "words_added": 0,
    "words_removed": 0,
    "findings": [],
    "digest": "",
    "checked_at": None,
    "reviewed_at": None,
    "reviewed_by_name": "",
}
"""Values of an item's check and review columns before its first check."""


def _insert_items(
    release: Release, planned: Sequence[PlannedVersion], *, first_position: int
) -> None:
    names = page_names(list({item.page_id for item in planned}))
    ReleaseItem.objects.bulk_create(
        ReleaseItem(
            release=release,
            position=position,
            page_id=item.page_id,
            audience_id=item.audience_id,
            audience_name=item.audience_name,
            page_name=names.get(item.page_id) or item.page_id,
            **version_columns(item.version, item.live),
        )
        for position, item in enumerate(planned, start=first_position)
    )


def _default_name(versions: Sequence[tuple[int, str]]) -> str:
    if len(versions) == 1:
        [(number, audience_name)] = versions
        return f"Version {number}, {audience_name}"[:MAX_NAME]
    return f"{len(versions)} versions" if versions else "No versions"


def _follow_items(release: Release) -> None:
    if not release.has_own_name:
        items = release.items.values_list("version_number", "audience_name")
        release.name = _default_name(list(items))
        release.save(update_fields=["name"])


def _item_ids(release: Release) -> list[int]:
    return list(release.items.values_list("pk", flat=True))


def _renumber(release: Release, ids: Sequence[int]) -> None:
    positions = dict(release.items.values_list("pk", "position"))
    moved = [
        ReleaseItem(pk=pk, position=position)
        for position, pk in enumerate(ids, start=1)
        if positions[pk] != position
    ]
    ReleaseItem.objects.bulk_update(moved, ["position"])
