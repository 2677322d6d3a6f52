"""Make a release, and change it while it is a draft. Each function is one transaction.

All raise ReleaseError for invalid input, and then change nothing. The caller checks permissions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import AudienceRecord, VersionRecord
from dashboard.ledger.models.audiences import IN_FLIGHT
from dashboard.ledger.models.operations import actor_name
from dashboard.ledger.queries.audiences import audience_last_known, version_last_known
from dashboard.ledger.queries.pages import page_names
from dashboard.operations.checking import PublishTarget
from dashboard.releases.errors import AudienceProblem, ReleaseError
from dashboard.releases.models import (
    MAX_ITEMS,
    MAX_NAME,
    MAX_NOTE,
    ItemState,
    Release,
    ReleaseItem,
    ReleaseState,
)

AudienceKey: TypeAlias = tuple[str, str]
"""The ids of a page and of one of its audiences."""


@dataclass(frozen=True)
class PlannedVersion:
    """A version to publish, and the one that is live now, as last known."""

    page_id: str
    audience_id: str
    audience_name: str
    version: AudienceVersion
    live: AudienceVersion | None


def create_release(
    *,
    name: str,
    note: str,
    audiences: Sequence[AudienceKey],
    user: User,
    is_provisional: bool = False,
) -> Release:
    """Create a draft with the latest version of each audience, as last known, in this order.

    A worker checks it next. Without a name it is named after its versions. `is_provisional`: it was
    only opened to be reviewed, and isn't listed until something is decided in it.
    """
    name, note = _valid_texts(name, note)
    _require_audiences(audiences)
    return create_draft(
        name=name,
        note=note,
        planned=_latest_versions(audiences),
        user=user,
        is_provisional=is_provisional,
    )


def create_from_versions(
    *,
    name: str,
    note: str,
    targets: Sequence[PublishTarget],
    user: User,
    is_provisional: bool = False,
) -> Release:
    """Create a draft with these versions, which may be earlier ones; else as `create_release`."""
    name, note = _valid_texts(name, note)
    _require_audiences([(target.page_id, target.audience_id) for target in targets])
    planned = [_planned_version(target) for target in targets]
    return create_draft(
        name=name, note=note, planned=planned, user=user, is_provisional=is_provisional
    )


def create_draft(
    *,
    name: str,
    note: str,
    planned: Sequence[PlannedVersion],
    user: User,
    is_provisional: bool,
    rolls_back: Release | None = None,
    retries: Release | None = None,
) -> Release:
    """Create a draft with these versions.

    `rolls_back` is the release that it takes back, `retries` that whose failed versions it has.
    """
    now = timezone.now()
    with transaction.atomic():
        release = Release.objects.create(
            name=name
            or _default_name(
                [(each.version.version_number, each.audience_name) for each in planned]
            ),
            has_own_name=bool(name),
            note=note,
            is_provisional=is_provisional,
            created_at=now,
            created_by_name=actor_name(user),
            owner=user,
            owner_name=actor_name(user),
            rolls_back=rolls_back,
            retries=retries,
        )
        _insert_items(release, planned, first_position=1)
        request_check(release)
    return release


def add_audiences(release: Release, audiences: Sequence[AudienceKey], user: User) -> None:
    """Add the latest version of each audience at the end of a draft."""
    with _edit(release):
        present = list(release.items.values_list("page_id", "audience_id"))
        _require_audiences(audiences, present=present)
        planned = _latest_versions(audiences)
        last = release.items.aggregate(last=Max("position"))["last"] or 0
        _insert_items(release, planned, first_position=last + 1)
        _follow_items(release)
        request_check(release)


def remove_item(item: ReleaseItem) -> None:
    """Remove an item from a draft."""
    with _edit(item.release):
        ReleaseItem.objects.filter(pk=item.pk).delete()
        _renumber(item.release, _item_ids(item.release))
        _follow_items(item.release)


def move_item(item: ReleaseItem, by: int) -> None:
    """Move an item of a draft by so many places, from where it is by now; up if negative."""
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
    """Change the name and the note of a draft; without a name it is named after its versions."""
    name, note = _valid_texts(name, note)
    with _edit(release):
        release.name, release.has_own_name, release.note = name, bool(name), note
        release.save(update_fields=["name", "has_own_name", "note"])
        _follow_items(release)


def discard(release: Release, user: User) -> bool:
    """Remove a draft that its user leaves without a decision; return whether it was removed."""
    with transaction.atomic():
        # Locked by itself: a deletion doesn't read again whether somebody has kept it since.
        drafts = Release.objects.select_for_update().filter(pk=release.pk, is_provisional=True)
        draft = drafts.filter(owner=user).first()
        return bool(draft and draft.delete())


def choose_version(item: ReleaseItem, version_id: str) -> None:
    """Publish another version of the audience; it has to be checked and reviewed.

    Also for an item that a held release has not sent.
    """
    planned = _planned_version(PublishTarget(item.page_id, item.audience_id, version_id))
    with _edit(item.release, ReleaseState.HELD):
        _reload_unsent(item)
        for name, value in (_version_fields(planned) | _UNCHECKED).items():
            setattr(item, name, value)
        item.save(update_fields=[*_version_fields(planned), *_UNCHECKED])
        _follow_items(item.release)
        request_check(item.release)


def mark_reviewed(item: ReleaseItem, user: User, *, reviewed: bool, shown: str = "") -> None:
    """Mark an item as reviewed or not, in a draft, a scheduled or a held release.

    `shown` is the digest of the item that the user has seen; none is needed to remove the mark.
    """
    with _edit(item.release, ReleaseState.SCHEDULED, ReleaseState.HELD):
        _reload_unsent(item)
        if reviewed and not item.digest:
            raise ReleaseError("This version hasn’t been checked yet. Review it after the check.")
        if reviewed and shown != item.digest:
            raise ReleaseError("This version changed since you opened the page. Review it again.")
        item.reviewed_at = timezone.now() if reviewed else None
        item.reviewed_by_name = actor_name(user) if reviewed else ""
        item.save(update_fields=["reviewed_at", "reviewed_by_name"])


def keep(release: Release) -> None:
    """List a draft from now on, as somebody has decided something in it."""
    if release.is_provisional:
        release.is_provisional = False
        release.save(update_fields=["is_provisional"])


def request_check(release: Release) -> None:
    """Have a worker read a draft or a held release again. Nothing else is changed."""
    now = timezone.now()
    found = Release.objects.filter(pk=release.pk, state__in=CHECKED_STATES)
    if found.update(needs_check=True, wake_at=now, worker_id=""):
        release.needs_check, release.wake_at = True, now


def audience_records(audiences: Sequence[AudienceKey]) -> dict[AudienceKey, AudienceRecord]:
    """Return these audiences as last known, by their keys; one query a page."""
    of_pages: dict[str, list[str]] = {}
    for page_id, audience_id in audiences:
        if "\0" not in page_id + audience_id:  # PostgreSQL rejects NUL even in a filter.
            of_pages.setdefault(page_id, []).append(audience_id)
    return {
        (page_id, record.audience_id): record
        for page_id, ids in of_pages.items()
        for record in AudienceRecord.objects.filter(page_id=page_id, audience_id__in=ids)
    }


REVIEWABLE = (
    *(ReleaseState.DRAFT, ReleaseState.WAITING_FOR_APPROVAL),
    *(ReleaseState.SCHEDULED, ReleaseState.HELD),
)
"""States in which a person can review versions, and decide on them."""
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
    """Return the sentence that a release is not a draft any more."""
    state = _WORDS_OF_STATES.get(ReleaseState(release.state), "a draft")
    return f"This release is {state}. Nothing was changed."


@contextmanager
def _edit(release: Release, *also: ReleaseState) -> Iterator[None]:
    """Lock a release for a change. Raises ReleaseError unless it is a draft, or in such a state."""
    with transaction.atomic():
        reload_locked(release)
        if release.state not in (ReleaseState.DRAFT, *also):
            raise ReleaseError(state_sentence(release))
        yield
        keep(release)


def reload_locked(release: Release) -> None:
    """Lock a release in a transaction, and read it again. Raises ReleaseError if it is gone."""
    try:
        release.refresh_from_db(from_queryset=Release.objects.select_for_update())
    except Release.DoesNotExist as error:
        raise ReleaseError("This release no longer exists. Nothing was changed.") from error


def _reload_unsent(item: ReleaseItem) -> None:
    """Read an item of a locked release again. Raises ReleaseError if it was removed or sent."""
    try:
        item.refresh_from_db(fields=_CHANGED_BY_OTHERS)
    except ReleaseItem.DoesNotExist as error:
        raise _removed() from error
    if item.state not in (ItemState.WAITING, ItemState.HELD):
        raise ReleaseError(f"Version {item.version_number} can’t be changed: it was already sent.")


_CHANGED_BY_OTHERS = ("position", "state", "reason", "version_id", "version_number", "digest")


def _removed() -> ReleaseError:
    return ReleaseError("This version is no longer in the release. Nothing was changed.")


def _valid_texts(name: str, note: str) -> tuple[str, str]:
    """Return name and note without spacing around them. Raises ReleaseError if one is invalid."""
    name, note = " ".join(name.split()), note.strip()
    for field, text, limit in (("name", name, MAX_NAME), ("note", note, MAX_NOTE)):
        if len(text) > limit:
            sentence = f"The {field} has {len(text):,} characters. The maximum is {limit:,}."
            raise ReleaseError(sentence, field=field)
        if "\0" in text:  # PostgreSQL rejects it.
            raise ReleaseError(f"The {field} has a character that can’t be stored.", field=field)
    return name, note


def _require_audiences(
    audiences: Sequence[AudienceKey], *, present: Sequence[AudienceKey] = ()
) -> None:
    """Raise ReleaseError if there are none or too many, or one is twice in the release."""
    if not audiences:
        raise ReleaseError("Select at least one audience.", field="audience")
    total = len(audiences) + len(present)
    if total > MAX_ITEMS:
        sentence = f"A release has at most {MAX_ITEMS} versions. This one would have {total:,}."
        raise ReleaseError(sentence, field="audience")
    counts = Counter([*present, *audiences])
    twice = [key for key in dict.fromkeys(audiences) if counts[key] > 1]
    if not twice:
        return
    names = {key: record.name for key, record in audience_records(twice).items()}
    if set(twice) & set(present):
        sentence = "This audience is already in the release."
    else:
        sentence = "This audience is selected twice."
    raise _problems([(key, names.get(key) or key[1], sentence) for key in twice])


def _problems(found: Iterable[tuple[AudienceKey, str, str]]) -> ReleaseError:
    """Return the error for audiences that can't be added: their keys, names and sentences."""
    problems = tuple(AudienceProblem(*key, name, sentence) for key, name, sentence in found)
    first = f"{problems[0].name}: {problems[0].sentence}"
    others = f" {len(problems) - 1} more can’t be added." if len(problems) > 1 else ""
    return ReleaseError(first + others, field="audience", problems=problems)


