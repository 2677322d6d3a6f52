"""The fault matrix, what happens on the wire: every operation, each page on it, every fault."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.faults.cells import read, write
from tests.faults.kinds import Kind
from tests.faults.pages import READS, WRITES, Reads, Writes
from tests.faults.service import KEY, broken
from tests.faults.wire import FAULTS, Fault
from tests.support.small_server import answer, says, serving

Record = Callable[[str, object], None]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("shows", "fault"),
    [
        pytest.param(shows, fault, id=f"{shows.operation}-{shows.address}-{fault.name}")
        for shows in READS
        for fault in FAULTS
    ],
)
def test_a_page_says_what_failed_and_what_to_do(
    operator: Client, shows: Reads, fault: Fault, settings: Any, record_property: Record
) -> None:
    record_property("Fault matrix", 1)
    settings.SERVICE_TIMEOUT_S = fault.limit_s
    with fault.listening(shows.operation) as broken.url:
        read(operator, shows, fault.kind, fault.said)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("form", "fault"),
    [
        pytest.param(form, fault, id=f"{form.operation}-{fault.name}")
        for form in WRITES
        for fault in FAULTS
    ],
)
def test_a_change_ends_as_the_truth_is(
    operator: Client, form: Writes, fault: Fault, settings: Any, record_property: Record
) -> None:
    record_property("Fault matrix", 1)
    settings.SERVICE_TIMEOUT_S = fault.limit_s
    with fault.listening(form.operation) as broken.url:
        write(operator, form, fault.kind, fault.said)


@pytest.mark.parametrize("shows", READS, ids=lambda shows: f"{shows.operation}-{shows.address}")
@pytest.mark.parametrize("where", ["the same host", "another host"])
def test_a_redirect_takes_the_key_nowhere(
    operator: Client, shows: Reads, where: str, record_property: Record
) -> None:
    record_property("Fault matrix", 1)
    with serving(says(answer(b"{}"))) as other:
        there = f"Location: {other.url}/v0" if where == "another host" else "Location: /v0/persons"
        with serving(says(answer(b"", there, status="307 Temporary Redirect"))) as server:
            broken.url = server.url
            read(operator, shows, Kind.FAULT, "returned 307")
            assert len(server.requests) == len(broken.sent)
        assert other.connections == 0
    assert KEY.encode() in server.requests[0]
