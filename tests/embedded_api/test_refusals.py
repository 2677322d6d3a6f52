"""Rejected requests, and the common form of their responses."""

from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client

from dashboard.json_api.problems import Problem
from tests.support.embedded_api_factories import (
    PAGE_BODY,
    make_audience,
    make_conversation,
    make_page,
    make_person,
)

JSON = "application/json"
MIB = 1 << 20


def problem_of(answer: Any, status: int) -> Problem:
    assert answer.status_code == status, answer.content[:300]
    assert answer["Content-Type"] == "application/problem+json"
    problem = Problem.model_validate(answer.json())
    assert (problem.status, problem.type) == (status, "about:blank")
    assert problem.title == HTTPStatus(status).phrase
    assert problem.detail.endswith(".")
    return problem


@pytest.mark.parametrize(
    ("call", "status"),
    [((method, path, body, kind), status) for method, path, body, kind, status in (
        ("GET", "/v0", "", "", 404),
        ("GET", "/v0/", "", "", 404),
        ("GET", "/v0/a\nb", "", "", 404),
        ("GET", "/v0/nothing", "", "", 404),
        ("GET", "/v0/pages/", "", "", 404),
        ("GET", "/v0/pages/a/b/c", "", "", 404),
        ("GET", "/v0/pages/a%00b", "", "", 404),
        ("GET", "/v0/pages/%FF", "", "", 404),
        ("GET", "/v0/persons/somebody", "", "", 404),
        ("GET", "/v0/pages/nothing/audiences", "", "", 404),
        ("PATCH", "/v0/webhook_subscriptions/nothing", "{}", JSON, 404),
        ("DELETE", "/v0/pages", "", "", 405),
        ("PUT", "/v0/pages/x", "", "", 405),
        ("GET", "/v0/webhook_subscriptions/x", "", "", 405),
        ("GET", "/v0/pages/a/audiences/b/versions/c/publish", "", "", 405),
        ("POST", "/v0/pages", "{}", "text/plain", 415),
        ("POST", "/v0/pages", "{}", "application/x-www-form-urlencoded", 415),
        ("POST", "/v0/pages", "{}", "", 415),
        ("POST", "/v0/pages", "{}", "application/jsonp", 415),
        ("POST", "/v0/pages", "{}", "application/json; charset=utf-8", 422),
        ("POST", "/v0/pages", "", JSON, 422),
        ("POST", "/v0/pages", "{", JSON, 400),
        ("POST", "/v0/pages", '{"name": NaN}', JSON, 400),
        ("POST", "/v0/pages", '"\\ud800"', JSON, 400),
        ("POST", "/v0/pages", b"\xff\xfe", JSON, 400),
        ("POST", "/v0/pages", "[" * 100_000, JSON, 400),
        ("POST", "/v0/pages", "9" * 5_000, JSON, 400),
        ("POST", "/v0/pages", '{"metadata": {"robots": [1e999]}}', JSON, 422),
        ("POST", "/v0/pages", '{"a\\u0000": {"b": 1}}', JSON, 422),
        ("POST", "/v0/pages", " " * (MIB + 1), JSON, 413),
        ("POST", "/v0/pages", " " * (3 * MIB), JSON, 413),
        ("GET", "/v0/pages?cursor=nonsense", "", "", 400),
        ("GET", "/v0/pages?cursor=%00", "", "", 400),
        ("GET", "/v0/persons/search?query=a%00b", "", "", 422),
        *[
            ("GET", f"/v0/persons?limit={limit}", "", "", 422)
            for limit in ("0", "-1", "0.5", "NaN", "nan", "inf", "-inf", "1e999", "ten", "", "null")
        ],
    )],
)  # fmt: skip
def test_every_refusal_is_a_problem(
    service: Client, call: tuple[str, str, Any, str], status: int
) -> None:
    method, path, body, content_type = call
    problem_of(service.generic(method, path, body, content_type=content_type), status)


def test_a_large_body_is_refused_for_its_own_problem(service: Client) -> None:
    problem_of(service.generic("POST", "/v0/pages", " " * MIB, content_type=JSON), 400)