def _latest_versions(audiences: Sequence[AudienceKey]) -> list[PlannedVersion]:
    """Return the latest version of each audience. Raises ReleaseError for those without."""
    records = audience_records(audiences)
    planned, problems = [], []
    for key in audiences:
        if key not in records:
            problems.append((key, key[1], "This audience isn’t recorded here."))
            continue
        audience, name = records[key].audience, records[key].name or key[1]
        latest, live = audience.latest_version, audience.published_version
        if latest and latest.status not in IN_FLIGHT and not _is_live(latest, live):
            planned.append(PlannedVersion(*key, name, latest, live))
        else:
            problems.append((key, name, _nothing_to_publish(latest)))
    if problems:
        raise _problems(problems)
    return planned


def _is_live(version: AudienceVersion, live: AudienceVersion | None) -> bool:
    return live is not None and live.version_id == version.version_id


def _nothing_to_publish(version: AudienceVersion | None) -> str:
    """Return why the version of an audience, if it has one, is not to be published."""
    if version is None:
        return "Nothing to publish: it has no version."
    if version.status in IN_FLIGHT:
        number, status = version.version_number, version.status
        return f"Nothing to publish: version {number} is already in progress ({status})."
    return f"Nothing to publish: version {version.version_number} is already live."


def _planned_version(target: PublishTarget) -> PlannedVersion:
    """Return a recorded version. Raises ReleaseError if it is unknown, or already live."""
    if "\0" in "".join(target):
        raise ReleaseError("This version isn’t recorded here.", field="version")
    record = version_last_known(*target)
    audience_record = audience_last_known(target.page_id, target.audience_id)
    if audience_record is None:
        raise ReleaseError("This audience isn’t recorded here.", field="audience")
    if record is None and VersionRecord.objects.filter(version_id=target.version_id).exists():
        raise ReleaseError("This version belongs to another audience.", field="version")
    if record is None:
        raise ReleaseError("This version isn’t recorded here.", field="version")
    version, live = record.version, audience_record.audience.published_version
    if _is_live(version, live):
        raise ReleaseError(_nothing_to_publish(version), field="version")
    name = audience_record.name or target.audience_id
    return PlannedVersion(target.page_id, target.audience_id, name, version, live)


