"""Four releases: one over, one held, one scheduled for tonight, one that needs approval.

They consist of versions and operations that the sample has, so all pages tell the same story.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.ledger.models import Attempt, AudienceRecord, Operation, VersionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome, actor_name
from dashboard.ledger.queries.pages import page_names
from dashboard.releases.approving import request_approval
from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release
from dashboard.releases.models import (
    HoldKind,
    ItemState,
    Release,
    ReleaseItem,
    ReleaseState,
)
from dashboard.releases.reviewing import board_digest, risks
from dashboard.text_diff import compare_texts

ZONE = "Europe/Oslo"
TONIGHT = time(22)
AROUND = timedelta(minutes=75)
"""How far from the failed publish the others of the past release are."""
MAX_PAST = 12
MAX_PLANNED = 6
MAX_REQUESTED = 2


def add_releases(now: datetime, accounts: dict[str, User]) -> None:
    """Save the releases, as far as the sample has what they need."""
    _add_past(now, accounts["publisher"])
    held = _add_held(now, accounts["demo"])
    _add_scheduled(now, accounts["publisher"], without=held)
    _add_request(now, accounts["publisher"])


def _add_past(now: datetime, owner: User) -> None:
    """Save a finished release of publishes that followed each other, one of which failed."""
    publishes = Operation.objects.filter(
        kind=OperationKind.PUBLISH_VERSION, requested_at__lt=now - timedelta(days=2)
    ).order_by("requested_at", "pk")
    failures = publishes.filter(outcome=Outcome.REJECTED)
    runs = [(_publishes_around(failed, publishes), failed) for failed in failures]
    together, failed = max(runs, key=lambda run: len(run[0]))
    sent = sorted([failed, *together], key=lambda one: one.requested_at)
    started_at = sent[0].requested_at - timedelta(seconds=4)
    release = Release.objects.create(
        name="New rates, named accounts",
        note="Rates from finance, agreed with sales.",
        state=ReleaseState.FINISHED,
        created_at=started_at - timedelta(minutes=38),
        started_at=started_at,
        **_decided(owner, started_at),
    )
    Attempt.objects.filter(operation__in=sent).update(actor_name=actor_name(owner))
    for position, operation in enumerate(sent, start=1):
        operation.actor, operation.actor_name = owner, actor_name(owner)
        operation.save(update_fields=["actor", "actor_name"])
        _sent_item(release, position, operation).save()
    release.finished_at = max(item.settled_at for item in release.items.all() if item.settled_at)
    release.active_at = release.finished_at
    release.save(update_fields=["finished_at", "active_at"])


def _publishes_around(failed: Operation, publishes: Iterable[Operation]) -> list[Operation]:
    """Return the publishes on the same page near the failed one that went live."""
    found: dict[str, Operation] = {}
    for each in publishes:
        is_near = abs(each.requested_at - failed.requested_at) < AROUND
        if not is_near or each.page_id != failed.page_id or each.outcome != Outcome.ACCEPTED:
            continue
        if each.audience_id != failed.audience_id and _version(each).published_at:
            found.setdefault(each.audience_id, each)
    nearest = sorted(found.values(), key=lambda one: abs(one.requested_at - failed.requested_at))
    return nearest[: MAX_PAST - 1]


def _sent_item(release: Release, position: int, operation: Operation) -> ReleaseItem:
    """Return the item of a past publish."""
    version, is_live = _version(operation), operation.outcome == Outcome.ACCEPTED
    before = _live_before(operation)
    attempt = operation.attempts.last()
    settled_at = (read_date(version.published_at) if is_live else None) or operation.settled_at
    return ReleaseItem(
        release=release,
        position=position,
        page_id=operation.page_id,
        page_name=page_names([operation.page_id]).get(operation.page_id) or operation.page_id,
        audience_id=operation.audience_id,
        audience_name=operation.target_name,
        operation=operation,
        operation_key=operation.operation_key,
        sent_at=operation.requested_at,
        settled_at=settled_at,
        state=ItemState.LIVE if is_live else ItemState.FAILED,
        reason="" if is_live or attempt is None else attempt.message,
        page_status="published",
        **_as_draft(version, before),
        **_reviewed(release),
    )


def _add_held(now: datetime, owner: User) -> set[str]:
    """Save a release that is held, as a version was replaced; return the ids of its audiences."""
    replaced = _replaced_draft(now)
    if replaced is None:
        return set()
    record, old = replaced
    newer = record.audience.latest_version
    replaced_at = read_date(newer.created_at if newer else "") or now
    decided_at = replaced_at - timedelta(hours=1)
    others = [
        each
        for each in _drafts_over_live(record.page_id)
        if each.pk != record.pk and _created_at(each) < decided_at
    ]
    audiences = [record, *others[: MAX_PLANNED - 1]]
    release = _checked("Depot wording", "Shorter sentences about depots.", audiences, owner)
    changed = (
        f"Version {record.latest_version_number} was created after you reviewed "
        f"version {old.version_number}."
    )
    held_at = _next_afternoon(replaced_at)
    release.items.update(**_reviewed(release, decided_at))
    release.items.filter(audience_id=record.audience_id).update(
        state=ItemState.HELD,
        reason=changed,
        settled_at=held_at,
        findings=[],
        **_as_draft(old.version, record.audience.published_version),
    )
    _decide(
        release,
        owner,
        decided_at,
        state=ReleaseState.HELD,
        due_at=held_at,
        held_at=held_at,
        started_at=held_at,
        hold_kind=HoldKind.CHANGED,
        hold_reason=f"{record.name}: {changed}",
    )
    return {each.audience_id for each in audiences}


def _add_scheduled(now: datetime, owner: User, *, without: set[str]) -> None:
    """Save a release of a few drafts that is due tonight, or tomorrow if that is soon."""
    fitting = [found for found in _drafts_by_page(now, without) if len(found) >= MAX_PLANNED]
    audiences = min(fitting, key=len, default=[])[:MAX_PLANNED]
    if not audiences:
        return
    release = _checked("Winter wording", "Goes live after office hours.", audiences, owner)
    decided_at = now - timedelta(hours=2)
    release.items.update(**_reviewed(release, decided_at))
    due_at = datetime.combine(now.astimezone(ZoneInfo(ZONE)), TONIGHT, ZoneInfo(ZONE))
    if due_at < now + timedelta(hours=1):
        due_at += timedelta(days=1)
    _decide(release, owner, decided_at, state=ReleaseState.SCHEDULED, due_at=due_at, wake_at=due_at)


def _add_request(now: datetime, owner: User) -> None:
    """Request another person's approval of two drafts of a page, as of this morning."""
    planned = set(ReleaseItem.objects.values_list("audience_id", flat=True))
    fitting = (found for found in _drafts_by_page(now, planned) if len(found) >= MAX_REQUESTED)
    audiences = next(fitting, [])[:MAX_REQUESTED]
    if not audiences:
        return
    note = "The discount was agreed with finance. Please check the fleet sizes."
    release = _checked("Prices from finance", note, audiences, owner)
    asked_at = now - timedelta(minutes=50)
    release.items.update(**_reviewed(release, asked_at))
    items = list(release.items.all())
    typed = str(len(items)) if any(risks(each) for each in items) else ""
    request = request_approval(release, owner, typed, board_digest(release))
    request.requested_at = asked_at
    request.save(update_fields=["requested_at"])
    created_at = asked_at - timedelta(minutes=20)
    Release.objects.filter(pk=release.pk).update(created_at=created_at, decided_at=asked_at)


