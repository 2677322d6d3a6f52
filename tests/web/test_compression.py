"""What is sent compressed."""

import gzip

import pytest
from django.test import Client

from tests import wire
from tests.far_end import FarEnd

TAKES_GZIP = {"Accept-Encoding": "br, gzip"}


@pytest.fixture(autouse=True)
def _people(far_end: FarEnd) -> None:
    far_end.answers(200, json=wire.envelope(*(wire.person(personId=str(n)) for n in range(50))))


def test_a_page_comes_compressed_to_whoever_takes_it_so(as_viewer: Client) -> None:
    whole = as_viewer.get("/people/")
    small = as_viewer.get("/people/", headers=TAKES_GZIP)
    assert "Content-Encoding" not in whole
    assert small["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in small["Vary"]
    assert len(small.content) * 4 < len(whole.content)
    assert "Ada Lovelace" in gzip.decompress(small.content).decode()


def test_a_part_of_a_page_comes_compressed_too(as_viewer: Client) -> None:
    headers = TAKES_GZIP | {"HX-Request": "true", "HX-Target": "results"}
    assert as_viewer.get("/people/", headers=headers)["Content-Encoding"] == "gzip"


def test_a_file_comes_as_it_is(as_viewer: Client) -> None:
    assert "Content-Encoding" not in as_viewer.get("/people/export.csv", headers=TAKES_GZIP)
