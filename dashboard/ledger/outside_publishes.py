"""Notice what goes live with no operation on record: it was published outside Pressroom.

A read that finds another live version than the read before looks for the operation that explains
it. If there is none, an OutsidePublish is recorded, in the transaction that records the read. What
was live when an audience was first read was simply there, and is not listed.

In doubt nothing is listed, as a version that Pressroom has published must never be:

- an operation counts unless it was certainly not carried out, so also while its outcome is open;
- after a restore (`manage.py after_restore`), the operations since the backup are missing, so what
  was queued or went live before the restore is unknown: it is not listed.

Source: our choice; the service does not say who published.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Max

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.dates import read_date
from dashboard.ledger.changes import Known
from dashboard.ledger.models import (
    Installation,
    Operation,
    OutsidePublish,
    PageRecord,
    VersionRecord,
)
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.signals import outside_published

MAY_HAVE_PUBLISHED = (Outcome.SENDING, Outcome.ACCEPTED, Outcome.UNKNOWN)
"""Outcomes of operations that the service may have carried out."""


def went_live(
    audiences: Mapping[str, Audience], before: Mapping[str, Known]
) -> dict[str, AudienceVersion]:
    """Return the live version of each audience that had another one, or none, before, by its id.

    `before` are the audiences that were read before, as recorded then.
    """
    return {
        audience_id: live
        for audience_id, audience in audiences.items()
        if (live := audience.published_version)
        and (old := before.get(audience_id))
        and old.live_version_id != live.version_id
    }


def is_published_anew(
    version: AudienceVersion, known: VersionRecord | None, read_before_at: datetime
) -> bool:
    """Return whether a version that was found live was published since it was found so before.

    `read_before_at` is the time of the last read before. If another read has found it live since,
    that one has recorded it. With the same date as then, the response is outdated, or the service
    has gone back to it.
    """
    if known is None or known.noticed_live_at is None:
        return True
    if known.noticed_live_at > read_before_at:
        return False
    return version.published_at is None or known.version.published_at != version.published_at


def is_explained(sent_at: Iterable[datetime], noticed_live_at: datetime | None) -> bool:
    """Return whether one of its publishes, sent at these times, made a version live.

    `noticed_live_at` is when it was last found to go live before, if it was. A publish explains
    the first time that is noticed after it was sent, and no later one.
    """
    return any(noticed_live_at is None or at >= noticed_live_at for at in sent_at)


def may_be_lost(
    version: AudienceVersion, *, read_before_at: datetime, restored_at: datetime | None
) -> bool:
    """Return whether the operation that published a version may be missing after a restore.

    `read_before_at` is the time of the last read before the version was found live.
    """
    if restored_at is None:
        return False
    began_at = read_date(version.queued_at) or read_date(version.published_at)
    return read_before_at <= restored_at or (began_at is not None and began_at <= restored_at)


def record_went_live(
    page_id: str, audiences: Mapping[str, Audience], before: Mapping[str, Known], now: datetime
) -> None:
    """Record which versions have gone live since the read before, and which of them outside.

    Makes no query if none has, else three to six. Called before the versions are recorded.
    """
    live = went_live(audiences, before)
    if not live:
        return
    version_ids = {version.version_id for version in live.values()}
    ids = {"page_id": page_id, "audience_id__in": [*live], "version_id__in": version_ids}
    known = {
        (record.audience_id, record.version_id): record
        for record in VersionRecord.objects.filter(**ids)
    }
    sent_at = _times_sent(ids)
    outside, noticed = [], []
    for audience_id, version in live.items():
        key = (audience_id, version.version_id)
        record = known.get(key)
        if not is_published_anew(version, record, before[audience_id].last_seen_at):
            continue
        if not is_explained(sent_at[key], record.noticed_live_at if record else None):
            outside.append(audience_id)
        if record:
            noticed.append(record.pk)
    VersionRecord.objects.filter(pk__in=noticed).update(noticed_live_at=now)
    if outside:
        _record_outside(page_id, {key: audiences[key] for key in outside}, before, now)


def _times_sent(ids: Mapping[str, Any]) -> Mapping[tuple[str, str], list[datetime]]:
    """Return when each publish that may have been carried out was last sent, by version."""
    publishes = Operation.objects.filter(
        **ids, kind=OperationKind.PUBLISH_VERSION, outcome__in=MAY_HAVE_PUBLISHED
    )
    last = publishes.order_by().annotate(sent_at=Max("attempts__sent_at"))
    found = defaultdict(list)
    for operation in last.only("audience_id", "version_id", "requested_at"):
        sent_at = operation.sent_at or operation.requested_at
        found[operation.audience_id, operation.version_id].append(sent_at)
    return found


def _record_outside(
    page_id: str, audiences: Mapping[str, Audience], before: Mapping[str, Known], now: datetime
) -> None:
    restored_at = Installation.objects.values_list("restored_at", flat=True).get(pk=1)
    page_name = PageRecord.objects.filter(page_id=page_id).values_list("name", flat=True).first()
    live = went_live(audiences, before)
    outside = [
        OutsidePublish(
            page_id=page_id,
            audience_id=audience_id,
            version_id=version.version_id,
            version_number=version.version_number,
            audience_name=audiences[audience_id].name or "",
            page_name=page_name or "",
            published_at=read_date(version.published_at),
            noticed_at=now,
        )
        for audience_id, version in live.items()
        if not may_be_lost(
            version,
            read_before_at=before[audience_id].last_seen_at,
            restored_at=restored_at,
        )
    ]
    if outside:
        # Another read may have noticed it at the same moment.
        OutsidePublish.objects.bulk_create(outside, ignore_conflicts=True)
        outside_published.send_robust(sender=OutsidePublish, publishes=outside)
