"""What was live at a moment: for an audience, for a page, in the list and in the export."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.contract.audiences import Audience
from dashboard.ledger.recording import record_audiences
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text
from tests.support.one_audience import get
from tests.support.seeding import seed_pages

pytestmark = pytest.mark.django_db

FIRST_SEEN = datetime(2026, 3, 5, 8, tzinfo=UTC)
LATER = datetime(2026, 3, 9, 8, tzinfo=UTC)
SECOND = {
    "versionId": "ver_2",
    "versionNumber": 2,
    "publishedAt": "2026-03-08T12:00:00Z",
    "queuedAt": "2026-03-08T11:59:00Z",
    "supplementaryContext": "Runs 71 trucks.",
}


def see(at: datetime, **differs: Any) -> None:
    audience = Audience.model_validate(wire.audience(**differs))
    record_audiences("page_1", [audience], read_at=at)


@pytest.fixture
def two_publications() -> None:
    """Version 1, live since 1 February and first seen on 5 March; version 2 since 8 March."""
    seed_pages(wire.page())
    see(FIRST_SEEN)
    live = wire.live_version(**SECOND)
    see(LATER, latestVersion=live, publishedVersion=live)


def at(client: Client, moment: str) -> str:
    return text(get(client, "audience-detail", at=moment))


@pytest.mark.usefixtures("two_publications")
def test_the_formerly_live_text_has_its_times(fake_service: FakeService, as_viewer: Client) -> None:
    seen = at(as_viewer, "2026-03-06T12:00")
    assert "Live at 6 Mar 12:00: version 1 Since 1 Feb 10:00, until 8 Mar 12:00." in seen
    assert "Runs 64 trucks." in seen
    assert "Runs 71 trucks." not in seen
    assert not fake_service.sent


@pytest.mark.usefixtures("two_publications")
def test_what_is_live_still_is_said_to_be(as_viewer: Client) -> None:
    seen = at(as_viewer, "2026-03-08 12:00:01")
    assert "version 2 Since 8 Mar 12:00, and still live." in seen


@pytest.mark.usefixtures("two_publications")
def test_a_moment_before_the_first_read_says_so(as_viewer: Client) -> None:
    assert "version 1" in at(as_viewer, "2026-02-10T12:00")
    assert "First seen 5 Mar 08:00" in at(as_viewer, "2026-02-10T12:00")


@pytest.mark.usefixtures("two_publications")
def test_a_moment_before_the_first_publication_is_unknown(as_viewer: Client) -> None:
    seen = at(as_viewer, "2026-01-10T12:00")
    assert "Unknown at 10 Jan 12:00" in seen
    assert "first seen 5 Mar 08:00" in seen


@pytest.mark.usefixtures("two_publications")
@pytest.mark.parametrize(
    ("entered", "problem"),
    [
        ("2999-01-01T00:00", "is in the future"),
        ("2026-02-30T12:00", "“2026-02-30T12:00” isn’t a date and time."),
        ("noon", "“noon” isn’t a date and time."),
        ("9999-12-31T23:59:59-12:00", "isn’t a date and time."),
        ("0001-01-01T00:00+14:00", "isn’t a date and time."),
    ],
)
@pytest.mark.parametrize("name", ["audience-detail", "page-detail", "audience-list"])
def test_a_bad_moment_gets_its_sentence(
    name: str, entered: str, problem: str, as_viewer: Client
) -> None:
    args = {"audience-detail": ["page_1", "aud_1"], "page-detail": ["page_1"]}.get(name, [])
    response = as_viewer.get(reverse(name, args=args), {"at": entered})
    assert problem in response_text(response)


@pytest.mark.usefixtures("two_publications")
def test_a_moment_list_turns_other_features_off_by_name(as_viewer: Client) -> None:
    url = reverse("audience-list")
    seen = response_text(as_viewer.get(url, {"at": "2026-03-06T12:00", "live": "not-live"}))
    assert "Brightwater Foods Fleet telematics 1 1 Feb 10:00 8 Mar 12:00" in seen
    assert "Live status, latest status, new page agent, order" in seen


@pytest.mark.usefixtures("two_publications")
def test_search_and_page_narrow_the_list(as_viewer: Client) -> None:
    url = reverse("audience-list")

    def count(**params: str) -> int:
        response = as_viewer.get(url, {"at": "2026-03-06T12:00"} | params)
        return response_text(response).count("Brightwater Foods Fleet telematics")

    assert (count(q="bright"), count(q="acme")) == (1, 0)
    assert (count(page="page_1"), count(page="page_2")) == (1, 0)


@pytest.mark.usefixtures("two_publications")
def test_a_page_shows_what_was_live_of_its_audiences(
    fake_service: FakeService, as_viewer: Client
) -> None:
    response = as_viewer.get(reverse("page-detail", args=["page_1"]), {"at": "2026-03-06T12:00"})
    seen = response_text(response)
    assert "Brightwater Foods 1 1 Feb 10:00 8 Mar 12:00" in seen
    assert not fake_service.sent


@pytest.mark.usefixtures("two_publications")
@pytest.mark.parametrize(("words", "count"), [("bright", 1), ("acme", 0)])
def test_a_page_at_a_moment_is_searched(words: str, count: int, as_viewer: Client) -> None:
    url = reverse("page-detail", args=["page_1"])
    html = as_viewer.get(url, {"at": "2026-03-06T12:00", "q": words}).text
    assert url in [form.attributes.get("action") for form in elements(html, "form")]
    fields = [
        (e.attributes.get("name"), e.attributes.get("value")) for e in elements(html, "input")
    ]
    assert {("at", "2026-03-06T12:00"), ("q", words)} <= {*fields}
    assert text(html).count("Brightwater Foods 1 1 Feb") == count


@pytest.mark.usefixtures("two_publications")
def test_audiences_of_which_nothing_is_known_are_counted(as_viewer: Client) -> None:
    response = as_viewer.get(reverse("audience-list"), {"at": "2026-01-06T12:00"})
    seen = response_text(response)
    assert "No audience is known to have had something live at 6 Jan 12:00." in seen
    assert "For 1 other, nothing was live or it isn’t known." in seen


@pytest.mark.usefixtures("two_publications")
def test_the_file_has_what_was_live(as_viewer: Client) -> None:
    response = as_viewer.get(reverse("audience-export"), {"at": "2026-03-06T12:00"})
    lines = b"".join(response).decode("utf-8-sig").splitlines()
    names = "Page,Page name,Audience,Name,Live at,Live version,Since,Until,First seen,Text"
    assert lines[0] == names
    assert lines[1].split(",")[3:6] == ["Brightwater Foods", "2026-03-06T12:00:00+00:00", "1"]
    assert lines[1].endswith(",Runs 64 trucks.")


@pytest.mark.usefixtures("two_publications")
@pytest.mark.parametrize("target", ["", "results"])
def test_the_form_keeps_search_and_page(target: str, as_viewer: Client) -> None:
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    params = {"q": "bright", "page": "page_1"}
    response = as_viewer.get(reverse("audience-list"), params, headers=headers)
    scope = response.text.split('id="moment-scope"')[1].split("</span>")[0]
    fields = [e.attributes for e in elements(f"<p{scope}</p>", "input")]
    assert {field["name"]: field["value"] for field in fields} == params


def test_an_audience_never_seen_is_not_found(as_viewer: Client) -> None:
    get(as_viewer, "audience-detail", status=404, at="2026-03-06T12:00")
