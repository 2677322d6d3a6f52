"""Operation 2: create a page."""

from typing import Any

from django.utils import timezone

from dashboard.contract.dates import write_mark
from dashboard.contract.wire import WireModel
from dashboard.embedded_api.keys import default_tenant
from dashboard.embedded_api.marks import new_id
from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Page, Tenant
from dashboard.embedded_api.requests import NewAction, NewFooterLinkGroup, NewPage


def create_page(page: NewPage, *, tenant_id: str) -> Page:
    """Create a draft page of a tenant. Source: DESIGN.md, Create."""
    is_default = tenant_id == DEFAULT_TENANT_ID
    tenant = default_tenant() if is_default else Tenant.objects.get(id=tenant_id)
    mark = write_mark(timezone.now())
    metadata = _kept(page.metadata) if page.metadata else None
    return Page.objects.create(
        tenant=tenant,
        brand_id=page.brand_id or tenant.brand_id,
        name=page.name,
        title=(metadata or {}).get("title") or page.name,
        page_context=page.page_context,
        page_type=page.page_type,
        actions=[_action(action, index) for index, action in enumerate(page.actions)],
        action_card_widgets=[_kept(widget) for widget in page.action_card_widgets],
        footer_links=[_footer_links(group) for group in page.footer_links or []],
        scripts=[_kept(script) for script in page.scripts],
        header_action_id=page.header_action_id,
        metadata=metadata,
        created_at=mark,
        updated_at=mark,
    )


def _action(action: NewAction, index: int) -> dict[str, Any]:
    action_id = action.action_id or new_id("act")
    return {**_kept(action), "actionId": action_id, "actionIndex": index}


def _footer_links(group: NewFooterLinkGroup) -> dict[str, Any]:
    links = [{**_kept(link), "id": link.id or new_id("link")} for link in group.links or []]
    return {**_kept(group), "id": group.id or new_id("footer"), "links": links}


def _kept(part: WireModel) -> dict[str, Any]:
    """Return what was sent of a part: a field that is null is the same as one left out."""
    return part.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
