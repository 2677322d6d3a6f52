"""Operations 7 and 8: list people, search people."""

from django.http import HttpResponse
from ninja import Router

from dashboard.contract import people as contract
from dashboard.contract.envelope import ListEnvelope
from dashboard.embedded_api.http import ServiceRequest, error_responses
from dashboard.embedded_api.people_search import find_people
from dashboard.embedded_api.problems import HOLDS_NUL, FieldError, invalid_fields_problem
from dashboard.embedded_api.requests import MAX_WORDS, Cursor, Limit, SearchText
from dashboard.embedded_api.serializers import list_response, person_json

router = Router(tags=["People"], by_alias=True)


@router.get(
    "",
    response=ListEnvelope[contract.Person],
    operation_id="listPeople",
    summary="List people",
    openapi_extra=error_responses(400, 422),
)
def list_people(request: ServiceRequest, cursor: Cursor = "", limit: Limit = 50) -> HttpResponse:
    """List people by name, then by ID. Fields without a value are absent; `totalCount` is exact."""
    return search_people(request, cursor=cursor, limit=limit)


@router.get(
    "/search",
    response=ListEnvelope[contract.Person],
    operation_id="searchPeople",
    summary="Search people",
    openapi_extra=error_responses(400, 422),
)
def search_people(
    request: ServiceRequest, query: SearchText = "", cursor: Cursor = "", limit: Limit = 50
) -> HttpResponse:
    """List the people who match every word of `query`, by name, then by ID.

    A person's full ID finds that person.
    """
    if "\0" in query:
        raise invalid_fields_problem([FieldError(path="query", message=HOLDS_NUL)])
    if len(query.split()) > MAX_WORDS:
        message = f"must have at most {MAX_WORDS} words"
        raise invalid_fields_problem([FieldError(path="query", message=message)])
    page = find_people(request.auth, query, cursor=cursor, limit=limit)
    return list_response([person_json(row) for row in page.rows], page)
