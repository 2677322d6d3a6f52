"""Responses are compressed by Django's GZipMiddleware, which pads them against BREACH."""

import gzip

import pytest
from django.test import Client

from tests.support import wire
from tests.support.fake_service import FakeService

GZIP = {"Accept-Encoding": "br, gzip"}


@pytest.fixture(autouse=True)
def _people(fake_service: FakeService) -> None:
    fake_service.answers(
        200, json=wire.envelope(*(wire.person(personId=str(n)) for n in range(50)))
    )


def test_a_page_is_compressed_for_clients_that_accept_it(as_viewer: Client) -> None:
    plain = as_viewer.get("/people/")
    compressed = as_viewer.get("/people/", headers=GZIP)
    assert "Content-Encoding" not in plain
    assert compressed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in compressed["Vary"]
    assert len(compressed.content) * 4 < len(plain.content)
    assert "Ada Lovelace" in gzip.decompress(compressed.content).decode()


def test_a_partial_is_compressed(as_viewer: Client) -> None:
    headers = GZIP | {"HX-Request": "true", "HX-Target": "results"}
    assert as_viewer.get("/people/", headers=headers)["Content-Encoding"] == "gzip"


def test_an_export_is_compressed_while_it_is_sent(as_viewer: Client) -> None:
    plain = as_viewer.get("/people/export.csv").getvalue()
    compressed = as_viewer.get("/people/export.csv", headers=GZIP)
    assert compressed["Content-Encoding"] == "gzip"
    assert gzip.decompress(compressed.getvalue()) == plain


def test_a_short_response_is_not_compressed(client: Client) -> None:
    assert "Content-Encoding" not in client.get("/health/live", headers=GZIP)


def test_the_length_of_a_response_varies_at_random(as_viewer: Client) -> None:
    responses = [as_viewer.get("/people/", headers=GZIP) for _ in range(20)]
    assert len({len(response.content) for response in responses}) > 5
