"""Operations 1 to 3: list, create, get pages."""

from dashboard.client.calls import Call, path
from dashboard.client.resources.base import Resource
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import Page, PageItem, PageRequest


class Pages(Resource):
    """The pages. Every method raises an APIError where the service gives no usable answer."""

    def list(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> ListEnvelope[PageItem]:
        """Return one part of the list; its order and the bounds of `limit` are not shown."""
        call = Call(
            operation="List pages",
            method="GET",
            path=path("pages"),
            params={"cursor": cursor, "limit": limit},
        )
        return self._session.answer(call, reply=ListEnvelope[PageItem], is_kept=True)

    def create(self, page: PageRequest) -> Page:
        """Create a page and return it. Never sent twice: a lost answer may have made a page."""
        # The spec requires pageType and gives it a default, so the default is said aloud.
        body = {"pageType": page.page_type} | page.to_wire()
        call = Call(operation="Create page", method="POST", path=path("pages"), body=body)
        return self._session.answer(call, reply=Page)

    def get(self, page_id: str) -> Page:
        """Return one page."""
        call = Call(operation="Get page", method="GET", path=path("pages", page_id))
        return self._session.answer(call, reply=Page, is_kept=True)
