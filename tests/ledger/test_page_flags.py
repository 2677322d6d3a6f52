"""A page's record has the flags of its audiences, in whatever order these are read."""

from typing import Any

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.pages import PageItem
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.objects import FLAG_COLUMNS, IN_FLIGHT
from dashboard.ledger.queries.audiences import rolled_back_by
from dashboard.ledger.queries.pages import (
    AUDIENCE_FLAGS,
    find_pages,
    flag_column,
    update_page_flags,
)
from dashboard.ledger.recording import record_audiences, record_page, record_version
from tests.support import wire

pytestmark = pytest.mark.django_db
PAGES = ("page_1", "page_2")

versions = st.none() | st.builds(
    lambda number, status: wire.version(
        versionId=f"ver_{number}", versionNumber=number, status=status
    ),
    st.integers(1, 3),
    st.sampled_from(["draft", "queued", "published", "cancelled"]),
)
reads = st.one_of(
    st.tuples(st.just("page"), st.sampled_from(PAGES)),
    st.tuples(
        st.just("audience"), st.sampled_from(PAGES), st.sampled_from("ab"), versions, versions
    ),
    st.tuples(st.just("version"), st.sampled_from(PAGES), st.sampled_from("ab"), versions),
)


def record(kind: str, page_id: str, *seen: Any) -> None:
    """Record one read."""
    match kind, seen:
        case "page", ():
            record_page(PageItem.model_validate(wire.page(pageId=page_id)))
        case "audience", (audience_id, latest, live):
            item = wire.audience(
                audienceId=audience_id, latestVersion=latest, publishedVersion=live
            )
            record_audiences(page_id, [Audience.model_validate(item)])
        case "version", (audience_id, dict(version)):
            item = version | {"audienceId": audience_id}
            record_version(page_id, AudienceVersion.model_validate(item))


def flags_of(page_id: str) -> set[str]:
    """Return the flags of a page's audiences, computed in plain Python."""
    ways = set()
    for audiences in AudienceRecord.objects.filter(page_id=page_id):
        is_other = audiences.live_version_id and audiences.latest_version_id not in {
            "",
            audiences.live_version_id,
        }
        is_over = is_other and audiences.latest_status not in ("cancelled", *IN_FLIGHT)
        ids = (page_id, audiences.audience_id, audiences.latest_version_id)
        if is_over:
            ways |= {"rolled-back"} if rolled_back_by(*ids) else {"changed"}
        ways |= {"live"} if audiences.live_version_id else {"not-live"}
        ways |= {"in-flight"} if audiences.latest_status in IN_FLIGHT else set()
    return ways


def find_page_ids(flag: str) -> set[str]:
    return set(find_pages(flags=[flag]).values_list("page_id", flat=True))


@given(st.lists(reads, max_size=8))
def test_filters_find_pages_by_their_audiences(seen: list[Any]) -> None:
    with transaction.atomic():
        for read in seen:
            record(*read)
        rows = PageRecord.objects.values_list("page_id", flat=True)
        flags = {page_id: flags_of(page_id) for page_id in rows}
        for flag in AUDIENCE_FLAGS:
            assert find_page_ids(flag) == {key for key, ways in flags.items() if flag in ways}
        transaction.set_rollback(True)


def test_every_flag_has_its_column() -> None:
    assert {flag_column(flag) for flag in AUDIENCE_FLAGS} == {*FLAG_COLUMNS}


def test_a_page_with_known_audiences_is_not_rewritten() -> None:
    record("page", "page_1")
    record("audience", "page_1", "a", None, None)
    assert update_page_flags() == 0
    PageRecord.objects.update(any_not_live=False)
    assert update_page_flags() == 1


def test_pages_recorded_by_an_older_version_become_searchable() -> None:
    record("page", "page_1")
    PageRecord.objects.update(searched="")
    assert not find_pages(words="page_1")
    record("page", "page_1")
    assert find_pages(words="page_1")
