"""The OpenAPI document and the page that shows it."""

import json
import re
import shlex
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator
from standardwebhooks import Webhook

from dashboard.contract.webhooks import EventName
from dashboard.embedded_api.examples import SECRET, load_examples
from dashboard.embedded_api.keys import internal_key
from dashboard.json_api.cursors import NEWEST_FIRST
from tests.support.embedded_api_factories import (
    PAGE_BODY,
    make_audience,
    make_conversation,
    make_page,
    make_person,
    make_subscription,
    make_version,
)

OPERATIONS = {
    "listPages": "GET /v0/pages",
    "createPage": "POST /v0/pages",
    "getPage": "GET /v0/pages/{page_id}",
    "listAudiences": "GET /v0/pages/{page_id}/audiences",
    "publishAudienceVersion": (
        "POST /v0/pages/{page_id}/audiences/{audience_id}/versions/{version_id}/publish"
    ),
    "getAudienceMessages": "GET /v0/pages/{page_id}/audiences/{audience_id}/messages",
    "listPeople": "GET /v0/persons",
    "searchPeople": "GET /v0/persons/search",
    "updateWebhookSubscription": "PATCH /v0/webhook_subscriptions/{subscription_id}",
}
BESIDE = {"sendFormEvent": "POST /service/events/form"}
"""Paths for trying things out, which the spec lacks."""


@pytest.fixture
def document(db: None) -> dict[str, object]:
    return dict(Client().get("/service/openapi.json").json())


