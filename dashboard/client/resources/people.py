"""Operations 7 and 8: list people, search people."""

from dashboard.client.calls import Call, path
from dashboard.client.resources.base import Resource
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.people import Person


class People(Resource):
    """The people. Every method raises an APIError where the service gives no usable answer."""

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> ListEnvelope[Person]:
        """Return one part of the list; its order and the bounds of `limit` are not shown."""
        call = Call(
            operation="List people",
            method="GET",
            path=path("persons"),
            params={"cursor": cursor, "limit": limit},
        )
        return self._session.answer(call, reply=ListEnvelope[Person])

    def search(
        self, *, query: str, cursor: str | None = None, limit: int | None = None
    ) -> ListEnvelope[Person]:
        """Return one part of the matches; what counts as a match is the service's to say."""
        call = Call(
            operation="Search people",
            method="GET",
            path=path("persons", "search"),
            params={"query": query, "cursor": cursor, "limit": limit},
        )
        return self._session.answer(call, reply=ListEnvelope[Person])
