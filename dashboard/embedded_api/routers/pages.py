"""Operations 1, 2 and 3: list pages, create a page, get a page."""

from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from ninja import Router

from dashboard import clock
from dashboard.contract import pages as contract
from dashboard.contract.resource import ListEnvelope
from dashboard.embedded_api.http import ServiceRequest, error_responses
from dashboard.embedded_api.listing import Listing
from dashboard.embedded_api.models import Audience, Page, Tenant
from dashboard.embedded_api.requests import Cursor, Limit, NewPage, new_page
from dashboard.embedded_api.serializers import (
    PAGE_JSON,
    json_response,
    list_response,
    page_json,
    select_columns,
)
from dashboard.json_api.cursors import NEWEST_FIRST
from dashboard.json_api.problems import not_found


def _select(pages: "QuerySet[Page]") -> "QuerySet[Page, Any]":
    """Select the columns of pages, and their number of audiences.

    A subquery counts only for the selected rows. A join would group the whole table.
    """
    audiences = Audience.objects.filter(page=OuterRef("pk")).values("page")
    count = Subquery(audiences.annotate(count=Count("pk")).values("count"))
    return select_columns(pages, texts=PAGE_JSON, audiences_count=Coalesce(count, 0))


_PAGES = Listing(Page, NEWEST_FIRST, _select)

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
    now = clock.now()
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
    # The default tenant may not exist yet.
    tenant, _ = Tenant.objects.get_or_create(id=request.auth)
    row = new_page(tenant, page)
    row.save(force_insert=True)
    return json_response(page_json(row, clock.now()), status=201)


@router.get(
    "/{any_id:page_id}",
    response=contract.Page,
    operation_id="getPage",
    summary="Get page",
    openapi_extra=error_responses(404),
)
def get_page(request: ServiceRequest, page_id: str) -> HttpResponse:
    """Get one page."""
    page = _select(Page.objects.filter(tenant_id=request.auth, id=page_id)).first()
    if page is None:
        raise not_found("Page not found.")
    return json_response(page_json(page, clock.now()))
