"""Examples and curl commands for each operation and event, made from the sample data."""

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Any

from dashboard.contract.webhooks import EventName
from dashboard.json_api.description import AS_JSON, add_curl, add_example
from dashboard.outgoing_webhooks import signed_headers

SIGNED_AT = datetime(2026, 11, 25, 8, 30, tzinfo=UTC)
EVENT_ID = "evt_01kektgb7efjc8q56d0cxzed3d"
SECRET = "whsec_ZXhhbXBsZS1zZWNyZXQtb2YtdGhlLWRvY3VtZW50"  # noqa: S105  # signs the examples alone
NOTE = f"""
In the `curl` lines, `$SERVICE` is the URL of this service, `$KEY` a key, and `$RECEIVER` the URL of
a receiver of yours. The examples of events are signed with `{SECRET}`, at a time that has passed.
"""


@cache
def load_examples() -> dict[str, Any]:
    """Return the ids in the examples, and the bodies of each operation."""
    path = Path(__file__).with_name("examples.json")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def add_examples(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            _add_to_operation(operation, method.upper(), path)
    for name, methods in document["webhooks"].items():
        operation = methods["post"]
        payload = example_event(EventName(name))
        operation["requestBody"]["content"]["application/json"]["example"] = payload
        body = json.dumps(payload, separators=(",", ":"))
        headers = signed_headers(SECRET, EVENT_ID, SIGNED_AT, body.encode())
        options = [f"-H {quote(f'{key}: {value}')}" for key, value in headers.items()]
        add_curl(operation, AS_JSON, *options, f"-d {quote(body)}", '"$RECEIVER"')


def example_event(name: EventName) -> dict[str, Any]:
    examples = load_examples()
    ids = examples["ids"]
    version = examples["operations"]["publishAudienceVersion"]["response"]
    data = {"tenantId": version["tenantId"], "pageId": ids["page_id"]}
    data |= {"audienceId": ids["audience_id"]}
    if name.startswith("page."):
        data |= {"versionId": ids["version_id"], "versionNumber": version["versionNumber"]}
    else:
        sent = examples["operations"]["sendFormEvent"]["body"]
        data |= {"formId": sent["formId"], "submissionId": sent["submissionId"]}
    timestamp = SIGNED_AT.isoformat().replace("+00:00", "Z")
    return {"type": name.value, "timestamp": timestamp, "id": EVENT_ID, "data": data}


def _add_to_operation(operation: dict[str, Any], method: str, path: str) -> None:
    examples = load_examples()
    example = examples["operations"][operation["operationId"]]
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            parameter["example"] = examples["ids"][parameter["name"]]
    example = {"response": example_event(EventName.FORM_SUBMITTED), **example}
    url = "$SERVICE" + path.format(**examples["ids"])
    if query := example.get("query"):
        url = f"{url}?{query}"
    options = [] if method in ("GET", "POST") else [f"-X {method}"]
    add_example(operation, example, url, *options, '-H "x-api-key: $KEY"')
