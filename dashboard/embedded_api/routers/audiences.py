"""Operations 4, 5 and 6: list audiences, publish a version, get the conversation."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, NullIf
from django.http import HttpResponse
from django.utils import timezone
from ninja import Router

from dashboard.contract import audiences as contract
from dashboard.contract.conversations import Conversation as ConversationOnWire
from dashboard.contract.envelope import ListEnvelope
from dashboard.embedded_api.cursors import NEWEST_FIRST, Part
from dashboard.embedded_api.http import ServiceRequest, refusals
from dashboard.embedded_api.lifecycle import Dates, next_change
from dashboard.embedded_api.marks import last_mark_of
from dashboard.embedded_api.models import Audience, Conversation, Page, Version
from dashboard.embedded_api.problems import not_found
from dashboard.embedded_api.publishing import publish_version
from dashboard.embedded_api.requests import Publication
from dashboard.embedded_api.wire import (
    OF_AUDIENCE,
    OF_CONVERSATION,
    Wire,
    answer,
    conversation,
    envelope,
    shown,
    texts_of,
)
from dashboard.kept import Kept
from dashboard.statements import Statement, Told

MAX_AUDIENCES = 1_000
LISTS_KEPT, LONGEST_KEPT = 8, 500
"""As they were written, of about 4 KB an audience with the rows they were written from; and how
many audiences one has at most."""
router = Router(tags=["Audiences"], by_alias=True)


@router.get(
    "/{any_id:page_id}/audiences",
    response=ListEnvelope[contract.Audience],
    operation_id="listAudiences",
    summary="List audiences",
    openapi_extra=refusals(404),
)
def list_audiences(request: ServiceRequest, page_id: str) -> HttpResponse:
    """All audiences of a page in one answer, newest first by `createdAt`, then by id.

    At most 1,000: with more, `hasMore` is true and `totalCount` still exact. `latestVersion` has
    the highest number; `publishedVersion` is the one that is live. `effectiveName` is the custom
    name, or else the computed one; `effectiveMetadata` is the page's, overlaid by the override.
    Fields without a value are absent.
    """
    if not (page := _PAGE.first(request.auth, page_id)):
        raise not_found("There is no such page.")
    audiences = _AUDIENCES.told(page_id)
    count = len(audiences.rows)
    if count > MAX_AUDIENCES:
        count = Audience.objects.filter(page_id=page_id).count()
    now = timezone.now()
    versions = _LATEST_AND_LIVE.told(page_id, last_mark_of(now))
    found, write = (page, audiences, count, versions), partial(_list_at, now)
    is_short = count <= LONGEST_KEPT
    written = _WRITTEN.made_of(page_id, found, write) if is_short else write(found)
    return answer(written.content)


@router.post(
    "/{any_id:page_id}/audiences/{any_id:audience_id}/versions/{any_id:version_id}/publish",
    response=contract.AudienceVersion,
    operation_id="publishAudienceVersion",
    summary="Publish audience version",
    openapi_extra=refusals(400, 404, 409, 413, 415, 422),
)
def publish(
    request: ServiceRequest,
    page_id: str,
    audience_id: str,
    version_id: str,
    publication: Publication | None = None,
) -> HttpResponse:
    """Publish any version but a cancelled one, which is a 409.

    It becomes `queued` (`queuedAt`), then `processing` (`queueDurationMs`), then `published`
    (`publishedAt`) as time passes. At that moment the version live until then becomes `archived`
    with `obsoleteAt` and `archivedAt`, and a draft page becomes `published`. Another queued
    version of the audience becomes `cancelled`; one that is processing goes live first. An
    archived version may be published again: its earlier dates give way to new ones. Publishing
    what is queued, processing or live changes nothing and returns it.

    The first use of an `operationKey` is carried out. The same key for the same version does
    nothing again and returns the version as it is now; for another version it is a 409. Keys are
    kept for good, one that met a refusal is not spent. The body may be left out.
    """
    version = publish_version(
        tenant_id=request.auth,
        page_id=page_id,
        audience_id=audience_id,
        version_id=version_id,
        operation_key=publication.operation_key if publication else None,
    )
    return answer(Wire(timezone.now()).version(version))


@router.get(
    "/{any_id:page_id}/audiences/{any_id:audience_id}/messages",
    response=ConversationOnWire,
    operation_id="getAudienceMessages",
    summary="Get audience messages",
    openapi_extra=refusals(404),
)
def get_messages(request: ServiceRequest, page_id: str, audience_id: str) -> HttpResponse:
    """The conversation of an audience; an audience that has none is a 404.

    `context` is what is true now of the audience and its page: `currentMetaTitle` and the like
    are of the effective metadata, keywords joined by a comma. A `timestamp` is in milliseconds.
    """
    audience = Audience.objects.filter(tenant_id=request.auth, page_id=page_id, id=audience_id)
    found = Conversation.objects.select_related("audience__page").filter(audience__in=audience)
    found = found.defer(*OF_CONVERSATION).annotate(**texts_of(OF_CONVERSATION))
    if row := found.first():
        return answer(conversation(row))
    has_audience = audience.exists()
    raise not_found(
        "This audience has no conversation." if has_audience else "There is no such audience."
    )


@dataclass(frozen=True)
class WrittenList:
    """A list as it goes out, and when something that it says changes by itself."""

    content: orjson.Fragment
    good_until: datetime


def _list_at(now: datetime, found: tuple[Any, Told, int, Told]) -> WrittenList:
    """Write a page's audiences with their latest and live versions, as they are at a moment.

    The versions come by number: of each audience the latest last, and what is live.
    """
    page, audiences, count, of_audiences = found
    wire, rows, versions = Wire(now), audiences.read()[:MAX_AUDIENCES], of_audiences.read()
    latest = {version.audience_id: version for version in versions}
    published = [each for each in versions if Dates.of(each).status(now) is _PUBLISHED]
    live = {version.audience_id: version for version in published}
    items = [
        wire.audience(row, page, latest=latest.get(row.id), live=live.get(row.id)) for row in rows
    ]
    part = Part(rows, count, has_more=count > MAX_AUDIENCES)
    content = orjson.Fragment(orjson.dumps(envelope(items, part)))
    return WrittenList(content, next_change(versions, now))


def _latest_and_live(page_id: str, until: str) -> "QuerySet[Version, Any]":
    """Return, for each audience of a page, its latest version and the one that is live."""
    newest = Version.objects.filter(audience=OuterRef("audience")).order_by("-version_number")
    is_latest = Q(version_number=Subquery(newest.values("version_number")[:1]))
    not_retired = Q(archived_at=None) | Q(archived_at__gt=until)
    is_live = Q(published_at__lte=until) & not_retired
    # What is live need not be looked up among its neighbours: that is asked first.
    found = Version.objects.filter(is_live | is_latest, audience__page=page_id)
    return shown(found.order_by("version_number"))


def _page(tenant_id: str, page_id: str) -> "QuerySet[Page, Any]":
    """Return a page with its metadata as text, none where it is empty."""
    metadata = NullIf(Cast("metadata", TextField()), Value("{}"), output_field=TextField())
    pages = Page.objects.filter(tenant_id=tenant_id, id=page_id).annotate(metadata_text=metadata)
    return pages.values_list("id", "metadata_text", named=True)


_PUBLISHED = contract.VersionStatus.PUBLISHED
_WRITTEN = Kept[str, tuple[Any, Told, int, Told], WrittenList](
    LISTS_KEPT, is_good=lambda written: timezone.now() < written.good_until
)
_PAGE = Statement(_page)
_AUDIENCES = Statement(
    lambda page_id: shown(
        Audience.objects.filter(page_id=page_id).order_by(*NEWEST_FIRST.columns()),
        texts=OF_AUDIENCE,
    )[: MAX_AUDIENCES + 1]
)
_LATEST_AND_LIVE = Statement(_latest_and_live)
