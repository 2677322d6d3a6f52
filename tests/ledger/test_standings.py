"""A page's record says how its audiences stand, whatever order things are seen in."""

from typing import Any

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.pages import PageItem
from dashboard.ledger import recording
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.pages import STANDS
from dashboard.ledger.queries.audiences import IN_FLIGHT, STANDINGS
from dashboard.ledger.queries.pages import find_pages
from dashboard.ledger.standings import column_of, note_standings
from tests import wire

pytestmark = pytest.mark.django_db
PAGES = ("page_1", "page_2")

versions = st.none() | st.builds(
    lambda number, status: wire.version(versionId=f"ver_{number}", status=status),
    st.integers(1, 3),
    st.sampled_from(["draft", "queued", "published"]),
)
looks = st.one_of(
    st.tuples(st.just("page"), st.sampled_from(PAGES)),
    st.tuples(
        st.just("audience"), st.sampled_from(PAGES), st.sampled_from("ab"), versions, versions
    ),
    st.tuples(st.just("version"), st.sampled_from(PAGES), st.sampled_from("ab"), versions),
)


def look_at(kind: str, page_id: str, *seen: Any) -> None:
    """Write down what a look saw."""
    match kind, seen:
        case "page", ():
            recording.remember_page(PageItem.model_validate(wire.page(pageId=page_id)))
        case "audience", (audience_id, latest, live):
            item = wire.audience(
                audienceId=audience_id, latestVersion=latest, publishedVersion=live
            )
            recording.remember_audiences(page_id, [Audience.model_validate(item)])
        case "version", (audience_id, dict(version)):
            item = version | {"audienceId": audience_id}
            recording.remember_version(page_id, AudienceVersion.model_validate(item))


def standings_of(page_id: str) -> set[str]:
    """Return how the audiences of a page stand, in plain Python over their records."""
    ways = set()
    for one in AudienceRecord.objects.filter(page_id=page_id):
        is_changed = one.live_version_id and one.latest_version_id not in {"", one.live_version_id}
        ways |= {"live"} if one.live_version_id else {"not-live"}
        ways |= {"changed"} if is_changed else set()
        ways |= {"in-flight"} if one.latest_status in IN_FLIGHT else set()
    return ways


def found_by(standing: str) -> set[str]:
    return set(find_pages(standings=[standing]).values_list("page_id", flat=True))


@given(st.lists(looks, max_size=8))
def test_each_filter_finds_the_pages_with_an_audience_that_stands_so(seen: list[Any]) -> None:
    with transaction.atomic():
        for look in seen:
            look_at(*look)
        known = PageRecord.objects.values_list("page_id", flat=True)
        stand = {page_id: standings_of(page_id) for page_id in known}
        for standing in STANDINGS:
            assert found_by(standing) == {key for key, ways in stand.items() if standing in ways}
        transaction.set_rollback(True)


def test_every_standing_has_its_column() -> None:
    assert {column_of(standing) for standing in STANDINGS} == {*STANDS}


def test_a_page_that_says_how_its_audiences_stand_is_not_written_again() -> None:
    look_at("page", "page_1")
    look_at("audience", "page_1", "a", None, None)
    assert note_standings() == 0
    PageRecord.objects.update(any_not_live=False)
    assert note_standings() == 1


def test_a_page_that_an_older_version_wrote_is_found_by_words_once_it_is_seen_again() -> None:
    look_at("page", "page_1")
    PageRecord.objects.update(searched="")
    assert not find_pages(words="page_1")
    look_at("page", "page_1")
    assert find_pages(words="page_1")
