"""Responses outside 2xx: the error class and the service's own message."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.client import (
    AuthenticationError,
    ConflictError,
    Executed,
    FieldProblem,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    StatusError,
)
from tests.client.json_values import json_values
from tests.support.api_clients import KEY, PAGE_REQUEST, client_answering, client_saying, error_of


def refusal(*args: Any, **kwargs: Any) -> StatusError:
    """Return the error that this response to "Create page" causes."""
    with pytest.raises(StatusError) as caught:
        client_saying(*args, **kwargs).pages.create(PAGE_REQUEST)
    return caught.value


@pytest.mark.parametrize(
    ("status_code", "kind", "executed"),
    [
        (101, ServerError, Executed.MAYBE),
        (302, ServerError, Executed.MAYBE),
        (304, ServerError, Executed.MAYBE),
        (400, InvalidRequestError, Executed.NO),
        (401, AuthenticationError, Executed.NO),
        (403, AuthenticationError, Executed.NO),
        (404, NotFoundError, Executed.NO),
        (405, InvalidRequestError, Executed.NO),
        (408, ServerError, Executed.MAYBE),
        (409, ConflictError, Executed.NO),
        (410, NotFoundError, Executed.NO),
        (422, InvalidRequestError, Executed.NO),
        (429, RateLimitedError, Executed.NO),
        (499, InvalidRequestError, Executed.NO),
        (500, ServerError, Executed.MAYBE),
        (502, ServerError, Executed.MAYBE),
        (503, ServerError, Executed.MAYBE),
        (599, ServerError, Executed.MAYBE),
        (799, ServerError, Executed.MAYBE),
    ],
)
def test_each_status_has_its_leaf(
    status_code: int, kind: type[StatusError], executed: Executed
) -> None:
    error = refusal(status_code)
    assert (type(error), error.status_code, error.executed) == (kind, status_code, executed)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"detail": "No such brand.", "title": "Invalid"}, "No such brand."),
        ({"message": "No such brand.", "error": "bad"}, "No such brand."),
        ({"detail": 7, "title": "Invalid"}, "Invalid"),
        ({"detail": "  ", "error": "bad"}, "bad"),
        ({"error": {"code": 7, "message": "No such brand."}}, "No such brand."),
        (
            {"detail": [{"loc": ["body", "name"], "msg": "too short"}, {"msg": "odd"}]},
            "too short; odd",
        ),
        ({"detail": "two\n lines\u0007"}, "two lines\u0007"),
        ({"detail": []}, "Unprocessable Entity"),
        ({}, "Unprocessable Entity"),
        (["no"], "Unprocessable Entity"),
        ("no", "Unprocessable Entity"),
    ],
)
def test_the_service_s_own_words_are_found(body: Any, sentence: str) -> None:
    error = refusal(422, json=body)
    assert error.message == sentence
    assert str(error) == f"The service returned 422: {sentence.removesuffix('.')}."


@pytest.mark.parametrize(
    ("status_code", "sentence"), [(502, "Bad Gateway"), (599, "Unknown status")]
)
def test_an_html_error_page_is_shown_by_its_status(status_code: int, sentence: str) -> None:
    error = refusal(status_code, html="<h1>Oh no</h1>")
    assert (error.message, error.body) == (sentence, "<h1>Oh no</h1>")


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        (
            {"errors": [{"path": "metadata.title", "message": "too long"}]},
            [("metadata.title", "too long")],
        ),
        ({"errors": [{"field": "name", "msg": "too short"}]}, [("name", "too short")]),
        (
            {"detail": [{"loc": ["body", "actions", 0, "url"], "msg": "odd"}]},
            [("actions.0.url", "odd")],
        ),
        ({"errors": [{"message": "odd"}, 7, None, {"path": "x"}, {"message": 3}]}, [("", "odd")]),
        ({"errors": {"name": ["odd"]}}, []),
        ({"errors": "odd"}, []),
    ],
)
def test_field_problems_are_found(body: Any, problems: list[tuple[str, str]]) -> None:
    expected = tuple(FieldProblem(path=path, message=message) for path, message in problems)
    assert refusal(422, json=body).problems == expected


@given(json_values)
def test_no_response_breaks_parsing(body: Any) -> None:
    error = refusal(422, content=json.dumps(body))
    assert 0 < len(error.message) <= 500


entries = st.lists(
    st.dictionaries(st.sampled_from(["path", "loc", "msg", "message"]), json_values), max_size=3
)


@given(st.sampled_from(["detail", "message", "title", "error", "errors"]), json_values | entries)
def test_nothing_under_the_usual_names_breaks_the_reading(name: str, value: Any) -> None:
    error = refusal(422, content=json.dumps({name: value}))
    assert 0 < len(error.message) <= 500
    assert all(len(problem.message) <= 500 for problem in error.problems)


def test_words_and_body_are_cut() -> None:
    error = refusal(500, json={"detail": "x" * 9000})
    assert (len(error.message), len(error.body)) == (500, 2000)


def test_a_key_that_the_service_repeats_is_masked() -> None:
    error = refusal(401, json={"detail": f"{KEY} is revoked", "errors": [{"message": KEY}]})
    assert error.message == "[API key] is revoked"
    assert KEY not in f"{error!r} {error} {error.body} {error.problems}"


@pytest.mark.parametrize("key", ["sk/live/012345", 'sk"live"012345'])
@pytest.mark.parametrize("slash", ["/", r"\/"])
def test_a_key_is_masked_however_json_writes_it(key: str, slash: str) -> None:
    body = json.dumps({"detail": f"{key} is revoked"}).replace("/", slash)
    client = client_answering(lambda request: httpx.Response(401, content=body), api_key=key)
    error = error_of(AuthenticationError, client.pages.get, "page_1")
    assert error.message == "[API key] is revoked"
    assert error.body == '{"detail": "[API key] is revoked"}'


@pytest.mark.parametrize("status_code", [429, 503])
def test_the_time_to_wait_is_reported(status_code: int) -> None:
    assert refusal(status_code, headers={"retry-after": "120"}).retry_after_s == 120
    assert refusal(status_code).retry_after_s is None
