"""The fault matrix for the network: every operation, each of its pages, every fault."""

from collections.abc import Callable

import pytest
from django.test import Client, override_settings

from tests.faults.cells import alike, faults_of, meet, read, undone
from tests.faults.kinds import Kind
from tests.faults.pages import READS, WRITES, Reads, Writes
from tests.faults.service import KEY, broken
from tests.faults.wire import FAULTS
from tests.support.small_server import answer, says, serving

Record = Callable[[str, object], None]


@pytest.mark.parametrize("page", [*READS, *WRITES], ids=str)
def test_a_page_says_what_failed_and_a_change_how_it_ended(
    operator: Client,
    page: Reads | Writes,
    pytestconfig: pytest.Config,
    subtests: pytest.Subtests,
    record_property: Record,
) -> None:
    cells = [(item, fault) for item in alike(page) for fault in FAULTS]
    faults = faults_of(page, cells, pytestconfig)
    record_property("Fault matrix", len(faults))
    for fault in faults:
        with (
            subtests.test(fault=fault.name),
            override_settings(SERVICE_TIMEOUT_S=fault.limit_s),
            undone(),
            fault.listening(page.operation) as broken.url,
        ):
            meet(operator, page, fault.kind, fault.sentence)


@pytest.mark.matrix
@pytest.mark.parametrize("shows", READS, ids=str)
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