_UNCHECKED: dict[str, object] = {
    "words_added": 0,
    "words_removed": 0,
    "findings": [],
    "digest": "",
    "checked_at": None,
    "reviewed_at": None,
    "reviewed_by_name": "",
}
"""The columns of an item that follow from a check, before the first one."""


def _version_fields(planned: PlannedVersion) -> dict[str, object]:
    """Return the columns of an item that name its version and the live one."""
    live = planned.live
    return {
        "version_id": planned.version.version_id,
        "version_number": planned.version.version_number,
        "version_body": planned.version.to_json(),
        "live_body": live.to_json() if live else "",
        "live_version_id": live.version_id if live else "",
        "live_version_number": live.version_number if live else None,
    }


def _insert_items(
    release: Release, planned: Sequence[PlannedVersion], *, first_position: int
) -> None:
    names = page_names(list({each.page_id for each in planned}))
    ReleaseItem.objects.bulk_create(
        ReleaseItem(
            release=release,
            position=position,
            page_id=each.page_id,
            audience_id=each.audience_id,
            audience_name=each.audience_name,
            page_name=names.get(each.page_id) or each.page_id,
            **_version_fields(each),
        )
        for position, each in enumerate(planned, start=first_position)
    )


def _default_name(versions: Sequence[tuple[int, str]]) -> str:
    """Return a name that says what is in a release, from its version numbers and audiences."""
    if len(versions) == 1:
        [(number, audience_name)] = versions
        return f"Version {number}, {audience_name}"[:MAX_NAME]
    return f"{len(versions)} versions" if versions else "No versions"


def _follow_items(release: Release) -> None:
    """Name a locked release after its items, unless a person named it."""
    if not release.has_own_name:
        items = release.items.values_list("version_number", "audience_name")
        release.name = _default_name(list(items))
        release.save(update_fields=["name"])


def _item_ids(release: Release) -> list[int]:
    return list(release.items.values_list("pk", flat=True))


def _renumber(release: Release, ids: Sequence[int]) -> None:
    """Number the items from 1 in this order; only those that move are written."""
    positions = dict(release.items.values_list("pk", "position"))
    moved = [
        ReleaseItem(pk=pk, position=position)
        for position, pk in enumerate(ids, start=1)
        if positions[pk] != position
    ]
    ReleaseItem.objects.bulk_update(moved, ["position"])
