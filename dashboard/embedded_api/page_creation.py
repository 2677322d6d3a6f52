"""Operation 2: the columns of a page, from a request of the contract."""

from typing import Any

from dashboard.contract.wire import WireModel
from dashboard.embedded_api.ids import new_id, uuid7_now
from dashboard.embedded_api.models import Page, Tenant
from dashboard.embedded_api.requests import NewFooterLinkGroup, NewPage


def new_page(tenant: Tenant, page: NewPage) -> Page:
    """Return an unsaved draft. Source of the defaults: DESIGN.md, Create."""
    mark = uuid7_now()
    columns = page_columns(page)
    title = (columns["metadata"] or {}).get("title") or page.name
    brand_id = page.brand_id or tenant.brand_id
    dates = {"created_at": mark, "updated_at": mark}
    return Page(tenant=tenant, **columns | {"title": title, "brand_id": brand_id} | dates)


def page_columns(page: NewPage) -> dict[str, Any]:
    """Return the values of the columns that a request names; empty ids are filled."""
    actions = [
        {**_dump(action), "actionId": action.action_id or new_id("act"), "actionIndex": index}
        for index, action in enumerate(page.actions)
    ]
    return {
        "brand_id": page.brand_id,
        "name": page.name,
        "page_context": page.page_context,
        "page_type": page.page_type,
        "actions": actions,
        "action_card_widgets": [_dump(widget) for widget in page.action_card_widgets],
        "footer_links": [_footer_links(group) for group in page.footer_links or []],
        "scripts": [_dump(script) for script in page.scripts],
        "header_action_id": page.header_action_id,
        "metadata": _dump(page.metadata) if page.metadata else None,
    }


def _footer_links(group: NewFooterLinkGroup) -> dict[str, Any]:
    links = [{**_dump(link), "id": link.id or new_id("link")} for link in group.links or []]
    return {**_dump(group), "id": group.id or new_id("footer"), "links": links}


def _dump(model: WireModel) -> dict[str, Any]:
    """Return the fields that were sent; null means the same as an omitted field."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
