"""Traces as an OpenTelemetry collector receives them from a real server."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import wire
from tests.support.dashboards import Dashboard, logged_in, over_http
from tests.support.processes import free_port
from tests.support.publishing_service import PublishingService

if not os.environ.get("REQUIRE_TELEMETRY"):
    pytest.importorskip(
        "opentelemetry", reason="NO OPENTELEMETRY: install it with uv sync --extra telemetry"
    )

from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
AUDIENCE = "/pages/page_1/audiences/aud_1/"


def flat(attributes: Any) -> dict[str, Any]:
    def value(attribute: KeyValue) -> Any:
        return getattr(attribute.value, attribute.value.WhichOneof("value") or "string_value")

    return {attribute.key: value(attribute) for attribute in attributes}


@dataclass
class ExportedSpans:
    """What the collector and the service received, and the server's log."""

    bodies: list[bytes] = field(default_factory=list)
    calls: list[httpx.Request] = field(default_factory=list)
    log: str = ""

    def collect(self, request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/v1/traces"
        assert request.headers["content-type"] == "application/x-protobuf"
        self.bodies.append(request.content)
        return httpx.Response(200)

    def serve(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(request)
        if "/persons" in request.url.path:
            return httpx.Response(200, json=wire.envelope(wire.person(name="Ada Lovelace")))
        if "/gone" in request.url.path:
            return httpx.Response(404, json={"detail": "No page of Lovelace's"})
        return PublishingService()(request)

    @property
    def resources(self) -> list[dict[str, Any]]:
        read = [ExportTraceServiceRequest.FromString(body).resource_spans for body in self.bodies]
        return [flat(span.resource.attributes) for spans in read for span in spans]

    @property
    def spans(self) -> list[Span]:
        read = [ExportTraceServiceRequest.FromString(body).resource_spans for body in self.bodies]
        return [
            span
            for resources in read
            for resource in resources
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def request(self, path: str) -> Span:
        (matching,) = [
            span
            for span in self.spans
            if span.kind == Span.SPAN_KIND_SERVER and flat(span.attributes)["url.path"] == path
        ]
        return matching

    def calls_of(self, request: Span) -> list[Span]:
        return [span for span in self.spans if span.parent_span_id == request.span_id]

    def lines(self, path: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]
        (request_id,) = [
            line["request_id"]
            for line in lines
            if line["logger"] == "dashboard.requests" and line["path"] == path
        ]
        return [line for line in lines if line.get("request_id") == request_id]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> ExportedSpans:
    """Data from a server that got some requests and stopped before its next scheduled export."""
    exported, folder = ExportedSpans(), tmp_path_factory.mktemp("traces")
    with over_http(exported.serve) as service_url, over_http(exported.collect) as collector:
        dashboard = Dashboard(folder, service_url)
        dashboard.env |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
            "OTEL_BSP_SCHEDULE_DELAY": "600000",
            "LOG_FORMAT": "json",
        }
        dashboard.prepare()
        with dashboard.started() as running, logged_in(running) as browser:
            browser.get("/people/?q=lovelace", headers=TRACEPARENT)
            browser.get(AUDIENCE)
            browser.get("/pages/gone/")
            browser.get("/people/export.csv?q=lovelace")
            browser.request("BREW", "/nowhere/")
            browser.post("/hooks/known-to-few")
            browser.get("/health/live")
            assert exported.bodies == []
            assert running.stop() == 0
        exported.log = running.log.read_text()
    return exported


def test_a_request_is_a_span_of_its_caller(exported: ExportedSpans) -> None:
    span = exported.request("/people/")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, CALLER)
    assert span.name == "GET /people/"
    about = flat(span.attributes)
    assert about.pop("pressroom.request_id") == exported.lines("/people/")[0]["request_id"]
    assert about == {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "http.route": "/people/",
        "pressroom.view": "people-list",
        "url.path": "/people/",
        "url.scheme": "http",
        "user.name": "root",
    }


def test_a_span_carries_its_route(exported: ExportedSpans) -> None:
    span = exported.request(AUDIENCE)
    assert span.name == "GET /pages/<id:page_id>/audiences/<id:audience_id>/"
    assert span.parent_span_id == b""
    assert exported.request("/nowhere/").name == "HTTP"


def test_a_call_is_a_child_span(exported: ExportedSpans) -> None:
    (call,) = exported.calls_of(exported.request("/people/"))
    (sent,) = [call for call in exported.calls if call.url.path == "/v0/persons/search"][:1]
    assert sent.headers["traceparent"] == f"00-{TRACE}-{call.span_id.hex()}-01"
    assert (call.kind, call.name) == (Span.SPAN_KIND_CLIENT, "Search people")
    assert flat(call.attributes) == {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "pressroom.attempts": 1,
        "pressroom.operation": "Search people",
        "pressroom.outcome": "answered",
        "server.address": "127.0.0.1",
        "server.port": sent.url.port or int(sent.headers["host"].rpartition(":")[2]),
        "url.path": "/v0/persons/search",
    }


def test_parallel_calls_of_a_request_have_spans(exported: ExportedSpans) -> None:
    calls = exported.calls_of(exported.request(AUDIENCE))
    assert len(calls) > 1
    sent = {call.headers["traceparent"].split("-")[2] for call in exported.calls}
    assert {call.span_id.hex() for call in calls} < sent


def test_calls_of_an_export_are_in_its_span(exported: ExportedSpans) -> None:
    request = exported.request("/people/export.csv")
    calls = exported.calls_of(request)
    assert calls
    assert all(call.end_time_unix_nano <= request.end_time_unix_nano for call in calls)


def test_a_failure_is_reported_by_its_kind(exported: ExportedSpans) -> None:
    calls = exported.calls_of(exported.request("/pages/gone/"))
    (call,) = [call for call in calls if call.name == "Get page"]
    about = flat(call.attributes)
    assert (call.status.code, about["error.type"]) == (Status.STATUS_CODE_ERROR, "404")
    assert (about["pressroom.outcome"], call.status.message) == ("refused", "")


def test_lines_in_the_log_name_their_span(exported: ExportedSpans) -> None:
    request = exported.request("/people/")
    (call,) = exported.calls_of(request)
    ids = {
        (line["logger"], line["trace_id"], line["span_id"]) for line in exported.lines("/people/")
    }
    assert ids == {
        ("dashboard.requests", TRACE, request.span_id.hex()),
        ("dashboard.client", TRACE, call.span_id.hex()),
    }


def test_spans_hold_no_search_person_or_key(exported: ExportedSpans) -> None:
    assert exported.spans
    # As JSON, because the raw bytes of ids and times contain any three characters by chance.
    read = [ExportTraceServiceRequest.FromString(body) for body in exported.bodies]
    sent = "".join(map(MessageToJson, read)).lower()
    assert "/people/" in sent
    secrets = ("lovelace", "a-key-of-the-tests", "?q=", "known-to-few")
    assert [word for word in secrets if word in sent] == []


def test_what_probes_ask_leaves_no_span(exported: ExportedSpans) -> None:
    paths = {flat(span.attributes)["url.path"] for span in exported.spans}
    assert "/nowhere/" in paths
    assert "/health/live" not in paths


def test_the_dashboard_is_known_by_name_and_environment(exported: ExportedSpans) -> None:
    for about in exported.resources:
        expected = about["service.name"], about["deployment.environment.name"]
        assert expected == ("pressroom", "Production")


def test_a_missing_collector_breaks_no_page_or_stop(tmp_path: Path) -> None:
    with over_http(ExportedSpans().serve) as service_url:
        dashboard = Dashboard(tmp_path, service_url)
        dashboard.env |= {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}",
            "OTEL_BSP_SCHEDULE_DELAY": "10",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "1",  # Otherwise it retries for ten seconds.
        }
        dashboard.prepare()
        with dashboard.started() as running, logged_in(running) as browser:
            answers = [browser.get("/people/") for _ in range(5)]
            code = running.stop()
        lines = running.log.read_text().splitlines()
    message = {json.loads(line)["logger"] for line in lines if line.startswith("{")}
    assert [answer.status_code for answer in answers] == [200] * 5
    assert code == 0
    assert [logger for logger in message if logger.startswith("opentelemetry.exporter")]
