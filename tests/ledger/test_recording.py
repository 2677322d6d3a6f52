"""What was seen is written down once, and again only where it changed."""

from collections.abc import Callable
from datetime import timedelta
from secrets import randbelow
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.pages import PageItem
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger import recording
from dashboard.ledger.models import AudienceRecord, ListTotal, PageRecord, VersionRecord
from dashboard.ledger.queries.audiences import audiences_last_known
from dashboard.ledger.queries.pages import count_all_pages, pages_coverage
from tests.support import wire

pytestmark = pytest.mark.django_db

Queries = Callable[[int], Any]


def pages(*items: dict[str, Any], **differs: Any) -> ListEnvelope[PageItem]:
    return ListEnvelope[PageItem].model_validate(wire.envelope(*items, **differs))


def audiences(*items: dict[str, Any]) -> list[Audience]:
    return [Audience.model_validate(item) for item in items]


def fifty_pages(**differs: Any) -> list[dict[str, Any]]:
    return [wire.page(pageId=f"page_{n}", **differs) for n in range(50)]


def fifty_audiences(**differs: Any) -> list[dict[str, Any]]:
    return [
        wire.audience(
            audienceId=f"aud_{n}",
            latestVersion=wire.version(audienceId=f"aud_{n}"),
            publishedVersion=wire.live_version(audienceId=f"aud_{n}"),
            **differs,
        )
        for n in range(50)
    ]


def test_fifty_new_pages_cost_five_queries(django_assert_max_num_queries: Queries) -> None:
    # Two of them write: SQLite takes 999 values a query.
    with django_assert_max_num_queries(5):
        recording.record_pages(pages(*fifty_pages()))
    assert PageRecord.objects.count() == 50


def test_fifty_pages_of_which_some_changed_and_some_were_seen_long_ago_cost_four_queries(
    django_assert_max_num_queries: Queries,
) -> None:
    recording.record_pages(pages(*fifty_pages()))
    PageRecord.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
    with django_assert_max_num_queries(4):
        recording.record_pages(pages(*fifty_pages(title="New")[:1], *fifty_pages()[1:]))


@pytest.mark.parametrize("changed", [0, 1, 50])
def test_fifty_known_pages_cost_three_queries_however_many_changed(
    changed: int, django_assert_max_num_queries: Queries
) -> None:
    recording.record_pages(pages(*fifty_pages()))
    again = fifty_pages(title="New")[:changed] + fifty_pages()[changed:]
    with django_assert_max_num_queries(3):
        recording.record_pages(pages(*again))
    assert PageRecord.objects.filter(title="New").count() == changed


LOCK = int(connection.features.has_select_for_update)
"""The query that locks the page."""


@pytest.mark.parametrize(("changed", "queries"), [(0, 1), (1, 5 + LOCK), (50, 6 + LOCK)])
def test_fifty_known_audiences_cost_at_most_six_queries_however_many_changed(
    changed: int, queries: int, django_assert_max_num_queries: Queries
) -> None:
    recording.record_audiences("page_1", audiences(*fifty_audiences()))
    again = fifty_audiences(effectiveName="New")[:changed] + fifty_audiences()[changed:]
    with django_assert_max_num_queries(queries):
        recording.record_audiences("page_1", audiences(*again))
    assert AudienceRecord.objects.filter(name="New").count() == changed


def test_the_versions_seen_with_an_audience_are_kept_when_it_moves_on() -> None:
    recording.record_audiences("page_1", audiences(wire.audience()))
    third = wire.version(versionId="ver_3", versionNumber=3)
    recording.record_audiences("page_1", audiences(wire.audience(latestVersion=third)))
    numbers = VersionRecord.objects.values_list("version_number", flat=True)
    assert sorted(numbers) == [1, 2, 3]


def test_a_version_that_was_replaced_was_last_seen_by_the_last_look_that_named_it() -> None:
    """Looks that find an audience as it was touch none of its versions."""
    recording.record_audiences("page_1", audiences(wire.audience()))
    long_ago, lately = (timezone.now() - timedelta(days=days) for days in (9, 1))
    VersionRecord.objects.update(first_seen_at=long_ago, last_seen_at=long_ago)
    AudienceRecord.objects.update(last_seen_at=lately)
    third = wire.version(versionId="ver_3", versionNumber=3)
    recording.record_audiences("page_1", audiences(wire.audience(latestVersion=third)))
    replaced = VersionRecord.objects.get(version_id="ver_2")
    assert replaced.last_seen_at == lately
    assert replaced.first_seen_at == long_ago