def _checked(name: str, note: str, audiences: Iterable[AudienceRecord], owner: User) -> Release:
    """Save a draft of the latest versions of these audiences, and check it."""
    keys = [(each.page_id, each.audience_id) for each in audiences]
    release = create_release(name=name, note=note, audiences=keys, user=owner)
    check_release(release)
    return release


def _drafts_by_page(now: datetime, without: set[str]) -> Iterable[list[AudienceRecord]]:
    """Return the audiences with a draft of some hours over a live version, by page."""
    by_page: dict[str, list[AudienceRecord]] = {}
    for each in _drafts_over_live():
        if each.audience_id not in without and _created_at(each) < now - timedelta(hours=3):
            by_page.setdefault(each.page_id, []).append(each)
    return by_page.values()


def _drafts_over_live(page_id: str = "") -> list[AudienceRecord]:
    """Return the audiences with a draft over a live version, oldest first."""
    found = AudienceRecord.objects.filter(latest_status=VersionStatus.DRAFT, archived=False)
    found = found.exclude(live_version_id="").order_by("pk")
    return list(found.filter(page_id=page_id) if page_id else found)


def _replaced_draft(now: datetime) -> tuple[AudienceRecord, VersionRecord] | None:
    """Return an audience whose last but one version was replaced, unpublished, and that version.

    Of all, the one that was replaced last, but some days ago.
    """
    found = []
    for record in _drafts_over_live():
        older = VersionRecord.objects.filter(
            page_id=record.page_id,
            audience_id=record.audience_id,
            version_number=(record.latest_version_number or 0) - 1,
            version_number__gt=record.live_version_number or 0,
        ).first()
        if older and not older.version.queued_at and _created_at(record) < now - timedelta(days=2):
            found.append((record, older))
    return max(found, key=lambda pair: _created_at(pair[0]), default=None)