def test_the_document_has_the_spec_s_nine_operations(
    document: dict[str, dict[str, dict[str, dict[str, str]]]],
) -> None:
    matching = {
        operation["operationId"]: f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert matching == OPERATIONS | BESIDE


def test_every_reference_of_the_document_leads_somewhere(document: dict[str, object]) -> None:
    text = json.dumps(document)
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert named <= document["components"]["schemas"].keys()  # type: ignore[index]
    assert "Problem" in named


def test_the_document_describes_each_event_as_a_webhook(
    document: dict[str, dict[str, Any]],
) -> None:
    assert document["webhooks"].keys() == set(EventName)
    for methods in document["webhooks"].values():
        content = methods["post"]["requestBody"]["content"]["application/json"]
        schema = content["schema"]["$ref"].rpartition("/")[2]
        assert document["components"]["schemas"][schema]["required"]


def test_fields_are_named_as_on_the_wire(document: dict[str, object]) -> None:
    schemas = document["components"]["schemas"]  # type: ignore[index]
    assert set(PAGE_BODY) <= schemas["NewPage"]["properties"].keys()
    assert schemas["NewPage"]["additionalProperties"] is False
    assert "pageContext" in schemas["Page"]["required"]
    assert not [name for name in schemas["Page"]["properties"] if "_" in name]


def test_every_parameter_of_a_query_is_described(document: dict[str, object]) -> None:
    paths = document["paths"]
    matching = {
        (path, parameter["name"]): parameter.get("description", "")
        for path, methods in paths.items()  # type: ignore[attr-defined]
        for operation in methods.values()
        for parameter in operation["parameters"]
        if parameter["in"] == "query"
    }
    assert "Absent or blank matches everyone" in matching["/v0/persons/search", "query"]
    assert all(matching.values())


@pytest.mark.django_db
def test_the_api_page_needs_no_scripts_or_hosts() -> None:
    answer = Client().get("/service/docs")
    page = answer.text
    assert answer.status_code == 200
    for name, where in (OPERATIONS | BESIDE).items():
        assert f'id="{name}"' in page
        assert where.split()[1] in page
    markup = re.sub(r"(?s)<pre.*?</pre>", "", page)  # Examples have URLs.
    assert not re.search(r"<script|style=|\son\w+=|https?://", markup)


@pytest.fixture
def examples_exist(db: None) -> None:
    ids = load_examples()["ids"]
    page = make_page(id=ids["page_id"])
    audience = make_audience(page=page, id=ids["audience_id"])
    make_version(audience, 2, id=ids["version_id"])
    make_conversation(audience)
    make_subscription(id=ids["subscription_id"])
    make_person("Aisha Fulbright")


def test_each_operation_has_a_curl_line_that_works(
    document: dict[str, dict[str, Any]], examples_exist: None
) -> None:
    for operation in (
        value for methods in document["paths"].values() for value in methods.values()
    ):
        (sample,) = operation["x-codeSamples"]
        # Variables of the shell.
        line = sample["source"].replace("$SERVICE", "").replace("$KEY", internal_key())
        parser = ArgumentParser()
        parser.add_argument("-X", dest="method")
        parser.add_argument("-H", dest="headers", action="append")
        parser.add_argument("-d", dest="body", default="")
        parser.add_argument("url")
        command = parser.parse_args(shlex.split(line)[1:])
        headers = dict(header.split(": ", 1) for header in command.headers)
        response = Client().generic(
            command.method or ("POST" if command.body else "GET"),
            command.url,
            command.body,
            content_type=headers.pop("content-type", ""),
            headers=headers,
        )
        assert str(response.status_code) == next(iter(operation["responses"])), response.content


def test_each_example_is_as_its_schema_says(document: dict[str, Any]) -> None:
    everything = {"paths": document["paths"], "webhooks": document["webhooks"]}
    contents = [item for item in objects_in(everything) if "schema" in item and "example" in item]
    bodies = [content for content in contents if "in" not in content]
    assert len(bodies) == 10 + 4 + 6  # responses, requests, events
    for content in contents:
        schema = content["schema"] | {"components": document["components"]}
        Draft202012Validator(schema).validate(content["example"])


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from objects_in(inner)


def test_the_curl_line_of_an_event_is_signed(document: dict[str, Any]) -> None:
    for methods in document["webhooks"].values():
        operation = methods["post"]
        assert operation["security"] == []
        words = shlex.split(operation["x-codeSamples"][0]["source"])
        headers = dict(word.split(": ", 1) for word in words if ": " in word and word[0] != "{")
        body = words[words.index("-d") + 1]
        example = operation["requestBody"]["content"]["application/json"]["example"]
        assert json.loads(body) == example
        at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
        expected = Webhook(SECRET).sign(headers["webhook-id"], at, body)
        assert headers["webhook-signature"] == expected


def test_texts_and_cursors_that_are_refused_match_no_pattern(document: dict[str, Any]) -> None:
    parameters = {
        parameter["name"]: parameter["schema"]["pattern"]
        for parameter in document["paths"]["/v0/persons/search"]["get"]["parameters"]
        if "pattern" in parameter["schema"]
    }
    cursor = NEWEST_FIRST.cursor_for(make_page())
    assert re.search(parameters["cursor"], cursor)
    assert re.search(parameters["cursor"], "")
    for wrong in ("x", f"{cursor}=", f"{cursor[:-1]}", "a\0b"):
        assert not re.search(parameters["cursor"], wrong)
    assert re.search(parameters["query"], " ada  lovelace ")
    assert re.search(parameters["query"], "a " * 100)
    for wrong in ("a " * 101, "a\0b"):
        assert not re.search(parameters["query"], wrong)
    new_page = document["components"]["schemas"]["NewPage"]["properties"]
    assert not re.search(new_page["name"]["pattern"], "a\0b")


CHOICES = (
    *("RFC 9457", "Keys are stored permanently", "above 200", "Every word must occur in"),
    *("Case and accents are ignored", "null gets none", "retried for a day"),
    *("6,000 calls per calendar minute", "429, with the seconds to wait", "308 digits"),
)


@pytest.mark.django_db
def test_choices_where_the_spec_is_silent_are_stated() -> None:
    page = " ".join(Client().get("/service/docs").text.split()).lower()
    assert [choice for choice in CHOICES if choice.lower() not in page] == []
