"""The fault matrix, what an answer holds: every operation, each page on it, every fault."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests.faults.cells import read, write
from tests.faults.pages import READS, WRITES, Reads, Writes
from tests.faults.responses import FAULTS, Fault
from tests.faults.service import broken

Record = Callable[[str, object], None]


def befalls(fault: Fault, operation: str) -> bool:
    return not fault.of or operation in fault.of


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("shows", "fault"),
    [
        pytest.param(shows, fault, id=f"{shows.operation}-{shows.address}-{fault.name}")
        for shows in READS
        for fault in FAULTS
        if befalls(fault, shows.operation)
    ],
)
def test_a_page_says_what_failed_and_what_to_do(
    operator: Client, shows: Reads, fault: Fault, record_property: Record
) -> None:
    record_property("Fault matrix", 1)
    broken.answer = lambda request: fault.make(shows.operation, request)
    read(operator, shows, fault.kind, fault.said)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("form", "fault"),
    [
        pytest.param(form, fault, id=f"{form.operation}-{fault.name}")
        for form in WRITES
        for fault in FAULTS
        if befalls(fault, form.operation)
    ],
)
def test_a_change_ends_as_the_truth_is(
    operator: Client, form: Writes, fault: Fault, record_property: Record
) -> None:
    record_property("Fault matrix", 1)
    broken.answer = lambda request: fault.make(form.operation, request)
    write(operator, form, fault.kind, fault.said)
