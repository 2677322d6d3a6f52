"""The OpenAPI document and the page that shows it."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from dashboard.contract.webhooks import EventName
from tests.support.embedded_api_factories import PAGE_BODY

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
"""For trying; not of the spec."""


@pytest.fixture
def document(db: None) -> dict[str, object]:
    """The OpenAPI document as anybody reads it."""
    return dict(Client().get("/service/openapi.json").json())


def test_the_document_has_the_specs_nine_operations_and_one_for_trying(
    document: dict[str, dict[str, dict[str, dict[str, str]]]],
) -> None:
    found = {
        operation["operationId"]: f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert found == OPERATIONS | BESIDE


def test_every_reference_of_the_document_leads_somewhere(document: dict[str, object]) -> None:
    text = json.dumps(document)
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert named <= document["components"]["schemas"].keys()  # type: ignore[index]
    assert "Problem" in named


def test_each_event_of_the_spec_is_described_as_a_webhook(
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
    found = {
        (path, parameter["name"]): parameter.get("description", "")
        for path, methods in paths.items()  # type: ignore[attr-defined]
        for operation in methods.values()
        for parameter in operation["parameters"]
        if parameter["in"] == "query"
    }
    assert "Absent or blank matches everyone" in found["/v0/persons/search", "query"]
    assert all(found.values())


@pytest.mark.django_db
def test_the_page_shows_each_operation_without_scripts_or_other_hosts() -> None:
    answer = Client().get("/service/docs")
    page = answer.content.decode()
    assert answer.status_code == 200
    for name, where in (OPERATIONS | BESIDE).items():
        assert f'id="{name}"' in page
        assert where.split()[1] in page
    assert not re.search(r"<script|style=|\son\w+=|https?://", page)


CHOICES = (
    *("RFC 9457", "Keys are stored permanently", "above 200", "Every word must occur in"),
    *("Case and accents are ignored", "null gets none", "retried for a day"),
    *("6,000 calls per calendar minute", "429, with the seconds to wait", "308 digits"),
)


@pytest.mark.django_db
def test_choices_where_the_spec_is_silent_are_stated() -> None:
    page = " ".join(Client().get("/service/docs").content.decode().split()).lower()
    assert [choice for choice in CHOICES if choice.lower() not in page] == []
