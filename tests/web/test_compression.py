"""What is sent compressed."""

import gzip
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from zstandard import ZstdDecompressor

from dashboard.web.middleware import CompressedPages
from tests import wire
from tests.far_end import FarEnd

TAKES_GZIP = {"Accept-Encoding": "br, gzip"}
TAKES_ZSTANDARD = {"Accept-Encoding": "gzip, deflate, br, zstd"}


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


def test_a_browser_that_takes_zstandard_is_sent_that(as_viewer: Client) -> None:
    whole = as_viewer.get("/people/")
    small = as_viewer.get("/people/", headers=TAKES_ZSTANDARD)
    assert small["Content-Encoding"] == "zstd"
    assert "Accept-Encoding" in small["Vary"]
    assert int(small["Content-Length"]) == len(small.content) < len(whole.content) / 4
    assert "Ada Lovelace" in ZstdDecompressor().decompress(small.content).decode()


@pytest.mark.parametrize("never", ["zstd;q=0", "zstd; q=0.0, br", "br, ZSTD ;q=0"])
def test_zstandard_is_not_sent_to_whoever_refuses_it(as_viewer: Client, never: str) -> None:
    answer = as_viewer.get("/people/", headers={"Accept-Encoding": f"gzip, {never}"})
    assert answer["Content-Encoding"] == "gzip"


@pytest.mark.parametrize("often", ["zstd", "zstd;q=0.5", "zstd;q=1.0, gzip"])
def test_any_other_weight_takes_zstandard(as_viewer: Client, often: str) -> None:
    answer = as_viewer.get("/people/", headers={"Accept-Encoding": often})
    assert answer["Content-Encoding"] == "zstd"


def test_pages_compressed_at_the_same_moment_are_each_their_own(rf: RequestFactory) -> None:
    pages = CompressedPages(lambda request: HttpResponse(f"{request.path} is here. " * 5_000))

    def unpacked(path: str) -> str:
        small = pages(rf.get(path, headers=TAKES_ZSTANDARD))
        assert isinstance(small, HttpResponse)
        return ZstdDecompressor().decompress(small.content).decode()

    paths = [f"/{number}" for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        for path, page in zip(paths, threads.map(unpacked, paths), strict=True):
            assert page == f"{path} is here. " * 5_000


def test_how_long_an_answer_is_differs_by_chance(as_viewer: Client) -> None:
    answers = [as_viewer.get("/people/", headers=TAKES_ZSTANDARD) for _ in range(20)]
    assert len({len(answer["X-Padding"]) for answer in answers}) > 5
    assert all(1 <= len(answer["X-Padding"]) <= 100 for answer in answers)


@pytest.mark.parametrize(("takes", "encoding"), [(TAKES_GZIP, "gzip"), (TAKES_ZSTANDARD, "zstd")])
def test_a_part_of_a_page_comes_compressed_too(
    as_viewer: Client, takes: dict[str, str], encoding: str
) -> None:
    headers = takes | {"HX-Request": "true", "HX-Target": "results"}
    assert as_viewer.get("/people/", headers=headers)["Content-Encoding"] == encoding


@pytest.mark.parametrize("takes", [TAKES_GZIP, TAKES_ZSTANDARD])
def test_a_file_comes_as_it_is(as_viewer: Client, takes: dict[str, str]) -> None:
    assert "Content-Encoding" not in as_viewer.get("/people/export.csv", headers=takes)
