"""A user with all permissions, and a service with one failing operation."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from dashboard.service.client import close_publishing_client
from tests.conftest import logged_in, person
from tests.faults.cells import LIMIT_S, remember_everything
from tests.faults.service import broken


@pytest.fixture
def operator(db: None, settings: Any) -> Iterator[Client]:
    """The user's browser."""
    settings.SERVICE_TRANSPORT = "tests.faults.service.FaultTransport"
    settings.SERVICE_TIMEOUT_S = LIMIT_S
    broken.__init__()  # type: ignore[misc]
    remember_everything()
    yield logged_in(person("everyone", "Publishers", "Administrators"))
    close_publishing_client()
