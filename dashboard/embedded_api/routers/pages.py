"""Operations 1, 2 and 3: list pages, create a page, get a page."""

from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.utils import timezone
from ninja import Router

from dashboard.compiled_query import CompiledQuery
from dashboard.contract import pages as contract
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.wire import WireModel
from dashboard.embedded_api.cursors import NEWEST_FIRST, Listing
from dashboard.embedded_api.http import ServiceRequest, error_responses
from dashboard.embedded_api.ids import new_id, uuid7_now
from dashboard.embedded_api.models import Audience, Page, Tenant
from dashboard.embedded_api.problems import not_found
from dashboard.embedded_api.requests import Cursor, Limit, NewFooterLinkGroup, NewPage
from dashboard.embedded_api.serializers import (
    PAGE_JSON,
    JsonObject,
    json_response,
    list_response,
    page_json,
    select_columns,
)


def _select(pages: "QuerySet[Page]") -> "QuerySet[Page, Any]":
    """Select the columns and the number of audiences.

    A subquery counts only for the selected rows; a join would group the whole table.
    """
    audiences = Audience.objects.filter(page=OuterRef("pk")).values("page")
    count = Subquery(audiences.annotate(count=Count("pk")).values("count"))
    return select_columns(pages, texts=PAGE_JSON, audiences_count=Coalesce(count, 0))


_PAGES = Listing(Page, NEWEST_FIRST, _select)
_PAGE = CompiledQuery(
    lambda tenant_id, page_id: _select(Page.objects.filter(tenant_id=tenant_id, id=page_id))
)

router = Router(tags=["Pages"], by_alias=True)


@router.get(
    "",
    response=ListEnvelope[contract.Page],
    operation_id="listPages",
    summary="List pages",
    openapi_extra=error_responses(400, 422),
)
def list_pages(request: ServiceRequest, cursor: Cursor = "", limit: Limit = 50) -> HttpResponse:
    """List pages, newest first by `createdAt`, then by ID. Items have `pageType` and `status`.

    `totalCount` is exact. `nextCursor` is absent at the end of the list.
    """
    result = _PAGES.page(request.auth, cursor=cursor, limit=limit)
    now = timezone.now()
    return list_response([page_json(row, now) for row in result.rows], result)


@router.post(
    "",
    response={201: contract.Page},
    operation_id="createPage",
    summary="Create page",
    openapi_extra=error_responses(400, 413, 415, 422),
)
def create(request: ServiceRequest, page: NewPage) -> HttpResponse:
    """Create a page with the status `draft`.

    `pageType` defaults to `inbound`. `title` is the metadata's title, or else the name.
    `actionIndex` is the position in the list, from 0. An empty `actionId`, `brandId`, or ID of a
    footer group or link is generated. Null for an optional field is the same as omitting it.
    Unknown fields are rejected.
    """
    # Source of the defaults: DESIGN.md, Create. The default tenant may not exist yet.
    tenant, _ = Tenant.objects.get_or_create(id=request.auth)
    mark = uuid7_now()
    metadata = _dump(page.metadata) if page.metadata else None
    actions = [
        {**_dump(action), "actionId": action.action_id or new_id("act"), "actionIndex": index}
        for index, action in enumerate(page.actions)
    ]
    row = Page.objects.create(
        tenant=tenant,
        brand_id=page.brand_id or tenant.brand_id,
        name=page.name,
        title=(metadata or {}).get("title") or page.name,
        page_context=page.page_context,
        page_type=page.page_type,
        actions=actions,
        action_card_widgets=[_dump(widget) for widget in page.action_card_widgets],
        footer_links=[_footer_links(group) for group in page.footer_links or []],
        scripts=[_dump(script) for script in page.scripts],
        header_action_id=page.header_action_id,
        metadata=metadata,
        created_at=mark,
        updated_at=mark,
    )
    return json_response(page_json(row, timezone.now()), status=201)


@router.get(
    "/{any_id:page_id}",
    response=contract.Page,
    operation_id="getPage",
    summary="Get page",
    openapi_extra=error_responses(404),
)
def get_page(request: ServiceRequest, page_id: str) -> HttpResponse:
    """Get one page."""
    if not (page := _PAGE.first(request.auth, page_id)):
        raise not_found("Page not found.")
    return json_response(page_json(page, timezone.now()))


def _footer_links(group: NewFooterLinkGroup) -> JsonObject:
    links = [{**_dump(link), "id": link.id or new_id("link")} for link in group.links or []]
    return {**_dump(group), "id": group.id or new_id("footer"), "links": links}


def _dump(model: WireModel) -> JsonObject:
    """Return the fields that were sent; null means the same as an omitted field."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
