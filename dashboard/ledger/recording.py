"""Writing down what was seen in answers. Only what changed is written anew.

A list of 50 costs at most four queries: what is known, what changed, what was seen again, and the
list's total (pages) or the versions (audiences). One more says how the audiences of new pages
stand, or those of a page where they changed; one more where versions were replaced by others.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache, partial
from typing import Any, Generic, TypeAlias, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet, Subquery
from django.utils import timezone

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.dates import read_date
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.contract.wire import WireModel
from dashboard.itself import Itself
from dashboard.kept import Kept
from dashboard.ledger.models import (
    AudienceRecord,
    ListTotal,
    PageRecord,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.models.pages import STANDS, searched_in
from dashboard.ledger.models.seen import SeenRecord
from dashboard.ledger.queries.audiences import IN_FLIGHT
from dashboard.ledger.standings import note_standings
from dashboard.statements import Statement, Told

PAGES_LIST = "pages"
NAME_KEPT_CHARACTERS, WORD_KEPT_CHARACTERS = 500, 100
"""Of what is sorted and narrowed by: PostgreSQL takes no more than 2,704 bytes into an index, and
the service may send anything. The body has all of it."""

DATED_EVERY = timedelta(minutes=1)
"""How often it is noted that a thing was seen again, unchanged: a write for each look is too many.
So a time in the ledger may be this much older than the look, and never younger. Our choice."""
DATED_EVERY_IN_FLIGHT = timedelta(seconds=1)
"""The same of what is on its way: many wait for it, and ask for it anew soon after a look."""

ANSWERS_COMPARED, THINGS_COMPARED = 16, 100
"""Answers of which it is kept how they differ from what is known, and how many things one brings
at most: longer ones, such as a crawl's, are not kept by the client, and never seen again."""

START_OF_TIME = datetime.min.replace(tzinfo=UTC)
END_OF_TIME = datetime.max.replace(tzinfo=UTC)
RecordT = TypeVar("RecordT", bound=SeenRecord)
ThingT = TypeVar("ThingT", bound=WireModel)
Known: TypeAlias = Any
"""A named row of some columns of a record, as it was before."""


def _known_pages(page_ids: list[str]) -> "QuerySet[PageRecord, Any]":
    total = ListTotal.objects.filter(list_name=PAGES_LIST)
    known = PageRecord.objects.filter(page_id__in=page_ids).annotate(
        total_count=Subquery(total.values("total_count")),
    )
    more = ("page_type", "status", "searched", "total_count")
    return known.values_list("page_id", *_SEEN, *more, named=True)


def _known_audiences(page_id: str) -> "QuerySet[AudienceRecord, Any]":
    # All of the page: the list that is written down names all, and to look for each takes longer.
    known = AudienceRecord.objects.filter(page_id=page_id)
    more = ("latest_version_id", "live_version_id", "latest_status")
    return known.values_list("audience_id", *_SEEN, *more, named=True)


_SEEN = ("digest", "last_seen_at")
"""What tells whether a thing changed, without its long body."""
_KNOWN_PAGES = Statement(_known_pages)
_KNOWN_AUDIENCES = Statement(_known_audiences)
_COMPARED = Kept[Itself[Any], Told, "Compared[Any]"](ANSWERS_COMPARED)


@dataclass(frozen=True)
class Compared(Generic[ThingT]):
    """How things that were seen differ from what was known of them, by their ids."""

    before: Mapping[str, Known]
    changed: Mapping[str, ThingT]

    @cached_property
    def settled_until(self) -> datetime:
        """Until when a look that sees the same has nothing to write."""
        if self.changed:
            return START_OF_TIME
        return min((_dated_until(old) for old in self.before.values()), default=END_OF_TIME)

    def newer(self, now: datetime) -> dict[str, ThingT]:
        """Return what changed, without what a later look than this one wrote down meanwhile."""
        return {
            key: one
            for key, one in self.changed.items()
            if key not in self.before or self.before[key].last_seen_at <= now
        }

    def due(self, now: datetime) -> list[str]:
        """Return which are noted as seen again: not those of which it was just noted."""
        unchanged = ((key, old) for key, old in self.before.items() if key not in self.changed)
        return [key for key, old in unchanged if now >= _dated_until(old)]


