"""A NUL in a URL matches nothing: PostgreSQL rejects it even in queries."""

import pytest
from django.test import Client

from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.one_audience import serve

pytestmark = pytest.mark.django_db

AUDIENCE = "/pages/page_1/audiences/aud_1/"


@pytest.mark.parametrize(
    "address",
    [
        "/pages/%00/",
        "/pages/page_1/audiences/%00/",
        f"{AUDIENCE}versions/%2500/publish/",
        f"{AUDIENCE}versions/ver_2/publish/progress/?operation=%00",
        f"{AUDIENCE}versions/compare/?from=%00",
        "/activity/%00/",
        "/webhooks/%00/",
    ],
)
def test_an_id_with_a_nul_is_not_found(
    address: str, fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience())
    assert as_publisher.get(address).status_code == 404


@pytest.mark.parametrize(
    "address",
    [f"{AUDIENCE}versions/?before=%00&was=%00", "/activity/?after=%00&target=%00&actor=%00"],
)
def test_a_nul_cursor_starts_at_the_newest(
    address: str, fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience())
    assert as_publisher.get(address).status_code == 200
