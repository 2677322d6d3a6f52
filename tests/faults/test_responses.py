"""The fault matrix for responses: every operation, each of its pages, every fault."""

from collections.abc import Callable
from functools import partial

import pytest
from django.test import Client

from tests.faults.cells import alike, faults_of, meet, undone
from tests.faults.pages import READS, WRITES, Reads, Writes
from tests.faults.responses import FAULTS, LARGE_FAULTS
from tests.faults.service import broken

Record = Callable[[str, object], None]


@pytest.mark.parametrize("page", [*READS, *WRITES], ids=str)
def test_a_page_says_what_failed_and_a_change_how_it_ended(
    operator: Client,
    page: Reads | Writes,
    pytestconfig: pytest.Config,
    subtests: pytest.Subtests,
    record_property: Record,
) -> None:
    all_faults = FAULTS + (LARGE_FAULTS if pytestconfig.getoption("exhaustive") else [])
    cells = [
        (item, fault)
        for item in alike(page)
        for fault in all_faults
        if not fault.of or item.operation in fault.of
    ]
    faults = faults_of(page, cells, pytestconfig)
    record_property("Fault matrix", len(faults))
    for fault in faults:
        broken.answer = partial(fault.make, page.operation)
        with subtests.test(fault=fault.name), undone():
            meet(operator, page, fault.kind, fault.sentence)
