"""Schemathesis sends requests that the OpenAPI document allows, and others that it doesn't."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.generation.meta import TestPhase
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import negative_data_rejection

from dashboard.embedded_api import keys
from dashboard.json_api.cursors import BY_NAME, NEWEST_FIRST
from tests.support.embedded_api_factories import (
    make_conversation,
    make_live_version,
    make_page,
    make_person,
    make_subscription,
    make_version,
)

OPERATIONS = [
    "GET /v0/pages",
    "POST /v0/pages",
    "GET /v0/pages/{page_id}",
    "GET /v0/pages/{page_id}/audiences",
    "GET /v0/pages/{page_id}/audiences/{audience_id}/messages",
    "POST /v0/pages/{page_id}/audiences/{audience_id}/versions/{version_id}/publish",
    "GET /v0/persons",
    "GET /v0/persons/search",
    "PATCH /v0/webhook_subscriptions/{subscription_id}",
    "POST /service/events/form",
]
REAL_IDS: dict[str, str] = {}
REAL_CURSORS: dict[str, str] = {}


@pytest.fixture
def something_there(db: None) -> Iterator[None]:
    """A service with one object of each kind, in the test's own transaction."""
    live = make_live_version(number=1)
    version = make_version(live.audience, 2)
    make_conversation(live.audience)
    REAL_CURSORS["/v0/pages"] = NEWEST_FIRST.cursor_for(make_page())
    REAL_CURSORS["/v0/persons"] = BY_NAME.cursor_for(make_person())
    make_person("Zoë")
    REAL_IDS.update(
        page_id=live.audience.page_id,
        audience_id=live.audience_id,
        version_id=version.id,
        subscription_id=make_subscription().id,
    )
    # The end of a request would close the connection, although the test is in a transaction.
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> Any:
    """Mostly use existing ids, to get more than 404 responses."""
    if not path_parameters:
        return path_parameters
    return {
        name: value if len(str(value)) % 4 == 3 else REAL_IDS[name]
        for name, value in path_parameters.items()
    }


def map_query(context: Any, query: dict[str, Any] | None) -> Any:
    """Send cursors from a list, as a schema can't describe which are valid."""
    if not query or "cursor" not in query:
        return query
    return {**query, "cursor": REAL_CURSORS[context.operation.path.removesuffix("/search")]}


class WithKey:
    """Sends a key. A fixed header would hide operations that need none."""

    def get(self, case: Any, context: Any) -> str:
        return keys.internal_key()

    def set(self, case: Any, data: str, context: Any) -> None:
        case.headers["x-api-key"] = data
        # Schemathesis accepts gzip, but doesn't decompress the responses of a WSGI application.
        case.headers["Accept-Encoding"] = "identity"


@pytest.fixture
def document(something_there: None, pytestconfig: pytest.Config) -> BaseSchema:
    document = read_document()
    # Finding values in our own code takes longer than all the rest.
    document.config.analysis.constants.enabled = pytestconfig.getoption("exhaustive")
    return document


@cache
def read_document() -> BaseSchema:
    document = schemathesis.openapi.from_wsgi("/service/openapi.json", get_wsgi_application())
    # A schema can't exclude NUL; test_refusals.py tests it.
    document.config.generation.update(allow_x00=False)
    document.hook(map_path_parameters)
    document.hook(map_query)
    document.auth()(WithKey)
    return document


def ask(case: Any) -> None:
    # Unknown query parameters are accepted on purpose; this check would report each.
    case.call_and_validate(excluded_checks=[negative_data_rejection])


def ask_for_some(config: pytest.Config) -> Callable[[Any], None]:
    """Send every random request, and a twelfth of those at the document's boundaries."""
    boundaries = count(config.option.matrix_seed)

    def ask_for_some(case: Any) -> None:
        if case.meta.phase.name is not TestPhase.COVERAGE or next(boundaries) % 12 == 0:
            ask(case)

    return ask_for_some


AS_MANY_AS_OF_A_PROPERTY = settings(suppress_health_check=list(HealthCheck))


def test_every_operation_is_called_below(document: BaseSchema) -> None:
    assert sorted(operation.ok().label for operation in document.get_all_operations()) == sorted(
        OPERATIONS
    )


# The library's own decorator creates all cases during collection. It also gives all nine tests the
# same id, so that pytest-xdist runs only one of them.
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_service_answers_as_its_document_says(
    document: BaseSchema, operation: str, pytestconfig: pytest.Config
) -> None:
    item = document.include(name=operation)
    (created,) = get_all_tests(
        schema=item,
        test_func=ask if pytestconfig.getoption("exhaustive") else ask_for_some(pytestconfig),
        settings=AS_MANY_AS_OF_A_PROPERTY,
        given_kwargs={},
    )
    _, asks_all = created.ok()
    asks_all()
