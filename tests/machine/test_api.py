"""The JSON API against its document, and the problems that it reports."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, given, settings
from openapi_spec_validator import validate
from schemathesis.specs.openapi.checks import positive_data_acceptance

from dashboard.machine import errors
from tests.support.machines import JsonInterface, new_token
from tests.support.many_audiences import Key

OPERATIONS = 10


@pytest.fixture
def one_connection() -> Iterator[None]:
    """Keep the connection open after a request: it holds the test's transaction."""
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


@pytest.mark.usefixtures("one_connection")
def test_the_api_is_as_its_document_states(paula: User, key: Key) -> None:
    document = schemathesis.openapi.from_wsgi("/api/1/openapi.json", get_wsgi_application())
    document.config.generation.update(allow_x00=False)
    operations = [result.ok() for result in document.get_all_operations()]
    assert len(operations) == OPERATIONS
    for operation in operations:
        send_some(operation, new_token(paula))


def send_some(operation: Any, token: str) -> None:
    """Send requests that the document allows, and compare the responses with it."""
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}

    @settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy())
    def send(case: Any) -> None:
        # A schema can't say which ids and cursors exist.
        case.call_and_validate(headers=headers, excluded_checks=[positive_data_acceptance])

    send()


def test_each_operation_is_described_with_an_example(db: None) -> None:
    document = Client().get("/api/1/openapi.json").json()
    validate(document)
    page = Client().get("/api/1/docs").text
    for methods in document["paths"].values():
        for operation in methods.values():
            assert f'id="{operation["operationId"]}"' in page
            assert operation["responses"]["200"]["content"]["application/json"]["example"]
            assert "$PRESSROOM_TOKEN" in operation["x-codeSamples"][0]["source"]


def test_each_kind_of_problem_is_described(db: None) -> None:
    source = "".join(path.read_text() for path in Path(errors.__file__).parent.glob("*.py"))
    page = Client().get("/api/1/docs").text
    kinds = set(re.findall(r'kind="(.+?)"', source))
    assert "key" in kinds
    assert {kind for kind in kinds if f"<code>{kind}</code>" not in page} == set()


@pytest.mark.parametrize(
    ("method", "path", "status", "step"),
    [
        ("GET", "nowhere", 404, "Find the path in /api/1/docs."),
        ("GET", "plans/99", 404, "Check the ID."),
        ("DELETE", "plans/1", 405, "Send GET or HEAD."),
        ("PUT", "plans", 405, "Send POST."),
        ("GET", "audiences?limit=0", 422, "Correct the fields in `errors`."),
        ("GET", "audiences?cursor=x", 400, "Correct the request."),
        ("GET", "audiences?color=red", 422, "Correct the fields in `errors`."),
        ("GET", "plans/1?plan=2", 422, "Correct the fields in `errors`."),
    ],
)
def test_each_problem_has_a_next_step(
    method: str, path: str, status: int, step: str, interface: JsonInterface
) -> None:
    response = interface.send(method, path)
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem["next"].startswith(step)
    assert problem["type"].startswith("/api/1/docs#")
    assert problem["status"] == status


class Lost(BytesIO):
    """A body that doesn't arrive."""

    def read(self, *_: Any) -> bytes:
        raise OSError("connection lost")


@pytest.mark.parametrize("path", ["/api/1/plans", "/mcp/"])
def test_a_body_that_is_not_read_is_a_problem(
    path: str, interface: JsonInterface, key: Key
) -> None:
    def post(**environ: Any) -> Any:
        headers = {"Authorization": f"Bearer {interface.token}", "Idempotency-Key": "one"}
        kind = "application/json"
        return Client().generic("POST", path, "{}", kind, headers=headers, **environ)

    lost = post(**{"wsgi.input": Lost()})
    assert (lost.status_code, lost.json()["title"]) == (408, "Request Timeout")
    endless = post(HTTP_TRANSFER_ENCODING="chunked", CONTENT_LENGTH="")
    assert (endless.status_code, "Content-Length" in endless.json()["next"]) == (411, True)


def test_head_is_a_get_without_a_body(interface: JsonInterface, key: Key) -> None:
    get, head = (interface.send(method, "audiences") for method in ("GET", "HEAD"))
    assert (head.status_code, head.content) == (200, b"")
    assert head["Content-Length"] == str(len(get.content))


def test_every_wrong_parameter_is_named(interface: JsonInterface) -> None:
    response = interface.send("GET", "audiences?limit=0&live_status=x&color=red&size=2")
    assert {error["pointer"] for error in response.json()["errors"]} == {
        "#/limit",
        "#/live_status",
        "#/color",
        "#/size",
    }


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        ({"body": "x" * 4_001}, "#/body", "String should have at most 4000 characters"),
        ({"body": " \n"}, "#/body", "String should have at least 1 character"),
        (["body"], "#", "must be an object"),
        ({"plan": 1, "page_id": "p", "body": "x"}, "#/page_id", "must be empty if plan is named"),
    ],
)
def test_a_problem_says_what_a_caller_can_correct(
    body: Any, pointer: str, detail: str, interface: JsonInterface
) -> None:
    response = interface.send("POST", "comments", body, **{"Idempotency-Key": "one"})
    assert response.json()["errors"] == [{"pointer": pointer, "detail": detail}]


def test_a_cancel_takes_no_fields(interface: JsonInterface, key: Key) -> None:
    whole = {"versions": [{"page_id": key[0], "audience_id": key[1]}]}
    plan = interface.act("plan", **whole)[1]["plan"]
    status, problem = interface.act("cancel", plan=plan, items=[1], note="x")
    assert (status, [error["pointer"] for error in problem["errors"]]) == (
        422,
        ["#/items", "#/note"],
    )
    assert interface.act("status", plan=plan)[1]["outcome"] == "planned"
    response = interface.send(
        "POST", f"plans/{plan}/cancel", **{"Idempotency-Key": "without a body"}
    )
    assert response.json()["state"] == "canceled"


def test_a_bad_body_is_named_by_pointers(interface: JsonInterface, key: Key) -> None:
    keyed = {"Idempotency-Key": "one"}
    whole = {"versions": [{"page_id": key[0], "audience_id": key[1]}]}
    response = interface.send("POST", "plans", whole)
    assert (response.status_code, "Idempotency-Key" in response.json()["next"]) == (400, True)
    response = interface.send("POST", "plans", {"versions": [{"page_id": 1}], "x": 2}, **keyed)
    assert {error["pointer"] for error in response.json()["errors"]} == {
        "#/versions/0/page_id",
        "#/versions/0/audience_id",
        "#/x",
    }
    other = {"page_id": "page_9", "audience_id": "a"}
    response = interface.send(
        "POST", "plans", {"versions": [other, *whole["versions"], other]}, **keyed
    )
    assert {error["pointer"] for error in response.json()["errors"]} == {
        "#/versions/0/audience_id",
        "#/versions/2/audience_id",
    }
    response = interface.send("POST", "comments", {"body": "Hello"}, **{"Idempotency-Key": "two"})
    assert {error["pointer"] for error in response.json()["errors"]} == {
        "#/page_id",
        "#/audience_id",
    }
    large = {"versions": [], "note": "n" * (1 << 20)}
    response = interface.send("POST", "plans", large, **keyed)
    assert (response.status_code, response.json()["next"]) == (413, "Send a smaller body.")
