"""Two versions compared by word and by field, at a shareable URL."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.ledger.models import VersionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.ledger.recording import record_audiences, record_version
from dashboard.service.reading import read_audiences
from tests.support import wire
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.live_page import Region
from tests.support.one_audience import address, get, serve

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(fake_service: FakeService) -> FakeService:
    """The service has version 1 as live and 3 as latest; the ledger has version 2."""
    second = wire.version(supplementaryContext="Runs 70 trucks.")
    record_version("page_1", AudienceVersion.model_validate(second))
    latest = wire.version(
        versionId="ver_3",
        versionNumber=3,
        supplementaryContext="Runs 71 trucks.\n\nNever mention scoring.",
    )
    live = wire.live_version(supplementaryContext="Runs 64 trucks.\n\nNever mention scoring.")
    serve(fake_service, wire.audience(latestVersion=latest, publishedVersion=live))
    return fake_service


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ({}, "Compare version 1 with version 3"),
        ({"from": "ver_1", "to": "ver_3"}, "Compare version 1 with version 3"),
        ({"from": "live", "to": "latest"}, "Compare version 1 with version 3"),
        ({"from": "previous", "to": "latest"}, "Compare version 2 with version 3"),
        ({"from": "previous", "to": "ver_2"}, "Compare version 1 with version 2"),
        ({"from": "latest", "to": "previous"}, "Compare version 3 with version 2"),
        ({"from": "previous", "to": "previous"}, "Compare version 3 with version 2"),
        ({"from": "ver_3", "to": "live"}, "Compare version 3 with version 1"),
    ],
)
@pytest.mark.usefixtures("three")
def test_versions_are_chosen_by_id_or_by_name(
    query: dict[str, str], title: str, as_viewer: Client
) -> None:
    assert f"<h1>{title}" in get(as_viewer, "version-compare", **query)


@pytest.mark.usefixtures("three")
def test_options_have_the_number_and_status_of_their_version(as_viewer: Client) -> None:
    second = wire.version(status="published", publishedAt="2026-01-20T00:00:00Z")
    record_version("page_1", AudienceVersion.model_validate(second))
    page = get(as_viewer, "version-compare", **{"from": "previous", "to": "ver_3"})
    old, new = (text(part.replace("><", "> <")) for part in page.split("<select ")[1:3])
    for side, before in ((old, 2), (new, 1)):
        assert "Live version (1)" in side
        assert "Latest version (3)" in side
        assert f"Previous version ({before})" in side
        for choice in ("3, draft", "2, superseded", "1, live"):
            assert choice in side


@pytest.mark.parametrize("status", ["published", "archived"])
@pytest.mark.usefixtures("three")
def test_an_earlier_live_version_is_superseded_everywhere(status: str, as_viewer: Client) -> None:
    second = wire.version(status=status, publishedAt="2026-01-20T00:00:00Z")
    record_version("page_1", AudienceVersion.model_validate(second))
    page = get(as_viewer, "version-compare", **{"from": "ver_2", "to": "live"})
    seen = text(page)
    assert f"status Differs Superseded last seen as {status} Live" in seen
    assert headings(page) == ["Version 2 Superseded", "Version 1 Live"]
    assert "2, superseded" in seen


@pytest.mark.usefixtures("three")
def test_an_archived_version_that_was_never_live_stays_archived(as_viewer: Client) -> None:
    record_version("page_1", AudienceVersion.model_validate(wire.version(status="archived")))
    seen = text(get(as_viewer, "version-compare", **{"from": "ver_2", "to": "live"}))
    assert "2, archived" in seen
    assert "uperseded" not in seen


@pytest.mark.usefixtures("three")
def test_words_that_differ_are_marked_on_their_side(as_viewer: Client) -> None:
    page = get(as_viewer, "version-compare")
    assert '<p class="diff" data-label="Version 1">Runs <del>' in page
    assert '<p class="diff after" data-label="Version 3">Runs <ins>' in page
    seen = text(page)
    assert "1 word added" in seen
    assert "1 of 2 paragraphs unchanged" in seen
    assert page.count("Never mention scoring.") == 1


@pytest.mark.usefixtures("three")
def test_the_unified_layout_shows_one_text(as_viewer: Client) -> None:
    page = get(as_viewer, "version-compare", layout="text")
    seen = text(page)
    assert "Runs removed: 64 inserted: 71 trucks." in seen
    assert 'name="layout" value="text"' in page


@pytest.mark.usefixtures("three")
def test_differing_fields_are_marked_side_by_side(as_viewer: Client) -> None:
    seen = text(get(as_viewer, "version-compare"))
    assert "status Differs Live Draft" in seen
    assert "isNewPageAgent true true" in seen
    assert "queueDurationMs Differs 38,000 —empty" in seen


@pytest.mark.usefixtures("three")
def test_a_vanished_object_shows_when_it_was_seen(as_viewer: Client) -> None:
    VersionRecord.objects.filter(version_id="ver_2").update(
        last_seen_at=datetime(2025, 11, 18, 12, tzinfo=UTC)
    )
    seen = text(get(as_viewer, "version-compare", **{"from": "ver_2", "to": "latest"}))
    assert "Last seen 18 Nov 2025" in seen
    assert "2025" not in text(get(as_viewer, "version-compare"))


@pytest.mark.usefixtures("three")
def test_publish_attempts_are_listed_with_their_status_codes(
    as_viewer: Client, paula: User
) -> None:
    target = Target("page_1", "aud_1", "ver_3")
    _, attempt = begin(
        operation_key="key-1",
        kind=OperationKind.PUBLISH_VERSION,
        actor=paula,
        target=target,
        body={},
    )
    assert attempt is not None
    end(attempt, AttemptResult(Outcome.REJECTED, "The service returned 409: Busy", 409))
    seen = text(get(as_viewer, "version-compare"))
    assert "Publish attempts None from Pressroom 1. Failed" in seen
    assert " (409)" in seen


@pytest.mark.usefixtures("three")
def test_the_sides_can_be_swapped(as_viewer: Client) -> None:
    page = get(as_viewer, "version-compare")
    swap = next(a for a in elements(page, "a") if "Swap" in a.attributes.get("aria-label", ""))
    assert swap.attributes["href"] == "?from=ver_3&to=ver_1"


@pytest.mark.usefixtures("three")
def test_the_candidate_can_be_published_from_here(as_publisher: Client, as_viewer: Client) -> None:
    assert "Publish version 3" in text(get(as_publisher, "version-compare"))
    assert "Publish version" not in text(get(as_publisher, "version-compare", to="ver_2"))
    assert "/publish/" not in get(as_viewer, "version-compare")


@pytest.mark.usefixtures("three")
def test_a_version_compared_with_itself_has_a_hint(as_viewer: Client) -> None:
    query = {"from": "ver_2", "to": "ver_2"}
    assert "Both sides are version 2." in text(get(as_viewer, "version-compare", **query))


@pytest.mark.usefixtures("three")
def test_an_unknown_version_is_reported_with_alternatives(as_viewer: Client) -> None:
    query = {"from": "<b>ver_9", "to": "latest"}
    page = get(as_viewer, "version-compare", status=404, **query)
    assert "No version <b>ver_9 is recorded for this audience." in text(page)
    assert "<b>ver_9" not in page
    assert "3, draft" in text(page)


@pytest.mark.usefixtures("three")
def test_a_missing_previous_version_is_reported(as_viewer: Client) -> None:
    page = get(as_viewer, "version-compare", status=404, **{"from": "previous", "to": "ver_1"})
    assert "No version before 1 is recorded." in text(page)


def test_the_only_version_has_nothing_to_be_compared_with(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(publishedVersion=None))
    seen = text(get(as_viewer, "version-compare", status=404))
    assert "No version before 2 is recorded." in seen
    named = get(as_viewer, "version-compare", status=404, **{"from": "live"})
    assert "Nothing is live." in text(named)


def test_equal_texts_have_a_sentence(fake_service: FakeService, as_viewer: Client) -> None:
    same = wire.live_version(supplementaryContext="Runs 71 trucks.")
    serve(fake_service, wire.audience(publishedVersion=same))
    assert "No differences." in text(get(as_viewer, "version-compare"))


def test_two_versions_without_text_have_a_sentence(
    fake_service: FakeService, as_viewer: Client
) -> None:
    empty = {"supplementaryContext": None}
    latest, live = wire.version(**empty), wire.live_version(**empty)
    serve(fake_service, wire.audience(latestVersion=latest, publishedVersion=live))
    assert "Both are empty." in text(get(as_viewer, "version-compare"))


def test_fields_beyond_the_spec_are_compared_too(
    fake_service: FakeService, as_viewer: Client
) -> None:
    latest = wire.version(status="simmering", mood="hopeful")
    serve(fake_service, wire.audience(latestVersion=latest))
    seen = text(get(as_viewer, "version-compare"))
    assert "mood Differs —empty hopeful" in seen
    assert "simmering" in seen


def test_an_outage_compares_recorded_versions_only(
    fake_service: FakeService, as_publisher: Client
) -> None:
    record_audiences("page_1", [Audience.model_validate(wire.audience())])
    fake_service.answers(500, text="boom")
    page = get(as_publisher, "version-compare")
    assert "Compare version 1 with version 2" in text(page)
    assert "Showing the last known state" in page
    assert "/publish/" not in page


def test_ids_of_any_characters_work_in_urls(
    fake_service: FakeService, as_publisher: Client
) -> None:
    odd = "v/é & ?#%2F"
    serve(fake_service, wire.audience(latestVersion=wire.version(versionId=odd)))
    page = get(as_publisher, "audience-detail")
    link = next(a for a in elements(page, "a") if "compare/?" in a.attributes["href"])
    answer = as_publisher.get(link.attributes["href"])
    assert "Compare version 1 with version 2" in answer.text


@pytest.mark.usefixtures("three")
def test_one_call_and_few_queries_make_the_page(
    three: FakeService, as_viewer: Client, django_assert_max_num_queries: Any
) -> None:
    get(as_viewer, "version-compare")
    three.sent.clear()
    with django_assert_max_num_queries(17):
        get(as_viewer, "version-compare", **{"from": "previous", "to": "ver_3"})
    assert len(three.sent) == 1


# While a version is in progress


def in_progress(**differs: Any) -> dict[str, Any]:
    queued_at = (datetime.now(UTC) - timedelta(seconds=20)).isoformat()
    queued = wire.version(status="queued", queuedAt=queued_at)
    return wire.audience(latestVersion=queued | differs)


def live_audience() -> dict[str, Any]:
    context = wire.version()["supplementaryContext"]
    live = wire.live_version(versionId="ver_2", versionNumber=2, supplementaryContext=context)
    return wire.audience(latestVersion=live, publishedVersion=live)


def comparison(client: Client, **query: str) -> Region:
    return Region(client, address("version-compare", **query), "comparison")


def headings(html: str) -> list[str]:
    return [text(f"<h3{h3.split('</h3>')[0]}") for h3 in html.split("<h3")[1:]]


@pytest.mark.parametrize("query", [{}, {"from": "live", "to": "latest"}, {"layout": "text"}])
def test_a_version_in_progress_is_followed_until_settled(
    query: dict[str, str], fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    serve(fake_service, in_progress())
    page = comparison(as_viewer, **query)
    url = page.element.attributes["data-live-url"]
    assert page.is_moving
    serve(fake_service, live_audience())
    clock.advance(3)
    page.refresh()
    assert not page.is_moving
    # The page compares the same two versions, whichever is live.
    facts = text(page.html.split('id="compare-facts"')[1])
    assert "Field Version 1 Version 2" in facts
    assert "Queued" not in page.text
    assert page.element.attributes["data-live-url"] == url
    assert "ver_1" in url
    assert "ver_2" in url


def test_badges_above_texts_follow_what_is_live(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    serve(fake_service, in_progress())
    page = comparison(as_viewer)
    assert headings(page.html) == ["Version 1 Live", "Version 2 Queued"]
    serve(fake_service, live_audience())
    clock.advance(3)
    assert headings(page.refresh().html) == ["Version 1 Superseded", "Version 2 Live"]


def test_the_publish_button_goes_once_published(
    fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience())
    page = comparison(as_publisher)
    assert not page.is_moving
    assert "Publish version 2" in page.text
    serve(fake_service, in_progress())
    read_audiences("page_1")
    page.refresh()
    assert page.is_moving
    assert "Publish version 2" not in page.text


def test_a_stuck_version_is_not_read_forever(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, in_progress(queuedAt="2026-03-01T09:00:00Z"))
    assert not comparison(as_viewer).is_moving


def test_a_failed_read_keeps_the_versions_and_is_repeated(
    fake_service: FakeService, as_viewer: Client, clock: Clock
) -> None:
    serve(fake_service, in_progress())
    page = comparison(as_viewer)
    before = headings(page.html)
    fake_service.fails(httpx.ConnectError)
    clock.advance(3)
    assert headings(page.refresh().html) == before
    assert page.is_moving
