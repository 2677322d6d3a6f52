"""Operations 4, 5 and 6: list audiences, publish a version, get the conversation."""

from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, NullIf
from django.http import HttpResponse
from ninja import Router

from dashboard import clock
from dashboard.contract import audiences as contract
from dashboard.contract.conversations import Conversation as ConversationOnWire
from dashboard.contract.resource import ListEnvelope
from dashboard.embedded_api.http import ServiceRequest, error_responses
from dashboard.embedded_api.ids import last_uuid7_of
from dashboard.embedded_api.lifecycle import Dates
from dashboard.embedded_api.models import Audience, Conversation, Page, Version
from dashboard.embedded_api.publishing import publish_version
from dashboard.embedded_api.requests import PublishBody
from dashboard.embedded_api.serializers import (
    AUDIENCE_JSON,
    CONVERSATION_JSON,
    audience_json,
    conversation_json,
    json_as_text,
    json_response,
    list_response,
    select_columns,
    version_json,
)
from dashboard.json_api.cursors import NEWEST_FIRST, ListPage
from dashboard.json_api.problems import not_found

MAX_AUDIENCES = 1_000
router = Router(tags=["Audiences"], by_alias=True)


@router.get(
    "/{any_id:page_id}/audiences",
    response=ListEnvelope[contract.Audience],
    operation_id="listAudiences",
    summary="List audiences",
    openapi_extra=error_responses(404),
)
def list_audiences(request: ServiceRequest, page_id: str) -> HttpResponse:
    """List all audiences of a page in one response, newest first by `createdAt`, then by ID.

    At most 1,000: with more, `hasMore` is true and `totalCount` is still exact. `latestVersion` has
    the highest number; `publishedVersion` is the live one. `effectiveName` is the custom name, or
    else the computed one; `effectiveMetadata` is the page's with the override applied. Fields
    without a value are absent.
    """
    # The metadata of the page as text, or None if empty.
    metadata = NullIf(Cast("metadata", TextField()), Value("{}"), output_field=TextField())
    pages = Page.objects.filter(tenant_id=request.auth, id=page_id).annotate(metadata_text=metadata)
    if not (page := pages.values_list("id", "metadata_text", named=True).first()):
        raise not_found("Page not found.")
    of_page = Audience.objects.filter(page_id=page_id)
    newest = select_columns(of_page.order_by(*NEWEST_FIRST.columns()), texts=AUDIENCE_JSON)
    audiences = list(newest[: MAX_AUDIENCES + 1])
    count = len(audiences)
    if count > MAX_AUDIENCES:
        count = of_page.count()
    now = clock.now()
    versions = list(_latest_and_live(page_id, last_uuid7_of(now)))
    latest = {version.audience_id: version for version in versions}
    live = {
        row.audience_id: row
        for row in versions
        if Dates.of(row).status(now) is contract.VersionStatus.PUBLISHED
    }
    rows = audiences[:MAX_AUDIENCES]
    items = [
        audience_json(row, page, now, latest=latest.get(row.id), live=live.get(row.id))
        for row in rows
    ]
    return list_response(items, ListPage(rows, count, has_more=count > MAX_AUDIENCES))


@router.post(
    "/{any_id:page_id}/audiences/{any_id:audience_id}/versions/{any_id:version_id}/publish",
    response=contract.AudienceVersion,
    operation_id="publishAudienceVersion",
    summary="Publish audience version",
    openapi_extra=error_responses(400, 404, 409, 413, 415, 422),
)
def publish(
    request: ServiceRequest,
    page_id: str,
    audience_id: str,
    version_id: str,
    body: PublishBody | None = None,
) -> HttpResponse:
    """Publish any version except a cancelled one, which returns 409.

    It becomes `queued` (`queuedAt`), then `processing` (`queueDurationMs`), then `published`
    (`publishedAt`) as time passes. At that moment the version live until then becomes `archived`
    with `obsoleteAt` and `archivedAt`, and a draft page becomes `published`. Another queued
    version of the audience becomes `cancelled`; one that is processing goes live first. An
    archived version may be published again: new dates replace its earlier ones. Publishing a
    queued, processing or live version changes nothing and returns it.

    The first use of an `operationKey` is executed. Repeating it for the same version changes
    nothing and returns the version's current state; for another version it returns 409. Keys are
    stored permanently; a rejected request does not use up its key. The body is optional.
    """
    version = publish_version(
        tenant_id=request.auth,
        page_id=page_id,
        audience_id=audience_id,
        version_id=version_id,
        operation_key=body.operation_key if body else None,
    )
    return json_response(version_json(version, clock.now()))


@router.get(
    "/{any_id:page_id}/audiences/{any_id:audience_id}/messages",
    response=ConversationOnWire,
    operation_id="getAudienceMessages",
    summary="Get audience messages",
    openapi_extra=error_responses(404),
)
def get_messages(request: ServiceRequest, page_id: str, audience_id: str) -> HttpResponse:
    """Get the conversation of an audience; 404 if it has none.

    `context` is the current state of the audience and its page: `currentMetaTitle` and the like
    come from the effective metadata, with keywords joined by commas. A `timestamp` is in
    milliseconds. `publishedMessageId` moves when a version goes live: it is the last message
    before that version was created, and absent if there is none.
    """
    audience = Audience.objects.filter(tenant_id=request.auth, page_id=page_id, id=audience_id)
    rows = Conversation.objects.select_related("audience__page").filter(audience__in=audience)
    rows = rows.defer(*CONVERSATION_JSON).annotate(**json_as_text(CONVERSATION_JSON))
    if row := rows.first():
        is_live = _is_live(last_uuid7_of(clock.now()))
        live = Version.objects.filter(is_live, audience=row.audience_id).first()
        return json_response(conversation_json(row, live=live))
    has_audience = audience.exists()
    raise not_found("This audience has no conversation." if has_audience else "Audience not found.")


def _latest_and_live(page_id: str, until: str) -> "QuerySet[Version, Any]":
    newest = Version.objects.filter(audience=OuterRef("audience")).order_by("-version_number")
    is_latest = Q(version_number=Subquery(newest.values("version_number")[:1]))
    # `_is_live` comes first, as it needs no subquery.
    versions = Version.objects.filter(_is_live(until) | is_latest, audience__page=page_id)
    return select_columns(versions.order_by("version_number"))


def _is_live(until: str) -> Q:
    not_retired = Q(archived_at=None) | Q(archived_at__gt=until)
    return Q(published_at__lte=until) & not_retired
