"""A page whose creation had no response is found by a check."""

import httpx
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.ledger.models.operations import Outcome
from dashboard.operations.checking import check_outcome
from dashboard.service.reading import read_pages
from tests.operations.page_creation import IDENTITY, create_page
from tests.support import wire
from tests.support.fake_service import FakeService

pytestmark = pytest.mark.django_db


def test_a_page_missing_from_an_older_list_is_found(fake_service: FakeService, paula: User) -> None:
    operations = []

    def respond(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            raise httpx.ReadTimeout("no response", request=request)
        if not operations:
            operations.append(create_page(paula))
        created = wire.page(**IDENTITY, createdAt=timezone.now().isoformat())
        return httpx.Response(200, json=wire.envelope(created))

    fake_service.answer = respond
    read_pages()
    assert check_outcome(operations[0]).outcome == Outcome.ACCEPTED
