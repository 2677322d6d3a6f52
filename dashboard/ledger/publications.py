"""Record publications: which version of an audience was live, from when to when, by whom and why.

If a read finds another version live than the read before, it ends one publication and begins the
next, in the transaction that records the read. A latest version that isn't live may have been live
between two reads; its dates show that. If no operation explains a publication (`attribution.py`),
the version was published outside Pressroom.

Source: our choice; the service lists no publications.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from dashboard.contract.audiences import Audience, AudienceVersion, VersionStatus
from dashboard.contract.wire import read_date
from dashboard.ledger.attribution import CLOCK_TOLERANCE, AudienceRead, explain, possible_publishes
from dashboard.ledger.changes import RecordedAudience
from dashboard.ledger.models import Installation, PageRecord, Publication
from dashboard.ledger.models.objects import IN_FLIGHT, LiveStatus, live_status
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.queries.audiences import rollback_of
from dashboard.ledger.signals import published_outside


def record_publications(
    page_id: str,
    audiences: Mapping[str, Audience],
    before: Mapping[str, RecordedAudience],
    now: datetime,
) -> list[str]:
    """Record which versions went live, and which ended, since the read before.

    Returns the ids of the audiences whose latest version is rolled back. Call this when the
    audiences are written, which locks them. Most changes need no query. The others need one if
    nothing went live, else three to six.
    """
    reads = _reads_with_history(page_id, audiences, before, now)
    if not reads:
        return []
    over = _reopen_overtaken(reads)
    new = {}
    for audience_id, read in reads.items():
        live_before = read.last if read.last and read.last.is_live else None
        new[audience_id] = follow(read)
        if live_before and not live_before.is_live and live_before not in over:
            over.append(live_before)
    if over:
        columns = ["ended_at", "is_end_seen", "last_seen_at"]
        Publication.objects.bulk_update(over, columns)
    if any(new.values()):
        _save(page_id, reads, new)
    return [
        audience_id
        for audience_id, read in reads.items()
        if read.latest and rollback_of(read.history, read.latest.version_id)
    ]


def _reads_with_history(
    page_id: str,
    audiences: Mapping[str, Audience],
    before: Mapping[str, RecordedAudience],
    now: datetime,
) -> dict[str, AudienceRead]:
    """Return the reads that may change a publication, by audience, with its publications so far."""
    changed = {
        audience_id: audience
        for audience_id, audience in audiences.items()
        if _needs_history(audience, before.get(audience_id))
    }
    histories: dict[str, list[Publication]] = defaultdict(list)
    if changed:
        for row in Publication.objects.filter(page_id=page_id, audience_id__in=changed):
            histories[row.audience_id].append(row)
    return {
        audience_id: AudienceRead(
            audience,
            histories[audience_id],
            before_at=before[audience_id].last_seen_at if audience_id in before else None,
            at=now,
        )
        for audience_id, audience in changed.items()
    }


def _reopen_overtaken(reads: Mapping[str, AudienceRead]) -> list[Publication]:
    """Delete publications that never happened; return the reopened ones, not saved yet."""
    stored = [publication for read in reads.values() for publication in read.history]
    reopened = [row for read in reads.values() if (row := _forget_overtaken(read))]
    if reopened:
        remaining = {row.pk for read in reads.values() for row in read.history}
        never_were = [row.pk for row in stored if row.pk not in remaining]
        if never_were:
            Publication.objects.filter(pk__in=never_were).delete()
    return reopened


def _needs_history(audience: Audience, old: RecordedAudience | None) -> bool:
    live, latest = audience.published_version, audience.latest_version
    if old is None or old.live_version_id != (live.version_id if live else ""):
        return True
    since = old.last_seen_at - CLOCK_TOLERANCE
    dates = [read_date(version.published_at) for version in (live, latest) if version]
    if any(date and date >= since for date in dates):
        return True
    if latest is None or live_status(audience) != LiveStatus.CHANGED:
        return False
    is_status_new = old.latest_version_id == latest.version_id and (
        old.live_status != LiveStatus.CHANGED
    )
    return bool(latest.published_at) or is_status_new


def _forget_overtaken(read: AudienceRead) -> Publication | None:
    """Undo what an outdated response seemed to show; return the publication that is reopened.

    A read that began before a version went live may be recorded after a read that returned it. Then
    nothing, or an earlier version, seems to be live until the next read. Pure.
    """
    live, last, history = read.live, read.last, read.history
    if last is None or read.before_at is None:
        return None
    if live and not last.is_live and last.is_end_seen:
        reopened = last
    elif len(history) > 1 and last.is_start_seen and _is_contradicted(live, *history[-2:]):
        reopened = history[-2]
    else:
        return None
    if reopened.is_start_seen or read.before_at >= reopened.started_at:
        return None
    if reopened is not last:
        history.pop()
    reopened.ended_at, reopened.is_end_seen = None, False
    return reopened


def _is_contradicted(live: AudienceVersion | None, before: Publication, last: Publication) -> bool:
    published = (live.version_id, read_date(live.published_at)) if live else None
    if published == (before.version_id, before.published_at):
        return True
    is_confirmed = published == (last.version_id, last.published_at)
    is_earlier = last.published_at is not None and last.published_at < before.started_at
    return is_earlier and not is_confirmed


def follow(read: AudienceRead) -> list[Publication]:
    """End the last publication if its version isn't live any more; return those that began.

    Pure: the publications are not saved, and new ones have no reason yet.
    """
    live, last = read.live, read.last
    interim = _interim_version(read)
    if live and last and last.is_live and not interim and _is_same(live, last, read):
        return []
    chain = [last] if last and last.is_live else []
    new: list[Publication] = []
    for version in filter(None, (interim, live)):
        last = _begin(version, read, after=last)
        new.append(last)
    chain += new
    for publication, successor in pairwise(chain):
        _end(publication, read, successor.started_at, is_seen=successor.is_start_seen)
    if chain and not live:
        _end(chain[-1], read, read.at, is_seen=True)
    return new


def _interim_version(read: AudienceRead) -> AudienceVersion | None:
    live, latest, last = read.live, read.latest, read.last
    published_at = read_date(latest.published_at) if latest else None
    if latest is None or published_at is None or latest.status in IN_FLIGHT:
        return None
    if live is None and latest.status == VersionStatus.PUBLISHED:
        return None  # It is live, and a later read will return it as such.
    until = read_date(live.published_at) if live else read.at + CLOCK_TOLERANCE
    if until is None:
        is_other = last is None or live is None or last.version_id != live.version_id
        until = read.at + CLOCK_TOLERANCE if is_other else None
    if until is None or published_at >= until:
        return None
    if read.before_at and published_at < read.before_at - CLOCK_TOLERANCE:
        return None
    if last and (published_at <= last.started_at or _is_same(latest, last, read)):
        return None
    return latest


def _is_same(version: AudienceVersion, publication: Publication, read: AudienceRead) -> bool:
    if version.version_id != publication.version_id:
        return False
    published_at = read_date(version.published_at)
    if published_at is None or publication.published_at in (None, published_at):
        return True
    # A date before the last read only corrects the recorded date.
    return published_at <= max(publication.started_at, read.before_at or publication.seen_at)


def _begin(
    version: AudienceVersion, read: AudienceRead, *, after: Publication | None
) -> Publication:
    published_at = read_date(version.published_at)
    earliest = (after.ended_at or after.started_at) if after else None
    is_dated = (
        published_at is not None
        and published_at <= read.at + CLOCK_TOLERANCE
        and (earliest is None or published_at >= earliest)
        and (read.before_at is None or published_at >= read.before_at - CLOCK_TOLERANCE)
    )
    started_at = published_at if is_dated and published_at else max(read.at, earliest or read.at)
    return Publication(
        audience_id=read.audience.audience_id or "",
        version_id=version.version_id,
        version_number=version.version_number,
        audience_name=read.audience.name or "",
        published_at=published_at,
        started_at=started_at,
        is_start_seen=not is_dated,
        seen_at=read.at,
        last_seen_at=read.at if version is read.live else None,
    )


def _end(publication: Publication, read: AudienceRead, moment: datetime, *, is_seen: bool) -> None:
    latest = read.latest
    if latest and latest.version_id == publication.version_id:
        obsolete_at = read_date(latest.obsolete_at)
        if obsolete_at and publication.started_at <= obsolete_at <= moment:
            moment, is_seen = obsolete_at, False
    publication.ended_at = max(moment, publication.started_at)
    publication.is_end_seen = is_seen
    if publication.last_seen_at and read.before_at:
        publication.last_seen_at = max(publication.last_seen_at, read.before_at)


def _save(
    page_id: str, reads: Mapping[str, AudienceRead], new: Mapping[str, Sequence[Publication]]
) -> None:
    """Explain and save the new publications of each audience, and extend the histories."""
    page_name = PageRecord.objects.filter(page_id=page_id).values_list("name", flat=True).first()
    publications = [publication for batch in new.values() for publication in batch]
    later = [
        publication for publication in publications if reads[publication.audience_id].before_at
    ]
    publishes = possible_publishes(page_id, later)
    restored_at = None
    if later:
        restored_at = Installation.objects.values_list("restored_at", flat=True).get(pk=1)
    for publication in publications:
        read = reads[publication.audience_id]
        publication.page_id, publication.page_name = page_id, page_name or ""
        key = (publication.audience_id, publication.version_id)
        explain(publication, read, publishes.get(key, ()), restored_at)
        read.history.append(publication)
    Publication.objects.bulk_create(publications)
    outside = [
        publication
        for publication in publications
        if publication.reason == PublicationReason.OUTSIDE
    ]
    if outside:
        published_outside.send_robust(sender=Publication, publications=outside)