def test_a_405_lists_the_methods_that_exist(service: Client) -> None:
    answer = service.delete("/v0/pages")
    problem_of(answer, 405)
    assert answer["Allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v0/pages", 200),
        ("/v0/persons", 200),
        ("/v0/persons/search?query=ada", 200),
        ("/v0/pages/nothing", 404),
        ("/v0/pages?cursor=nonsense", 400),
        ("/v0/webhook_subscriptions/nothing", 405),
        ("/v0/nothing", 404),
    ],
)
def test_head_returns_the_headers_of_get(service: Client, path: str, status: int) -> None:
    usual, answer = service.get(path), service.head(path)
    assert (answer.status_code, answer.content) == (status, b"")
    assert answer.headers["Content-Type"] == usual.headers["Content-Type"]
    assert answer.headers["Content-Length"] == str(len(usual.content))


def test_a_body_without_its_length_is_refused(service: Client) -> None:
    headers = {"Transfer-Encoding": "chunked"}
    answer = service.generic("POST", "/v0/pages", "", content_type=JSON, headers=headers)
    problem_of(answer, 411)


def test_wrong_fields_are_named_in_plain_words(service: Client) -> None:
    answer = service.post("/v0/pages", {"actions": [{"x": 1}], "name": ""}, content_type=JSON)
    errors = {error.path: error.message for error in problem_of(answer, 422).errors or []}
    assert errors["actions.0.url"] == "is required"
    assert errors["actions.0.x"] == "is not a field of this request"
    assert "brandId" in errors


@pytest.mark.parametrize(
    ("call", "path"),
    [
        (("PATCH", "/v0/webhook_subscriptions/x", '{"active": true, "active": false}'), "active"),
        (("PATCH", "/v0/webhook_subscriptions/x", '{"active": true, "active": true}'), "active"),
        (("POST", "/v0/pages", '{"name": "a", "n\\u0061me": "b"}'), "name"),
        (("POST", "/v0/pages", '{"metadata": {"title": "a", "title": "b"}}'), "metadata.title"),
        (("POST", "/v0/pages", '{"scripts": [{"name": 1, "name": 2}]}'), "scripts.0.name"),
    ],
)
def test_a_field_that_is_given_twice_is_refused(
    service: Client, call: tuple[str, str, str], path: str
) -> None:
    answer = service.generic(*call, content_type=JSON)
    errors = [(error.path, error.message) for error in problem_of(answer, 422).errors or []]
    assert errors == [(path, "is given more than once")]


@pytest.mark.parametrize("body", [{"robots": ["\0"] * 200}, {str(n): 1 for n in range(200)}])
def test_at_most_a_hundred_wrong_fields_are_named(service: Client, body: Any) -> None:
    answer = service.post("/v0/pages", {**PAGE_BODY, "metadata": body}, content_type=JSON)
    assert len(problem_of(answer, 422).errors or []) == 100


@pytest.mark.parametrize(("limit", "size"), [("1", 1), ("2.9", 2), ("200", 200), ("1e6", 200)])
def test_a_limit_is_any_number_from_one_on(service: Client, limit: str, size: int) -> None:
    for number in range(201):
        make_person(f"Person {number}")
    answer = service.get("/v0/persons", {"limit": limit}).json()
    assert (len(answer["items"]), answer["totalCount"]) == (size, 201)


def test_a_failure_of_ours_is_a_problem_without_details(
    service: Client, caplog: pytest.LogCaptureFixture
) -> None:
    page = make_page(metadata={"title": 7})  # no release of Pressroom writes this
    audience = make_conversation(make_audience(page)).audience
    address = f"/v0/pages/{page.id}/audiences/{audience.id}/messages"
    problem = problem_of(service.get(address), 500)
    assert "title" not in problem.detail
    assert "Traceback" in caplog.text


def test_no_response_may_be_cached(service: Client) -> None:
    for path in ("/v0/pages", "/v0/nothing"):
        assert service.get(path)["Cache-Control"] == "no-store"
