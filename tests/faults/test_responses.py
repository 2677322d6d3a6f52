"""The fault matrix, what an answer holds: every operation, each page on it, every fault."""

from collections.abc import Callable
from functools import partial

import pytest
from django.test import Client

from tests.faults.cells import Page, faults_of, read, undone, write
from tests.faults.pages import READS, WRITES, Reads, Writes
from tests.faults.responses import FAULTS, LARGE_FAULTS, Fault
from tests.faults.service import broken

Record = Callable[[str, object], None]


def befalls(fault: Fault, operation: str) -> bool:
    return not fault.of or operation in fault.of


def cells(pages: list[Page], config: pytest.Config) -> list[tuple[Page, Fault]]:
    faults = FAULTS + (LARGE_FAULTS if config.getoption("exhaustive") else [])
    return [(page, fault) for page in pages for fault in faults if befalls(fault, page.operation)]


@pytest.mark.parametrize("shows", READS, ids=str)
def test_a_page_says_what_failed_and_what_to_do(
    operator: Client,
    shows: Reads,
    pytestconfig: pytest.Config,
    subtests: pytest.Subtests,
    record_property: Record,
) -> None:
    faults = faults_of(shows, cells(READS, pytestconfig), pytestconfig)
    record_property("Fault matrix", len(faults))
    for fault in faults:
        broken.answer = partial(fault.make, shows.operation)
        with subtests.test(fault=fault.name), undone():
            read(operator, shows, fault.kind, fault.said)


@pytest.mark.parametrize("form", WRITES, ids=str)
def test_a_change_ends_as_the_truth_is(
    operator: Client,
    form: Writes,
    pytestconfig: pytest.Config,
    subtests: pytest.Subtests,
    record_property: Record,
) -> None:
    faults = faults_of(form, cells(WRITES, pytestconfig), pytestconfig)
    record_property("Fault matrix", len(faults))
    for fault in faults:
        broken.answer = partial(fault.make, form.operation)
        with subtests.test(fault=fault.name), undone():
            write(operator, form, fault.kind, fault.said)
