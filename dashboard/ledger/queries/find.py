"""Search records by words, ignoring case and accents, or by id."""

import re
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Case, Model, Q, QuerySet, When

from dashboard.ledger.models import (
    AudienceRecord,
    Operation,
    PageRecord,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.queries.pages import find_pages
from dashboard.texts import fold, redact_secret

RecordT = TypeVar("RecordT", bound=Model)

_PERSON_ID = re.compile(r"prospect_[a-z0-9]{26}")
"""Pattern of a person's id. Source: spec, Person."""
MAX_SAME_ID = 5
"""Audiences or versions shown with one id: the spec does not say that ids are unique."""


@dataclass(frozen=True)
class IdMatches:
    pages: list[PageRecord]
    audiences: list[AudienceRecord]
    versions: list[VersionRecord]
    subscriptions: list[SubscriptionRecord]
    operations: list[Operation]


def find_by_id(identifier: str) -> IdMatches:
    return IdMatches(
        pages=list(PageRecord.objects.filter(page_id=identifier)),
        audiences=list(AudienceRecord.objects.filter(audience_id=identifier)[:MAX_SAME_ID]),
        versions=list(VersionRecord.objects.filter(version_id=identifier)[:MAX_SAME_ID]),
        subscriptions=list(SubscriptionRecord.objects.filter(subscription_id=identifier)),
        operations=list(Operation.objects.filter(operation_key=identifier)),
    )


@dataclass(frozen=True)
class SearchMatches(Generic[RecordT]):
    best: list[RecordT]
    total: int


def search_pages(words: str, limit: int) -> SearchMatches[PageRecord]:
    return _best(find_pages(words=words), words, limit)


def search_audiences(words: str, limit: int, *, start: int = 0) -> SearchMatches[AudienceRecord]:
    """Return audiences with every word in name or id; among equals, archived ones come last.

    A person's full ID finds the audiences of that person.
    """
    audiences = AudienceRecord.objects.all()
    if _PERSON_ID.fullmatch(words):
        audiences = audiences.filter(prospect_id=words)
    else:
        for word in fold(words).split():
            audiences = audiences.filter(searched__contains=word)
    return _best(audiences, words, limit, start=start, order=("archived",))


def search_subscriptions(words: str, limit: int) -> SearchMatches[SubscriptionRecord]:
    wanted = fold(words).split()
    # They are few: each was added by a user.
    matches = []
    for record in SubscriptionRecord.objects.defer("body"):
        # Leave out the secret: by searching for its parts, anyone could find it out.
        text = fold("\n".join((record.label, redact_secret(record.url), record.subscription_id)))
        if all(word in text for word in wanted):
            matches.append(record)
    return SearchMatches(matches[:limit], len(matches))


def pages_by_id(page_ids: list[str]) -> dict[str, PageRecord]:
    if not page_ids:
        return {}
    pages = PageRecord.objects.filter(page_id__in=page_ids).defer("body")
    return {record.page_id: record for record in pages}


def audiences_by_id(ids: list[tuple[str, str]]) -> dict[tuple[str, str], AudienceRecord]:
    if not ids:
        return {}
    wanted = Q()
    for page_id, audience_id in ids:
        wanted |= Q(page_id=page_id, audience_id=audience_id)
    audiences = AudienceRecord.objects.filter(wanted).defer("body")
    return {(record.page_id, record.audience_id): record for record in audiences}


def _best(
    matches: QuerySet[RecordT],
    words: str,
    limit: int,
    *,
    start: int = 0,
    order: tuple[str, ...] = (),
) -> SearchMatches[RecordT]:
    """Return the best matches: exact names first, then names that begin with the words.

    Keys are selected first, so that the bodies of the others are not read. At most three queries.
    """
    name = " ".join(fold(words).split())
    rank = Case(
        When(searched__startswith=f"{name}\n", then=0),
        When(searched__startswith=name, then=1),
        default=2,
    )
    in_order = matches.order_by(rank, *order, "searched", "pk")
    keys = list(in_order.values_list("pk", flat=True)[start : start + limit])
    records = matches.model._default_manager.defer("body").in_bulk(keys)
    is_all = start == 0 and len(keys) < limit
    total = len(keys) if is_all else matches.count()
    return SearchMatches([records[key] for key in keys if key in records], total)
