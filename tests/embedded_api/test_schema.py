"""Schemathesis asks the service whatever its own OpenAPI document allows, and what it does not."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import negative_data_rejection

from dashboard.embedded_api import keys
from dashboard.embedded_api.cursors import BY_NAME, NEWEST_FIRST
from tests.embedded_api.factories import (
    make_conversation,
    make_live_version,
    make_page,
    make_person,
    make_subscription,
    make_version,
)

REAL_IDS: dict[str, str] = {}
REAL_CURSORS: dict[str, str] = {}


schema = schemathesis.openapi.from_wsgi("/service/openapi.json", get_wsgi_application())
# A schema can't say "no NUL"; test_refusals.py does.
schema.config.generation.update(allow_x00=False)


@pytest.fixture
def something_there(db: None) -> Iterator[None]:
    """A service with one of each kind in it, all of it in the test's own transaction."""
    live = make_live_version(number=1)
    version = make_version(live.audience, 2)
    make_conversation(live.audience)
    REAL_CURSORS["/v0/pages"] = NEWEST_FIRST.cursor_at(make_page())
    REAL_CURSORS["/v0/persons"] = BY_NAME.cursor_at(make_person())
    make_person("Zoë")
    REAL_IDS.update(
        page_id=live.audience.page_id,
        audience_id=live.audience_id,
        version_id=version.id,
        subscription_id=make_subscription().id,
    )
    # A request's end would close a connection that is in a transaction, as ours is.
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


@schema.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> Any:
    """Ask for what is there in most cases, so that there is more to see than 404."""
    if not path_parameters:
        return path_parameters
    return {
        name: value if len(str(value)) % 4 == 3 else REAL_IDS[name]
        for name, value in path_parameters.items()
    }


@schema.hook
def map_query(context: Any, query: dict[str, Any] | None) -> Any:
    """Send cursors that a list gave: a schema can't say which are."""
    if not query or "cursor" not in query:
        return query
    return {**query, "cursor": REAL_CURSORS[context.operation.path.removesuffix("/search")]}


@schema.auth()
class WithKey:
    """Sends a key; not as a fixed header, which would hide a service that needs none."""

    def get(self, case: Any, context: Any) -> str:
        """Return the dashboard's own key."""
        return keys.internal_key()

    def set(self, case: Any, data: str, context: Any) -> None:
        """Put the key into the request."""
        case.headers["x-api-key"] = data


@pytest.mark.usefixtures("something_there")
@schema.parametrize()
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_the_service_answers_as_its_document_says(case: Any) -> None:
    # Further query parameters are let pass on purpose; the check would call each a fault.
    case.call_and_validate(excluded_checks=[negative_data_rejection])