def remember_pages(found: ListEnvelope[Any], *, asked_at: datetime | None = None) -> None:
    """Write down one part of the list of pages, and the total it gave.

    `asked_at` is the moment of the look, here as below: when the service was asked. An answer that
    was long on its way does not undo what was seen since.
    """
    now = asked_at or timezone.now()
    before = _remember_pages(found.items, Itself(found), now)
    if any(known.total_count == found.total_count for known in before.values()):
        return
    ListTotal.objects.bulk_create(
        [ListTotal(list_name=PAGES_LIST, total_count=found.total_count, seen_at=now)],
        update_conflicts=True,
        unique_fields=["list_name"],
        update_fields=["total_count", "seen_at"],
    )


def remember_page(page: PageItem, *, asked_at: datetime | None = None) -> None:
    """Write down one page."""
    _remember_pages([page], Itself(page), asked_at or timezone.now())


def remember_audiences(
    page_id: str, audiences: Sequence[Audience], *, asked_at: datetime | None = None
) -> None:
    """Write down the audiences of a page, and the versions seen with them."""
    now = asked_at or timezone.now()
    known = _KNOWN_AUDIENCES.told(page_id)
    compared = _compared(audiences, Itself(audiences), known, _compared_audiences)
    if now < compared.settled_until:
        return
    if changed := compared.newer(now):
        _write_audiences(page_id, changed, compared.before, now)
    if due := compared.due(now):
        seen_again = AudienceRecord.objects.filter(page_id=page_id, audience_id__in=due)
        seen_again.update(last_seen_at=now)


# An audience that is written down is not looked at again until it changes: what follows from it is
# written with it, or nothing is.
@transaction.atomic(savepoint=False)
def _write_audiences(
    page_id: str, changed: Mapping[str, Audience], before: Mapping[str, Known], now: datetime
) -> None:
    _write(
        [_audience_record(page_id, audience, now) for audience in changed.values()],
        unique=["page_id", "audience_id"],
    )
    _remember_version_rows(
        page_id,
        (
            version
            for audience in changed.values()
            for version in (audience.latest_version, audience.published_version)
            if version
        ),
        now,
    )
    _date_the_last_look(page_id, {key: (one, before.get(key)) for key, one in changed.items()})
    note_standings([page_id])


@transaction.atomic(savepoint=False)
def remember_version(page_id: str, version: AudienceVersion) -> None:
    """Write down one version, such as the answer to a publish; its audience moves along."""
    now = timezone.now()
    _remember_version_rows(page_id, [version], now)
    _move_audience(page_id, version, now)


def remember_subscription(
    subscription: WebhookSubscription,
    *,
    label: str | None = None,
    added_by: User | None = None,
) -> SubscriptionRecord:
    """Write down a subscription; `label` and `added_by` are kept from the first time."""
    now = timezone.now()
    body = subscription.model_dump_json(by_alias=True, exclude_unset=True)
    seen: dict[str, Any] = {
        "body": body,
        "digest": _digest(body),
        "url": subscription.url,
        "active": subscription.active,
        "last_seen_at": now,
    }
    if label is not None:
        seen["label"] = label
    record, created = SubscriptionRecord.objects.get_or_create(
        subscription_id=subscription.subscription_id,
        defaults=seen | {"first_seen_at": now, "changed_at": now, "added_by": added_by},
    )
    if not created:
        if record.digest != seen["digest"]:
            seen["changed_at"] = now
        for field, value in seen.items():
            setattr(record, field, value)
        record.save(update_fields=list(seen))
    return record