def _created_at(record: AudienceRecord) -> datetime:
    latest = record.audience.latest_version
    return (read_date(latest.created_at) if latest else None) or timezone.now()


def _version(operation: Operation) -> AudienceVersion:
    record = VersionRecord.objects.get(
        page_id=operation.page_id,
        audience_id=operation.audience_id,
        version_id=operation.version_id,
    )
    return record.version


def _live_before(operation: Operation) -> AudienceVersion | None:
    """Return the version that was live before a publish, if it was seen."""
    earlier = VersionRecord.objects.filter(
        page_id=operation.page_id,
        audience_id=operation.audience_id,
        version_number__lt=operation.version_number,
    ).order_by("-version_number")
    return next((each.version for each in earlier if each.version.published_at), None)


def _as_draft(version: AudienceVersion, live: AudienceVersion | None) -> dict[str, object]:
    """Return the columns of an item that was reviewed while its version was a draft."""
    dates = ("queued_at", "published_at", "cancelled_at", "obsolete_at", "archived_at")
    draft = dict.fromkeys((*dates, "queue_duration_ms")) | {"status": VersionStatus.DRAFT.value}
    reviewed = version.model_copy(update=draft)
    old = live.supplementary_context if live else ""
    difference = compare_texts(old, version.supplementary_context)
    body = reviewed.to_json()
    return {
        "version_id": version.version_id,
        "version_number": version.version_number,
        "version_body": body,
        "live_body": live.to_json() if live else "",
        "live_version_id": live.version_id if live else "",
        "live_version_number": live.version_number if live else None,
        "words_added": difference.added,
        "words_removed": difference.removed,
        "digest": hashlib.sha256(body.encode()).hexdigest(),
    }


def _reviewed(release: Release, at: datetime | None = None) -> dict[str, object]:
    """Return the columns of an item that its release's owner has reviewed."""
    moment = (at or release.started_at or release.created_at) - timedelta(minutes=6)
    return {
        "checked_at": moment,
        "reviewed_at": moment,
        "reviewed_by_name": release.owner_name,
    }


def _decided(owner: User, at: datetime) -> dict[str, object]:
    name = actor_name(owner)
    return {
        "owner": owner,
        "owner_name": name,
        "created_by_name": name,
        "decided_at": at,
        "active_at": at,
    }


def _decide(
    release: Release, owner: User, at: datetime, *, due_at: datetime, **columns: object
) -> None:
    """Set the state of a checked draft, as if scheduled at that time."""
    schedule = {
        "due_at": due_at,
        "time_zone": ZONE,
        "due_as_typed": f"{due_at.astimezone(ZoneInfo(ZONE)):%Y-%m-%d %H:%M}",
    }
    past = {"created_at": at - timedelta(minutes=25), "needs_check": False, "wake_at": None}
    Release.objects.filter(pk=release.pk).update(**_decided(owner, at) | past | schedule | columns)


def _next_afternoon(moment: datetime) -> datetime:
    """Return 4 PM of the day after."""
    local = moment.astimezone(ZoneInfo(ZONE)) + timedelta(days=1)
    return local.replace(hour=16, minute=0, second=0, microsecond=0)
