"""Finding things seen here by words or by id: each a query of its own, however much is known."""

from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Case, Model, Q, QuerySet, When

from dashboard.ledger.models import (
    AudienceRecord,
    Operation,
    PageRecord,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.queries.pages import find_pages

RecordT = TypeVar("RecordT", bound=Model)

SAME_ID = 5
"""How many audiences or versions of one id are shown: the spec does not say that ids differ."""


@dataclass(frozen=True)
class Identified:
    """Everything seen here with one id."""

    pages: list[PageRecord]
    audiences: list[AudienceRecord]
    versions: list[VersionRecord]
    subscriptions: list[SubscriptionRecord]
    operations: list[Operation]


def identified(identifier: str) -> Identified:
    """Return what has exactly this id; five queries."""
    return Identified(
        pages=list(PageRecord.objects.filter(page_id=identifier)),
        audiences=list(AudienceRecord.objects.filter(audience_id=identifier)[:SAME_ID]),
        versions=list(VersionRecord.objects.filter(version_id=identifier)[:SAME_ID]),
        subscriptions=list(SubscriptionRecord.objects.filter(subscription_id=identifier)),
        operations=list(Operation.objects.filter(operation_key=identifier)),
    )


def pages_named(words: str, limit: int) -> list[PageRecord]:
    """Return pages that hold every word in name, title, id or type."""
    return _some(PageRecord, find_pages(words=words), words, limit)


def audiences_named(words: str, limit: int) -> list[AudienceRecord]:
    """Return audiences that hold every word in their name, then those with it all in their id."""
    every = AudienceRecord.objects.all()
    named = every
    for word in words.split():
        named = named.filter(name__icontains=word)
    found = _first_named(named, words, limit)
    if len(found) < limit:
        # Each of the two searches reads one index; asked for in one, they would read the table.
        with_id = every.filter(audience_id__icontains=words).exclude(pk__in=[a.pk for a in found])
        found += _some(AudienceRecord, with_id, words, limit - len(found), order="audience_id")
    return found


def subscriptions_named(words: str, limit: int) -> list[SubscriptionRecord]:
    """Return subscriptions that hold every word in their label, URL or id."""
    found = SubscriptionRecord.objects.all()
    for word in words.split():
        found = found.filter(
            Q(label__icontains=word) | Q(url__icontains=word) | Q(subscription_id__icontains=word)
        )
    return list(found[:limit])


def pages_with(page_ids: list[str]) -> dict[str, PageRecord]:
    """Return pages by their ids."""
    found = PageRecord.objects.filter(page_id__in=page_ids).defer("body")
    return {record.page_id: record for record in found}


def audiences_with(ids: list[tuple[str, str]]) -> dict[tuple[str, str], AudienceRecord]:
    """Return audiences by their page's id and their own."""
    if not ids:
        return {}
    wanted = Q()
    for page_id, audience_id in ids:
        wanted |= Q(page_id=page_id, audience_id=audience_id)
    found = AudienceRecord.objects.filter(wanted).defer("body")
    return {(record.page_id, record.audience_id): record for record in found}


def _first_named(named: QuerySet[AudienceRecord], words: str, limit: int) -> list[AudienceRecord]:
    """Return the first of them, those whose name begins with the words before the others.

    Read in the order of the names, so that many matches are soon enough: a word that most of the
    names have costs no more than one that few have.
    """
    in_order = named.order_by("name", "pk").values_list("pk", "name")
    first = dict(in_order[:limit])
    if len(first) == limit:
        begin = dict(in_order.filter(name__istartswith=words)[:limit])
    else:
        begin = {key: name for key, name in first.items() if _begins(name, words)}
    keys = [*dict.fromkeys([*begin, *first])][:limit]
    records = AudienceRecord.objects.defer("body").in_bulk(keys)
    return [records[key] for key in keys if key in records]


def _begins(name: str, words: str) -> bool:
    return name.casefold().startswith(words.casefold())


def _some(
    model: type[RecordT],
    found: QuerySet[RecordT],
    words: str,
    limit: int,
    *,
    order: str = "name",
) -> list[RecordT]:
    """Return the first of them, those whose name (or id) begins with the words before the others.

    Chosen by key first, so that the long bodies of the others are never read.
    """
    begins = Case(When(**{f"{order}__istartswith": words}, then=0), default=1)
    keys = list(found.order_by(begins, order, "pk").values_list("pk", flat=True)[:limit])
    records = model._default_manager.defer("body").in_bulk(keys)
    return [records[key] for key in keys if key in records]