def _move_audience(page_id: str, version: AudienceVersion, now: datetime) -> None:
    """Let an audience whose latest version this is have it as it is now; nothing else was seen."""
    record = AudienceRecord.objects.filter(
        page_id=page_id, audience_id=version.audience_id, latest_version_id=version.version_id
    ).first()
    if record is None:
        return
    body = _body(record.audience.model_copy(update={"latest_version": version}))
    digest = _digest(body)
    if digest == record.digest:
        return
    # Not where a look wrote it down in between: that saw more than this version.
    as_it_was = AudienceRecord.objects.filter(pk=record.pk, digest=record.digest)
    status = version.status[:WORD_KEPT_CHARACTERS]
    seen = {"latest_status": status, "last_seen_at": now, "changed_at": now}
    if as_it_was.update(body=body, digest=digest, **seen):
        note_standings([page_id])


def _remember_pages(
    pages: Sequence[PageItem], seen: Itself[Any], now: datetime
) -> Mapping[str, Known]:
    """Write down pages; return those that were known, as they were before."""
    known = _KNOWN_PAGES.told([*dict.fromkeys(page.page_id for page in pages)])
    compared = _compared(pages, seen, known, _compared_pages)
    if now < compared.settled_until:
        return compared.before
    if changed := compared.newer(now):
        _write_pages(changed, compared.before, now)
    if due := compared.due(now):
        PageRecord.objects.filter(page_id__in=due).update(last_seen_at=now)
    return compared.before


@transaction.atomic(savepoint=False)  # as `_write_audiences` is
def _write_pages(
    changed: Mapping[str, PageItem], before: Mapping[str, Known], now: datetime
) -> None:
    _write(
        [_page_record(page, now) for page in changed.values()],
        unique=["page_id"],
        kept=STANDS,
    )
    if new := changed.keys() - before.keys():
        note_standings(new)


def _compared(
    things: Sequence[ThingT],
    seen: Itself[Any],
    known: Told,
    compare: Callable[[Sequence[ThingT], Told], Compared[ThingT]],
) -> Compared[ThingT]:
    """Compare what was seen with what is known, once while both are the same."""
    if len(things) > THINGS_COMPARED:
        return compare(things, known)
    return _COMPARED.made_of(seen, known, partial(compare, things))


def _compared_pages(pages: Iterable[PageItem], known: Told) -> Compared[PageItem]:
    before = {row.page_id: row for row in known.read()}
    by_id = {page.page_id: page for page in pages}
    whole = {key: _with_what_lists_leave_out(one, before.get(key)) for key, one in by_id.items()}
    changed = {
        key: one
        for key, one in whole.items()
        # What an older version wrote does not say where words are looked for.
        if _differs(one, before.get(key)) or before[key].searched != searched_in(one)
    }
    return Compared(before, changed)


def _compared_audiences(audiences: Iterable[Audience], known: Told) -> Compared[Audience]:
    named = {audience.audience_id: audience for audience in audiences if audience.audience_id}
    before = {row.audience_id: row for row in known.read() if row.audience_id in named}
    changed = {key: one for key, one in named.items() if _differs(one, before.get(key))}
    return Compared(before, changed)


def _date_the_last_look(page_id: str, changed: Mapping[str, tuple[Audience, Known | None]]) -> None:
    """Note of versions that an audience names no more when it was last seen to name them.

    A look that finds an audience unchanged touches the audience alone. Most looks drop no version,
    and those dropped were mostly seen by the same look: one query for each such look.
    """
    dropped: dict[datetime, list[str]] = {}
    for audience, before in changed.values():
        now = {v.version_id for v in (audience.latest_version, audience.published_version) if v}
        if before and (gone := {before.latest_version_id, before.live_version_id} - now - {""}):
            dropped.setdefault(before.last_seen_at, []).extend(gone)
    for last_look, version_ids in dropped.items():
        VersionRecord.objects.filter(
            page_id=page_id,
            audience_id__in=changed,
            version_id__in=version_ids,
            last_seen_at__lt=last_look,
        ).update(last_seen_at=last_look)


def _differs(thing: WireModel, before: Known | None) -> bool:
    return before is None or _digest_of(Itself(thing)) != before.digest


