"""Record what was read from the service. Only changed objects are written.

A list of 50 costs one query if nothing changed. Otherwise the stored rows are compared once more
under the lock of the page. Then the changed rows are written (one query for 40 audiences), with
their versions, flags, the list's total and the entries of the change feed. If a version went live,
three to six more queries record its publication (`publications.py`). If it was published outside
Pressroom, some ten more notify users. If users can follow the change, three more find followers.

`read_at` is when the request began, even for the response to a change. A response never overwrites
what a later request returned, whichever arrives first.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from dashboard import clock
from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import ListEnvelope
from dashboard.contract.wire import read_date
from dashboard.ledger import feed
from dashboard.ledger.changes import (
    MAX_NAME_CHARACTERS,
    MAX_WORD_CHARACTERS,
    PAGES_LIST,
    PRESERVED,
    ChangeSet,
    RecordedAudience,
    RecordedPage,
    audiences_unread,
    body_digest,
    compare_audiences,
    compare_pages,
    observed,
    update_last_seen,
    upsert_newer,
)
from dashboard.ledger.models import (
    AudienceRecord,
    FeedEntry,
    FeedKind,
    ListTotal,
    PageRecord,
    VersionRecord,
)
from dashboard.ledger.models.objects import (
    REJECTED_AS,
    LiveStatus,
    audience_search_text,
    audience_updated_at,
    live_status,
    page_search_text,
)
from dashboard.ledger.publications import record_publications
from dashboard.ledger.queries.audiences import in_progress_since, rolled_back_by
from dashboard.ledger.queries.pages import update_flags_of
from dashboard.ledger.signals import audiences_changed, pages_changed


def record_pages(response: ListEnvelope[Any], *, read_at: datetime | None = None) -> None:
    now = read_at or clock.now()
    before = _record_pages(response.items, now)
    if any(record.total_count == response.total_count for record in before.values()):
        return
    total = ListTotal(list_name=PAGES_LIST, total_count=response.total_count, seen_at=now)
    with transaction.atomic(savepoint=False):
        if upsert_newer([total], unique=["list_name"], moment="seen_at"):
            feed.add(FeedEntry(kind=FeedKind.PAGE))


def record_page(page: PageItem, *, read_at: datetime | None = None) -> None:
    _record_pages([page], read_at or clock.now())


def _record_pages(pages: Sequence[PageItem], now: datetime) -> Mapping[str, RecordedPage]:
    """Record pages; return the stored ones as they were before."""
    changes = compare_pages(pages, now)
    if changes.changed:
        with transaction.atomic(savepoint=False):  # as in `_save_audiences`
            new = [page_id for page_id in changes.changed if page_id not in changes.before]
            # Known pages in a fixed order, so that two transactions never wait for each other; new
            # ones in the service's order, which is their order in lists.
            page_ids = [*sorted(changes.changed.keys() - new), *new]
            records = [_page_record(changes.changed[page_id], now) for page_id in page_ids]
            written = upsert_newer(records, unique=["page_id"], preserved=PRESERVED)
            if new:
                update_flags_of(new)
            pairs = [
                (changes.before.get(record.page_id), record)
                for record in records
                if (record.page_id,) in written
            ]
            feed.add_changed(FeedKind.PAGE, pairs)
            pages_changed.send_robust(sender=PageRecord, changes=pairs)
    stale = PageRecord.objects.filter(page_id__in=changes.stale)
    if not update_last_seen(stale, changes, now):
        return _record_pages(pages, now)
    return changes.before


def _page_record(page: PageItem, now: datetime) -> PageRecord:
    return PageRecord(
        **observed(page, now),
        page_id=page.page_id,
        name=page.visible_name[:MAX_NAME_CHARACTERS],
        title=page.title,
        status=(page.status or "")[:MAX_WORD_CHARACTERS],
        page_type=(page.page_type or "")[:MAX_WORD_CHARACTERS],
        brand_id=page.brand_id,
        audiences_count=page.audiences_count,
        created_at=read_date(page.created_at),
        updated_at=read_date(page.updated_at),
        searched=page_search_text(page),
    )


def record_audiences(
    page_id: str, audiences: Sequence[Audience], *, read_at: datetime | None = None
) -> None:
    now = read_at or clock.now()
    changes = compare_audiences(page_id, audiences, now)
    if changes.changed:
        changes = _save_audiences(page_id, audiences, now)
    records = AudienceRecord.objects.filter(page_id=page_id, audience_id__in=changes.stale)
    if not update_last_seen(records, changes, now):
        # Another read was recorded since the comparison.
        record_audiences(page_id, audiences, read_at=now)
        return
    if not changes.before or any(record.is_unread for record in changes.before.values()):
        # If the page has changed since, its audiences must be read again.
        unread = PageRecord.objects.filter(audiences_unread(), page_id=page_id, changed_at__lte=now)
        unread.update(audiences_count_read=F("audiences_count"))


# One transaction: an unchanged audience is not processed again, so versions and flags that follow
# from it must be saved with it.
@transaction.atomic(savepoint=False)
def _save_audiences(
    page_id: str, audiences: Sequence[Audience], now: datetime
) -> ChangeSet[RecordedAudience, Audience]:
    """Write the changed audiences; return how they differed from the stored ones."""
    lock_pages(page_id)
    changes = compare_audiences(page_id, audiences, now)
    if any(record.changed_at > now for record in changes.before.values()):
        audiences = _with_newer_versions(page_id, audiences, now)
        changes = compare_audiences(page_id, audiences, now)
    records = [
        _audience_record(page_id, audience, changes.before.get(key), now)
        for key, audience in changes.changed.items()
    ]
    if not records:
        return changes
    written = upsert_newer(records, unique=["page_id", "audience_id"], preserved=PRESERVED)
    changed = {key: changes.changed[key] for _, key in written}
    rolled_back = record_publications(page_id, changed, changes.before, now)
    if rolled_back:
        latest = AudienceRecord.objects.filter(page_id=page_id, audience_id__in=rolled_back)
        latest.filter(live_status=LiveStatus.CHANGED).update(live_status=LiveStatus.ROLLED_BACK)
    versions = [version for audience in changed.values() for version in _versions_of(audience)]
    record_versions(page_id, versions, now)
    _date_dropped_versions(page_id, changed, changes.before)
    update_flags_of([page_id])
    pairs = [
        (changes.before.get(record.audience_id), record)
        for record in records
        if record.audience_id in changed
    ]
    feed.add_changed(FeedKind.AUDIENCE, pairs)
    audiences_changed.send_robust(sender=AudienceRecord, page_id=page_id, changes=pairs)
    return changes


def _with_newer_versions(
    page_id: str, audiences: Sequence[Audience], now: datetime
) -> Sequence[Audience]:
    """Return the audiences with the newer versions that later publishes returned."""
    rows = VersionRecord.objects.filter(page_id=page_id, last_seen_at__gt=now)
    newer = {(row.audience_id, row.version_id): row.version for row in rows}
    return [
        audience.model_copy(
            update={
                name: newer[version.audience_id, version.version_id]
                for name in ("latest_version", "published_version")
                if (version := getattr(audience, name))
                and (version.audience_id, version.version_id) in newer
            }
        )
        for audience in audiences
    ]


def _versions_of(audience: Audience) -> list[AudienceVersion]:
    versions = (audience.latest_version, audience.published_version)
    return [version for version in versions if version]


def _date_dropped_versions(
    page_id: str, changed: Mapping[str, Audience], before: Mapping[str, RecordedAudience]
) -> None:
    """Update `last_seen_at` of versions that an audience no longer has.

    Reading an unchanged audience updates only the audience. Most reads drop no version, and dropped
    versions mostly share one `last_seen_at`: each such time costs one query.
    """
    dropped: dict[datetime, list[str]] = {}
    for key, audience in changed.items():
        old, now = before.get(key), {version.version_id for version in _versions_of(audience)}
        if old and (gone := {old.latest_version_id, old.live_version_id} - now - {""}):
            dropped.setdefault(old.last_seen_at, []).extend(gone)
    for last_seen_at, version_ids in dropped.items():
        VersionRecord.objects.filter(
            page_id=page_id,
            audience_id__in=changed,
            version_id__in=version_ids,
            last_seen_at__lt=last_seen_at,
        ).update(last_seen_at=last_seen_at)


def _audience_record(
    page_id: str, audience: Audience, before: RecordedAudience | None, now: datetime
) -> AudienceRecord:
    latest, live = audience.latest_version, audience.published_version
    # The response to a later publish may already have changed the record.
    changed_at = max(now, before.changed_at) if before else now
    return AudienceRecord(
        **observed(audience, now) | {"changed_at": changed_at},
        page_id=page_id,
        audience_id=audience.audience_id or "",
        name=(audience.name or "")[:MAX_NAME_CHARACTERS],
        prospect_id=audience.prospect_id or "",
        latest_version_id=latest.version_id if latest else "",
        latest_version_number=latest.version_number if latest else None,
        latest_status=latest.status[:MAX_WORD_CHARACTERS] if latest else "",
        in_progress_since=latest_in_progress_since(latest, before, now),
        live_version_id=live.version_id if live else "",
        live_version_number=live.version_number if live else None,
        archived=bool(audience.archived_at),
        created_at=read_date(audience.created_at),
        live_status=status_of(audience, before),
        new_page_agent={True: "yes", False: "no", None: ""}[audience.is_new_page_agent],
        updated_at=audience_updated_at(audience),
        searched=audience_search_text(audience),
    )


def set_rejected(page_id: str, audience_id: str, version_id: str, *, is_rejected: bool) -> None:
    """Mark an audience's latest version as rejected or not rejected. Call in a transaction.

    Rejected versions are left out of "Unpublished changes" and "Not live". A read that finds
    another latest version ends the rejection.
    """
    lock_pages(page_id)
    record = AudienceRecord.objects.filter(
        page_id=page_id, audience_id=audience_id, latest_version_id=version_id
    ).first()
    changes: dict[str, LiveStatus] = REJECTED_AS
    if not is_rejected:
        changes = {after: LiveStatus(before) for before, after in REJECTED_AS.items()}
    if record and (status := changes.get(record.live_status)):
        record.live_status = status
        record.save(update_fields=["live_status"])
        update_flags_of([page_id])


@transaction.atomic(savepoint=False)
def record_version(
    page_id: str, version: AudienceVersion, *, read_at: datetime | None = None
) -> None:
    """Record one version, such as the response to a publish, and update its audience."""
    now = read_at or clock.now()
    lock_pages(page_id)
    if not record_versions(page_id, [version], now):
        return
    feed.add(FeedEntry(kind=FeedKind.AUDIENCE, page_id=page_id, audience_id=version.audience_id))
    record = AudienceRecord.objects.filter(
        page_id=page_id, audience_id=version.audience_id, latest_version_id=version.version_id
    ).first()
    if record is None:
        return
    audience = record.audience.model_copy(update={"latest_version": version})
    body = audience.to_json()
    digest = body_digest(body)
    if digest == record.digest:
        return
    status = status_of(audience, record)
    if status == LiveStatus.CHANGED and rolled_back_by(
        page_id, version.audience_id, version.version_id
    ):
        status = LiveStatus.ROLLED_BACK
    unchanged = AudienceRecord.objects.filter(
        pk=record.pk, digest=record.digest, last_seen_at__lte=now
    )
    if unchanged.update(
        body=body,
        digest=digest,
        latest_status=version.status[:MAX_WORD_CHARACTERS],
        in_progress_since=latest_in_progress_since(version, record, now),
        live_status=status,
        updated_at=audience_updated_at(audience),
        # Not last_seen_at: a list requested earlier may have news of everything but this version.
        changed_at=now,
    ):
        update_flags_of([page_id])


def version_record(
    page_id: str, version: AudienceVersion, **seen: datetime | None
) -> VersionRecord:
    """Return an unsaved row for a version; `seen` has its `first_seen_at` and `last_seen_at`."""
    return VersionRecord(
        page_id=page_id,
        audience_id=version.audience_id,
        version_id=version.version_id,
        version_number=version.version_number,
        status=version.status,
        body=version.to_json(),
        **seen,
    )


def record_versions(
    page_id: str, versions: Iterable[AudienceVersion], now: datetime
) -> set[tuple[Any, ...]]:
    rows = {
        (version.audience_id, version.version_id): version_record(
            page_id, version, first_seen_at=now, last_seen_at=now
        )
        for version in versions
    }
    if not rows:
        return set()
    return upsert_newer(
        [*rows.values()],
        unique=["page_id", "audience_id", "version_id"],
        preserved={"first_seen_at"},
    )


def lock_pages(*page_ids: str) -> None:
    """Let one transaction at a time write the audiences and flags of pages.

    Flags follow from all audiences, and two transactions wouldn't see each other's changes. Lock
    a page before any of its audiences: a read of the page does, and would wait forever.
    """
    if connection.features.has_select_for_update:  # SQLite has one writer anyway.
        pages = PageRecord.objects.select_for_update().filter(page_id__in=page_ids)
        list(pages.order_by("page_id").values_list("pk"))


def latest_in_progress_since(
    version: AudienceVersion | None, before: RecordedAudience | AudienceRecord | None, now: datetime
) -> datetime | None:
    """Return since when a version is in progress, but not later than it was first seen.

    The service's clock may be ahead of ours. `before` is the audience's row as it was.
    """
    since = in_progress_since(version)
    if version is None or since is None:
        return None
    is_same = before and before.latest_version_id == version.version_id
    if before and is_same and before.in_progress_since:
        # Pending versions count from another date: keep the earlier time only if that didn't
        # change.
        was_pending, is_pending = before.latest_status == "pending", version.status == "pending"
        if was_pending == is_pending:
            since = min(since, before.in_progress_since)
    return min(since, now)


def status_of(audience: Audience, before: RecordedAudience | AudienceRecord | None) -> LiveStatus:
    """Return the live status: the latest version stays rejected until there is a newer one."""
    status, latest = live_status(audience), audience.latest_version
    rejected = REJECTED_AS.get(status, status)
    is_same = before and latest and before.latest_version_id == latest.version_id
    return rejected if is_same and before and before.live_status in REJECTED_AS.values() else status
