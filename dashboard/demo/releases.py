"""Four releases: one finished, one held, one scheduled for tonight, one that needs approval.

They consist of the sample's versions and operations, so all pages tell the same story.
"""

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User

from dashboard import clock
from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.wire import read_date
from dashboard.demo.history import TEXTS, at
from dashboard.ledger.models import Attempt, AudienceRecord, Operation, VersionRecord
from dashboard.ledger.models.operations import Outcome, actor_name
from dashboard.releases.approval_requests import request_approval
from dashboard.releases.checking import check_release, review_columns
from dashboard.releases.decisions import schedule
from dashboard.releases.drafting import create_draft, create_release, mark_reviewed
from dashboard.releases.holding import hold
from dashboard.releases.models import HoldKind, ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.planning import PlannedVersion
from dashboard.releases.reviewing import ItemReview, board_digest
from dashboard.releases.schedules import ScheduledMoment, parse_moment

ZONE = "Europe/Oslo"
TONIGHT = time(22)
AROUND = timedelta(minutes=75)
"""Longest time between the failed publish and the others of the past release."""
MAX_PAST = 12
MAX_PLANNED = 6
MAX_REQUESTED = 2


def add_releases(now: datetime, accounts: dict[str, User]) -> None:
    _add_past(now, accounts["publisher"])
    held = _add_held(now, accounts["demo"])
    _add_scheduled(now, accounts["publisher"], without=held)
    _add_request(now, accounts["publisher"])


def _add_past(now: datetime, owner: User) -> None:
    """Save a finished release of publishes that followed each other, one of which failed."""
    publishes = Operation.publishes.filter(requested_at__lt=now - timedelta(days=2)).order_by(
        "requested_at", "pk"
    )
    live = AudienceRecord.objects.values("live_version_id")
    failures = publishes.filter(outcome=Outcome.REJECTED).exclude(version_id__in=live)
    runs = [(_publishes_around(failed, publishes), failed) for failed in failures]
    together, failed = max(runs, key=lambda run: len(run[0]))
    sent = sorted([failed, *together], key=lambda publish: publish.requested_at)
    started_at, name = sent[0].requested_at - timedelta(seconds=4), actor_name(owner)
    with at(started_at - timedelta(minutes=38)):
        release = create_draft(
            **TEXTS["releases"]["past"],
            planned=[_planned(operation) for operation in sent],
            user=owner,
            is_provisional=False,
        )
    Attempt.objects.filter(operation__in=sent).update(actor_name=name)
    for item, operation in zip(release.items.all(), sent, strict=True):
        operation.actor, operation.actor_name = owner, name
        operation.save(update_fields=["actor", "actor_name"])
        _record_sent(item, operation, name, started_at)
    release.state, release.wake_at, release.needs_check = ReleaseState.FINISHED, None, False
    release.started_at = release.decided_at = started_at
    release.finished_at = max(item.settled_at for item in release.items.all() if item.settled_at)
    release.active_at = release.finished_at
    release.save()


def _publishes_around(failed: Operation, publishes: Iterable[Operation]) -> list[Operation]:
    """Return the publishes on the same page near the failed one that went live."""
    near: dict[str, Operation] = {}
    for publish in publishes:
        if publish.page_id != failed.page_id or publish.audience_id == failed.audience_id:
            continue
        is_near = abs(publish.requested_at - failed.requested_at) < AROUND
        if is_near and publish.outcome == Outcome.ACCEPTED and _version(publish).published_at:
            near.setdefault(publish.audience_id, publish)
    nearest = sorted(
        near.values(), key=lambda publish: abs(publish.requested_at - failed.requested_at)
    )
    return nearest[: MAX_PAST - 1]


def _planned(operation: Operation) -> PlannedVersion:
    """Return the version of a past publish, and the one that was live before, if it was seen."""
    earlier = VersionRecord.objects.filter(
        page_id=operation.page_id,
        audience_id=operation.audience_id,
        version_number__lt=operation.version_number,
    ).order_by("-version_number")
    live = next((record.version for record in earlier if record.version.published_at), None)
    ids = (operation.page_id, operation.audience_id, operation.target_name)
    return PlannedVersion(*ids, _version(operation), live)


def _record_sent(item: ReleaseItem, operation: Operation, name: str, reviewed_at: datetime) -> None:
    is_live, attempt = operation.outcome == Outcome.ACCEPTED, operation.attempts.last()
    published_at = read_date(item.version.published_at)
    _record_review(item, item.version, item.live_version)
    item.checked_at = item.reviewed_at = reviewed_at
    item.reviewed_by_name = name
    item.operation, item.operation_key = operation, operation.operation_key
    item.sent_at = operation.requested_at
    item.settled_at = (published_at if is_live else None) or operation.settled_at
    item.state = ItemState.LIVE if is_live else ItemState.FAILED
    item.reason = "" if is_live or attempt is None else attempt.message
    item.save()