@lru_cache(maxsize=500)
def _digest_of(one: Itself[WireModel]) -> str:
    return _digest(_body(one.thing))


def _write(records: Sequence[RecordT], *, unique: list[str], kept: Iterable[str] = ()) -> None:
    """Write records that are new or differ; of a known one, when it was first seen stays.

    So does what `kept` names.
    """
    if not records:
        return
    model = type(records[0])
    stays = {"id", "first_seen_at", *unique, *kept}
    model._default_manager.bulk_create(
        records,
        update_conflicts=True,
        unique_fields=unique,
        update_fields=[
            field.name for field in model._meta.concrete_fields if field.name not in stays
        ],
    )


def _dated_until(known: Known) -> datetime:
    """Return until when it is not noted that a thing was seen again."""
    is_in_flight = getattr(known, "latest_status", "") in IN_FLIGHT
    dated_at: datetime = known.last_seen_at
    return dated_at + (DATED_EVERY_IN_FLIGHT if is_in_flight else DATED_EVERY)


def _with_what_lists_leave_out(page: PageItem, before: Known | None) -> PageItem:
    """Items of a list may lack type and status (spec: not shown); what was seen once stays."""
    if before is None:
        return page
    kept = {
        name: getattr(before, name)
        for name in ("page_type", "status")
        if not getattr(page, name) and getattr(before, name)
    }
    return page.model_copy(update=kept) if kept else page


def _page_record(page: PageItem, now: datetime) -> PageRecord:
    return PageRecord(
        **_seen(page, now),
        page_id=page.page_id,
        name=page.name[:NAME_KEPT_CHARACTERS],
        title=page.title,
        status=(page.status or "")[:WORD_KEPT_CHARACTERS],
        page_type=(page.page_type or "")[:WORD_KEPT_CHARACTERS],
        brand_id=page.brand_id,
        audiences_count=page.audiences_count,
        created_at=read_date(page.created_at),
        updated_at=read_date(page.updated_at),
        searched=searched_in(page),
    )


def _audience_record(page_id: str, audience: Audience, now: datetime) -> AudienceRecord:
    latest, live = audience.latest_version, audience.published_version
    return AudienceRecord(
        **_seen(audience, now),
        page_id=page_id,
        audience_id=audience.audience_id or "",
        name=(audience.name or "")[:NAME_KEPT_CHARACTERS],
        prospect_id=audience.prospect_id or "",
        latest_version_id=latest.version_id if latest else "",
        latest_version_number=latest.version_number if latest else None,
        latest_status=latest.status[:WORD_KEPT_CHARACTERS] if latest else "",
        live_version_id=live.version_id if live else "",
        live_version_number=live.version_number if live else None,
        live_since=read_date(live.published_at) if live else None,
        archived=bool(audience.archived_at),
        created_at=read_date(audience.created_at),
    )


def _remember_version_rows(
    page_id: str, versions: Iterable[AudienceVersion], now: datetime
) -> None:
    rows = {
        (version.audience_id, version.version_id): VersionRecord(
            page_id=page_id,
            audience_id=version.audience_id,
            version_id=version.version_id,
            version_number=version.version_number,
            status=version.status,
            body=_body(version),
            first_seen_at=now,
            last_seen_at=now,
        )
        for version in versions
    }
    if rows:
        VersionRecord.objects.bulk_create(
            rows.values(),
            update_conflicts=True,
            unique_fields=["page_id", "audience_id", "version_id"],
            update_fields=["version_number", "status", "body", "last_seen_at"],
        )


def _seen(thing: WireModel, now: datetime) -> dict[str, Any]:
    body = _body(thing)
    return {
        "body": body,
        "digest": _digest(body),
        "first_seen_at": now,
        "last_seen_at": now,
        "changed_at": now,
    }


def _body(thing: WireModel) -> str:
    return thing.model_dump_json(by_alias=True, exclude_unset=True)


def _digest(body: str) -> str:
    return hashlib.blake2b(body.encode(), digest_size=16).hexdigest()
