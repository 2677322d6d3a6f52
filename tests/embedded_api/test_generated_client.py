"""The OpenAPI document as others use it: in a validator, and in a generated client."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from openapi_spec_validator import OpenAPIV31SpecValidator

from dashboard.embedded_api import keys
from dashboard.embedded_api.api import openapi_document
from tests.support.embedded_api_factories import (
    PAGE_BODY,
    make_conversation,
    make_person,
    make_subscription,
    make_version,
)

PACKAGE = "pressroom_client"
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(openapi_document()))
    (folder / "config.yaml").write_text("post_hooks: []\n")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"]
    files = ["--path=openapi.json", "--config=config.yaml", f"--output-path={PACKAGE}"]
    done = subprocess.run(
        [*command, "--meta=none", *files], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
def call(generated: None, db: None) -> Iterator[Call]:
    client = importlib.import_module(f"{PACKAGE}.client").AuthenticatedClient(
        base_url="http://testserver",
        token=keys.internal_key(),
        prefix="",
        auth_header_name="x-api-key",
        raise_on_unexpected_status=True,
        httpx_args={"transport": httpx.WSGITransport(get_wsgi_application())},
    )

    def calling(operation: str, *ids: str, **arguments: Any) -> Any:
        module = importlib.import_module(f"{PACKAGE}.api.{operation}")
        return module.sync(*ids, client=client, **arguments)

    # The end of a request would close the connection, although the test is in a transaction.
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield calling
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


def model(name: str, data: dict[str, Any]) -> Any:
    return getattr(importlib.import_module(f"{PACKAGE}.models"), name).from_dict(data)


@pytest.mark.django_db
def test_the_document_is_valid_openapi() -> None:
    document = Client().get("/service/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert not [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]


def test_a_generated_client_creates_finds_and_reads_a_page(call: Call) -> None:
    created = call("pages.create_page", body=model("NewPage", PAGE_BODY))
    listed = call("pages.list_pages", limit=1)
    assert [page.page_id for page in listed.items] == [created.page_id]
    assert call("pages.get_page", created.page_id).page_context == PAGE_BODY["pageContext"]


def test_a_generated_client_reads_and_publishes(call: Call) -> None:
    version = make_version()
    make_conversation(version.audience)
    at = version.audience.page_id, version.audience_id
    (audience,) = call("audiences.list_audiences", at[0]).items
    assert audience.latest_version.version_id == version.id
    assert call("audiences.get_audience_messages", *at).messages[0].content == "Hello"
    body = model("PublishBody", {"operationKey": "from-a-generated-client"})
    published = call("audiences.publish_audience_version", *at, version.id, body=body)
    assert published.version_number == version.version_number
    assert published.status in {"queued", "processing"}


def test_a_generated_client_finds_people_and_changes_a_subscription(call: Call) -> None:
    make_person("Ada Lovelace")
    subscription = make_subscription()
    assert [person.name for person in call("people.list_people").items] == ["Ada Lovelace"]
    assert call("people.search_people", query="ada").total_count == 1
    changed = call(
        "webhook_subscriptions.update_webhook_subscription",
        subscription.id,
        body=model("SubscriptionChange", {"active": False}),
    )
    assert changed.active is False


def test_a_generated_client_reads_a_problem_and_its_fields(call: Call) -> None:
    missing = call("pages.get_page", "no-such-page")
    assert (type(missing).__name__, missing.status) == ("Problem", 404)
    refused = call("pages.create_page", body=model("NewPage", PAGE_BODY | {"name": ""}))
    assert [error.path for error in refused.errors] == ["name"]