def _add_held(now: datetime, owner: User) -> set[str]:
    """Save a release that is held because a version was replaced; return its audiences' ids."""
    replaced = _replaced_draft(now)
    if replaced is None:
        return set()
    record, old = replaced
    decided_at = _created_at(record) - timedelta(hours=1)
    others = [
        other
        for other in _drafts_over_live(record.page_id)
        if other.pk != record.pk and _created_at(other) < decided_at
    ]
    audiences = [record, *others[: MAX_PLANNED - 1]]
    due = _moment(_created_at(record) + timedelta(days=1), time(16))
    release = _reviewed("held", audiences, owner, decided_at)
    with at(decided_at):
        schedule(release, owner, due, _count(release), board_digest(release))
    changed = (
        f"Version {record.latest_version_number} was created after you reviewed "
        f"version {old.version_number}."
    )
    item = release.items.get(audience_id=record.audience_id)
    reviewed_at, reviewed_by_name = item.reviewed_at, item.reviewed_by_name
    _record_review(item, old.version, record.audience.published_version)
    item.reviewed_at, item.reviewed_by_name = reviewed_at, reviewed_by_name
    item.state, item.reason, item.settled_at = ItemState.HELD, changed, due.instant
    item.save()
    release.refresh_from_db()
    release.started_at, release.wake_at = due.instant, None
    release.save(update_fields=["started_at", "wake_at"])
    with at(due.instant):
        hold(release, HoldKind.CHANGED, f"{record.name}: {changed}")
    return {audience.audience_id for audience in audiences}


def _add_scheduled(now: datetime, owner: User, *, without: set[str]) -> None:
    """Save a release of a few drafts that is due tonight, or tomorrow if tonight is too soon."""
    fitting = [drafts for drafts in _drafts_by_page(now, without) if len(drafts) >= MAX_PLANNED]
    audiences = min(fitting, key=len, default=[])[:MAX_PLANNED]
    if not audiences:
        return
    decided_at = now - timedelta(hours=2)
    release = _reviewed("scheduled", audiences, owner, decided_at)
    due = _moment(now, TONIGHT)
    if due.instant < now + timedelta(hours=1):
        due = _moment(now + timedelta(days=1), TONIGHT)
    with at(decided_at):
        schedule(release, owner, due, _count(release), board_digest(release))


def _add_request(now: datetime, owner: User) -> None:
    """Request another person's approval of two drafts of a page, 50 minutes ago."""
    planned = set(ReleaseItem.objects.values_list("audience_id", flat=True))
    fitting = (drafts for drafts in _drafts_by_page(now, planned) if len(drafts) >= MAX_REQUESTED)
    audiences = next(fitting, [])[:MAX_REQUESTED]
    if not audiences:
        return
    requested_at = now - timedelta(minutes=50)
    release = _reviewed("waiting", audiences, owner, requested_at)
    with at(requested_at):
        request_approval(release, owner, _count(release), board_digest(release))


def _reviewed(
    texts: str, audiences: Iterable[AudienceRecord], owner: User, decided_at: datetime
) -> Release:
    """Save a release of the latest versions of these audiences, reviewed just before a decision."""
    keys = [(audience.page_id, audience.audience_id) for audience in audiences]
    with at(decided_at - timedelta(minutes=25)):
        release = create_release(**TEXTS["releases"][texts], audiences=keys, user=owner)
        check_release(release)
    with at(decided_at - timedelta(minutes=6)):
        for item in release.items.all():
            mark_reviewed(item, owner, reviewed=True, displayed_digest=item.digest)
    release.refresh_from_db()
    return release


def _count(release: Release) -> str:
    return str(release.items.count())


def _moment(day: datetime, hour: time) -> ScheduledMoment:
    local = day.astimezone(ZoneInfo(ZONE))
    return parse_moment(f"{local:%Y-%m-%d}", f"{hour:%H:%M}", ZONE, now=day - timedelta(days=1))


def _drafts_by_page(now: datetime, without: set[str]) -> Iterable[list[AudienceRecord]]:
    """Return the audiences with a live version and a draft older than three hours, by page."""
    by_page: dict[str, list[AudienceRecord]] = {}
    for record in _drafts_over_live():
        if record.audience_id not in without and _created_at(record) < now - timedelta(hours=3):
            by_page.setdefault(record.page_id, []).append(record)
    return by_page.values()


def _drafts_over_live(page_id: str = "") -> list[AudienceRecord]:
    drafts = AudienceRecord.objects.filter(latest_status=VersionStatus.DRAFT, archived=False)
    drafts = drafts.exclude(live_version_id="").order_by("pk")
    return list(drafts.filter(page_id=page_id) if page_id else drafts)


def _replaced_draft(now: datetime) -> tuple[AudienceRecord, VersionRecord] | None:
    """Return an audience with an unpublished version that was replaced, and that version.

    Of several, it is the one that was replaced last, at least two days ago.
    """
    replaced = []
    for record in _drafts_over_live():
        older = VersionRecord.objects.filter(
            page_id=record.page_id,
            audience_id=record.audience_id,
            version_number=(record.latest_version_number or 0) - 1,
            version_number__gt=record.live_version_number or 0,
        ).first()
        if older and not older.version.queued_at and _created_at(record) < now - timedelta(days=2):
            replaced.append((record, older))
    return max(replaced, key=lambda pair: _created_at(pair[0]), default=None)


def _created_at(record: AudienceRecord) -> datetime:
    latest = record.audience.latest_version
    return (read_date(latest.created_at) if latest else None) or clock.now()


def _version(operation: Operation) -> AudienceVersion:
    record = VersionRecord.objects.get(
        page_id=operation.page_id,
        audience_id=operation.audience_id,
        version_id=operation.version_id,
    )
    return record.version


def _record_review(
    item: ReleaseItem, version: AudienceVersion, live: AudienceVersion | None
) -> None:
    """Set an item as if it had been checked while its version was a draft."""
    dates = ("queued_at", "published_at", "cancelled_at", "obsolete_at", "archived_at")
    columns = dict.fromkeys((*dates, "queue_duration_ms")) | {"status": VersionStatus.DRAFT.value}
    draft = version.model_copy(update=columns)
    review = ItemReview(
        draft, live, draft, page_status="published", is_archived=False, pending_change_ids=[]
    )
    for name, value in review_columns(item, review).items():
        setattr(item, name, value)
