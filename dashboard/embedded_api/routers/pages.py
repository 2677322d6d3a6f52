"""Operations 1, 2 and 3: list pages, create a page, get a page."""

from datetime import datetime
from typing import Any

import orjson
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from django.utils import timezone
from ninja import Router

from dashboard.contract import pages as contract
from dashboard.contract.envelope import ListEnvelope
from dashboard.embedded_api.creating import create_page
from dashboard.embedded_api.cursors import NEWEST_FIRST, Listing
from dashboard.embedded_api.http import ServiceRequest, refusals
from dashboard.embedded_api.marks import last_mark_of
from dashboard.embedded_api.models import Audience, Page
from dashboard.embedded_api.problems import not_found
from dashboard.embedded_api.requests import Cursor, Limit, NewPage
from dashboard.embedded_api.wire import (
    FOR_GOOD,
    OF_PAGE,
    JsonObject,
    Wire,
    answer,
    answer_list,
    shown,
)
from dashboard.kept import Kept
from dashboard.statements import Statement

PAGES_KEPT = 100
"""As they were written, of about 10 KB each with the rows they were written from."""


def _shown(pages: "QuerySet[Page]") -> "QuerySet[Page, Any]":
    """Return pages as the wire needs them, each with the number of its audiences.

    A subquery counts for the pages of one part alone; a join would group all there are.
    """
    of_page = Audience.objects.filter(page=OuterRef("pk")).values("page")
    counted = Subquery(of_page.annotate(count=Count("pk")).values("count"))
    return shown(pages, texts=OF_PAGE, audiences_count=Coalesce(counted, 0))


_WRITTEN = Kept[str, Any, orjson.Fragment](PAGES_KEPT)
_PAGES = Listing(Page, NEWEST_FIRST, _shown)
_PAGE = Statement(
    lambda tenant_id, page_id: _shown(Page.objects.filter(tenant_id=tenant_id, id=page_id))
)

router = Router(tags=["Pages"], by_alias=True)


@router.get(
    "",
    response=ListEnvelope[contract.Page],
    operation_id="listPages",
    summary="List pages",
    openapi_extra=refusals(400, 422),
)
def list_pages(request: ServiceRequest, cursor: Cursor = "", limit: Limit = 50) -> HttpResponse:
    """Newest first by `createdAt`, then by id. Items carry `pageType` and `status`.

    `totalCount` is exact. `nextCursor` is absent at the end of the list.
    """
    part = _PAGES.part(request.auth, cursor=cursor, limit=limit)
    now = timezone.now()
    return answer_list([_on_wire(page, now) for page in part.rows], part)


@router.post(
    "",
    response={201: contract.Page},
    operation_id="createPage",
    summary="Create page",
    openapi_extra=refusals(400, 413, 415, 422),
)
def create(request: ServiceRequest, page: NewPage) -> HttpResponse:
    """Create a page with the status `draft`.

    `pageType` defaults to `inbound`. `title` is the metadata's title, or else the name.
    `actionIndex` is the place in the list, from 0. An empty `actionId`, `brandId`, or id of a
    footer group or link is filled. Null for an optional field is the same as leaving it out.
    Unknown fields are refused.
    """
    row = create_page(page, tenant_id=request.auth)
    return answer(Wire(timezone.now()).page(row, audiences_count=0), status=201)


@router.get(
    "/{any_id:page_id}",
    response=contract.Page,
    operation_id="getPage",
    summary="Get page",
    openapi_extra=refusals(404),
)
def get_page(request: ServiceRequest, page_id: str) -> HttpResponse:
    """Get one page."""
    if not (page := _PAGE.first(request.auth, page_id)):
        raise not_found("There is no such page.")
    return answer(_on_wire(page, timezone.now()))


def _on_wire(row: Any, now: datetime) -> JsonObject | orjson.Fragment:
    """Write a page; where nothing of it is planned, the same row says the same for good."""
    if max(row.published_at or "", row.archived_at or "") > last_mark_of(now):
        return Wire(now).page(row, audiences_count=row.audiences_count)
    return _WRITTEN.made_of(row.id, row, _settled)


def _settled(row: Any) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(FOR_GOOD.page(row, audiences_count=row.audiences_count)))