def test_fifty_replaced_versions_cost_one_query_more(
    django_assert_max_num_queries: Queries,
) -> None:
    recording.record_audiences("page_1", audiences(*fifty_audiences()))
    with django_assert_max_num_queries(7 + LOCK):
        recording.record_audiences(
            "page_1",
            audiences(*(one | {"publishedVersion": None} for one in fifty_audiences())),
        )


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the trigger is SQLite's")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_an_audience_is_not_known_until_its_versions_are() -> None:
    """Else no later look would write them down: it finds the audience as it was."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TRIGGER full BEFORE INSERT ON ledger_versionrecord"
            " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        with pytest.raises(IntegrityError, match="disk full"):
            recording.record_audiences("page_1", audiences(wire.audience()))
        cursor.execute("DROP TRIGGER full")
    recording.record_audiences("page_1", audiences(wire.audience()))
    assert VersionRecord.objects.count() == 2


def test_an_audience_without_a_date_comes_after_those_with_one() -> None:
    undated = wire.audience(audienceId="aud_2", createdAt="long ago")
    recording.record_audiences("page_1", audiences(undated, wire.audience()))
    assert [one.audience_id for one in audiences_last_known("page_1")] == ["aud_1", "aud_2"]


def test_an_unchanged_page_keeps_the_time_of_its_last_change() -> None:
    recording.record_pages(pages(wire.page()))
    PageRecord.objects.update(changed_at=timezone.now() - timedelta(days=3))
    recording.record_pages(pages(wire.page(), wire.page(pageId="page_2")))
    unchanged = PageRecord.objects.get(page_id="page_1")
    assert unchanged.last_seen_at - unchanged.changed_at > timedelta(days=2)


def test_first_seen_stays_when_a_page_changes() -> None:
    recording.record_pages(pages(wire.page()))
    first = PageRecord.objects.get().first_seen_at
    recording.record_pages(pages(wire.page(title="Another")))
    assert PageRecord.objects.get().first_seen_at == first


def test_a_list_without_type_and_status_does_not_wipe_what_the_page_itself_said() -> None:
    recording.record_pages(pages(wire.page()))
    item = wire.page()
    del item["pageType"], item["status"]
    recording.record_pages(pages(item))
    record = PageRecord.objects.get()
    assert (record.page_type, record.status) == ("outbound", "published")
    assert (record.page.page_type, record.page.status) == ("outbound", "published")


def test_what_the_service_sends_beyond_the_spec_is_kept() -> None:
    recording.record_pages(pages(wire.page(colour="green")))
    assert PageRecord.objects.get().page.to_wire()["colour"] == "green"


@pytest.mark.parametrize("field", ["name", "title", "status", "pageType", "brandId", "pageContext"])
def test_a_page_is_kept_whole_however_long_its_texts_are(field: str) -> None:
    # By chance, that no database packs it into less.
    text = "".join(chr(0x4E00 + randbelow(20_000)) for _ in range(5_000))
    recording.record_pages(pages(wire.page(**{field: text})))
    assert PageRecord.objects.get().page.to_wire()[field] == text


@pytest.mark.parametrize("field", ["effectiveName", "status"])
def test_an_audience_is_kept_whole_however_long_its_texts_are(field: str) -> None:
    text = "".join(chr(0x4E00 + randbelow(20_000)) for _ in range(5_000))
    version = {"latestVersion": wire.version(status=text)} if field == "status" else {}
    recording.record_audiences("page_1", audiences(wire.audience(effectiveName=text, **version)))
    assert text in str(AudienceRecord.objects.get().audience.to_wire())


def test_the_same_page_twice_in_a_list_is_one_record() -> None:
    recording.record_pages(pages(wire.page(), wire.page(title="Later")))
    assert PageRecord.objects.get().title == "Later"


def test_an_audience_without_an_id_is_passed_over() -> None:
    recording.record_audiences("page_1", audiences(wire.audience(audienceId=None)))
    assert not AudienceRecord.objects.exists()


def test_one_audience_id_on_two_pages_is_two_audiences() -> None:
    for page_id in ("page_1", "page_2"):
        recording.record_audiences(page_id, audiences(wire.audience()))
    assert AudienceRecord.objects.count() == 2


def test_coverage_counts_what_is_known_of_what_there_is() -> None:
    recording.record_pages(pages(wire.page(), hasMore=True, totalCount=240))
    coverage = pages_coverage()
    assert (coverage.known, coverage.total, coverage.missing) == (1, 240, 239)
    assert not coverage.is_full


def test_pages_are_counted_once_while_none_is_written(
    django_assert_num_queries: Queries,
) -> None:
    recording.record_pages(pages(*fifty_pages()))
    counted, _ = count_all_pages()
    with django_assert_num_queries(1):
        assert count_all_pages()[0] == counted
    assert counted.by_status([]) == {"published": 50}


@pytest.mark.parametrize("page_id", ["page_7", "page_new"])
def test_a_page_that_changed_or_is_new_is_counted_at_once(page_id: str) -> None:
    recording.record_pages(pages(*fifty_pages()))
    count_all_pages()
    recording.record_page(PageItem.model_validate(wire.page(pageId=page_id, status="draft")))
    tally, coverage = count_all_pages()
    assert tally.by_status([])["draft"] == 1
    assert tally.total() == coverage.known == PageRecord.objects.count()


def test_before_any_look_nothing_is_known_to_be_complete() -> None:
    assert not pages_coverage().is_full
    assert not ListTotal.objects.exists()


def test_a_subscription_keeps_its_label_when_it_is_read_again() -> None:
    seen = WebhookSubscription.model_validate(wire.subscription())
    recording.record_subscription(seen, label="CRM")
    record = recording.record_subscription(seen.model_copy(update={"active": False}))
    assert (record.label, record.active) == ("CRM", False)
    assert record.subscription.active is False


def test_a_read_of_a_subscription_that_was_long_on_its_way_undoes_nothing_newer() -> None:
    seen = WebhookSubscription.model_validate(wire.subscription())
    recording.record_subscription(seen)
    read_at = timezone.now()
    recording.record_subscription(seen.model_copy(update={"active": False}))
    record = recording.record_subscription(seen, read_at=read_at)
    assert record.active is False
    record = recording.record_subscription(seen, read_at=timezone.now())
    assert record.active is True


def test_the_answer_to_a_publish_moves_the_audience_along() -> None:
    recording.record_audiences("page_1", [Audience.model_validate(wire.audience())])
    queued = AudienceVersion.model_validate(wire.version(status="queued"))
    recording.record_version("page_1", queued)
    record = AudienceRecord.objects.get()
    assert record.latest_status == "queued"
    assert record.audience.latest_version == queued
    assert record.changed_at > record.first_seen_at


def test_a_version_that_is_not_the_latest_leaves_the_audience_as_it_is() -> None:
    recording.record_audiences("page_1", [Audience.model_validate(wire.audience())])
    before = AudienceRecord.objects.get().digest
    recording.record_version("page_1", AudienceVersion.model_validate(wire.live_version()))
    assert AudienceRecord.objects.get().digest == before


@pytest.mark.parametrize(
    ("seconds", "dated"), [(0.5, set()), (2, {"waits"}), (61, {"waits", "rests"})]
)
def test_what_is_on_its_way_is_dated_by_looks_that_date_nothing_else(
    seconds: float, dated: set[str]
) -> None:
    seen = audiences(
        wire.audience(audienceId="waits", latestVersion=wire.version(status="queued")),
        wire.audience(audienceId="rests", latestVersion=wire.version(status="draft")),
    )
    recording.record_audiences("page_1", seen)
    now = timezone.now()
    before = now - timedelta(seconds=seconds)
    AudienceRecord.objects.update(last_seen_at=before)
    recording.record_audiences("page_1", seen, read_at=now)
    noted = AudienceRecord.objects.filter(last_seen_at__gt=before)
    assert {*noted.values_list("audience_id", flat=True)} == dated


def test_an_answer_that_was_long_on_its_way_does_not_undo_what_was_seen_since() -> None:
    read_at = timezone.now()
    third = wire.version(versionId="ver_3", versionNumber=3, status="published")
    recording.record_pages(pages(wire.page(title="New")))
    recording.record_audiences("page_1", audiences(wire.audience(latestVersion=third)))
    recording.record_pages(pages(wire.page()), read_at=read_at)
    recording.record_audiences("page_1", audiences(wire.audience()), read_at=read_at)
    assert PageRecord.objects.get().title == "New"
    assert AudienceRecord.objects.get().latest_version_id == "ver_3"
    later = timezone.now()
    recording.record_pages(pages(wire.page()), read_at=later)
    recording.record_audiences("page_1", audiences(wire.audience()), read_at=later)
    assert PageRecord.objects.get().title == wire.page()["title"]
    assert AudienceRecord.objects.get().latest_version_id == "ver_2"


def test_what_a_publish_answered_is_not_undone_by_a_look_begun_before_it() -> None:
    recording.record_audiences("page_1", audiences(wire.audience()))
    read_at = timezone.now()
    queued = AudienceVersion.model_validate(wire.version(status="queued"))
    recording.record_version("page_1", queued)
    recording.record_audiences("page_1", audiences(wire.audience()), read_at=read_at)
    assert AudienceRecord.objects.get().latest_status == "queued"
    assert VersionRecord.objects.get(version_id="ver_2").status == "queued"
