"""Operations 7 and 8: list people, search people."""

from django.http import HttpResponse
from ninja import Router

from dashboard.contract import people as contract
from dashboard.contract.envelope import ListEnvelope
from dashboard.embedded_api.http import ServiceRequest, refusals
from dashboard.embedded_api.problems import HOLDS_NUL, FieldError, fields_not_accepted
from dashboard.embedded_api.requests import Cursor, Limit, SearchText
from dashboard.embedded_api.search.people import people_found
from dashboard.embedded_api.wire import answer_list, person

router = Router(tags=["People"], by_alias=True)


@router.get(
    "",
    response=ListEnvelope[contract.Person],
    operation_id="listPeople",
    summary="List people",
    openapi_extra=refusals(400, 422),
)
def list_people(request: ServiceRequest, cursor: Cursor = "", limit: Limit = 50) -> HttpResponse:
    """By name, then by id. Fields without a value are absent; `totalCount` is exact."""
    return _answer_part(request, "", cursor, limit)


@router.get(
    "/search",
    response=ListEnvelope[contract.Person],
    operation_id="searchPeople",
    summary="Search people",
    openapi_extra=refusals(400, 422),
)
def search_people(
    request: ServiceRequest, query: SearchText = "", cursor: Cursor = "", limit: Limit = 50
) -> HttpResponse:
    """Who matches every word of `query`, in the order of the list: by name, then by id."""
    if "\0" in query:
        raise fields_not_accepted([FieldError(path="query", message=HOLDS_NUL)])
    return _answer_part(request, query, cursor, limit)


def _answer_part(request: ServiceRequest, query: str, cursor: str, limit: float) -> HttpResponse:
    part = people_found(request.auth, query, cursor=cursor, limit=limit)
    return answer_list([person(row) for row in part.rows], part)
