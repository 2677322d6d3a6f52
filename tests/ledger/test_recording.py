"""Objects are recorded once, and again only if they changed."""

from collections.abc import Callable
from datetime import timedelta
from secrets import randbelow
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.pages import PageItem
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import AudienceRecord, ListTotal, PageRecord, VersionRecord
from dashboard.ledger.queries.audiences import audiences_last_known
from dashboard.ledger.queries.pages import count_all_pages, pages_coverage
from dashboard.ledger.recording import record_page, record_version
from dashboard.ledger.subscriptions import record_subscription
from tests.support import wire
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db

Queries = Callable[[int], Any]


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


def test_fifty_new_pages_cost_seven_queries(django_assert_max_num_queries: Queries) -> None:
    # Two write, as SQLite takes 999 values per query. Two add to the feed: pages, and the total.
    with django_assert_max_num_queries(7):
        seed_pages(*fifty_pages())
    assert PageRecord.objects.count() == 50


def test_fifty_mixed_pages_cost_four_queries(django_assert_max_num_queries: Queries) -> None:
    seed_pages(*fifty_pages())
    PageRecord.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))
    with django_assert_max_num_queries(4):
        seed_pages(*fifty_pages(title="New")[:1], *fifty_pages()[1:])


@pytest.mark.parametrize("changed", [0, 1, 50])
def test_fifty_known_pages_cost_four_queries_however_many_changed(
    changed: int, django_assert_max_num_queries: Queries
) -> None:
    seed_pages(*fifty_pages())
    again = fifty_pages(title="New")[:changed] + fifty_pages()[changed:]
    with django_assert_max_num_queries(4):
        seed_pages(*again)
    assert PageRecord.objects.filter(title="New").count() == changed


LOCK = int(connection.features.has_select_for_update)
"""The query that locks the page."""


@pytest.mark.parametrize(("changed", "queries"), [(0, 1), (1, 6 + LOCK), (50, 7 + LOCK)])
def test_fifty_known_audiences_cost_seven_queries(
    changed: int, queries: int, django_assert_max_num_queries: Queries
) -> None:
    seed_audiences(*fifty_audiences())
    again = fifty_audiences(effectiveName="New")[:changed] + fifty_audiences()[changed:]
    with django_assert_max_num_queries(queries):
        seed_audiences(*again)
    assert AudienceRecord.objects.filter(name="New").count() == changed


def test_versions_seen_with_an_audience_are_kept() -> None:
    seed_audiences(wire.audience())
    third = wire.version(versionId="ver_3", versionNumber=3)
    seed_audiences(wire.audience(latestVersion=third))
    numbers = VersionRecord.objects.values_list("version_number", flat=True)
    assert sorted(numbers) == [1, 2, 3]


def test_a_replaced_version_keeps_its_last_seen_time() -> None:
    """Reads that find an audience unchanged don't touch its versions."""
    seed_audiences(wire.audience())
    long_ago, lately = (timezone.now() - timedelta(days=days) for days in (9, 1))
    VersionRecord.objects.update(first_seen_at=long_ago, last_seen_at=long_ago)
    AudienceRecord.objects.update(last_seen_at=lately)
    third = wire.version(versionId="ver_3", versionNumber=3)
    seed_audiences(wire.audience(latestVersion=third))
    replaced = VersionRecord.objects.get(version_id="ver_2")
    assert replaced.last_seen_at == lately
    assert replaced.first_seen_at == long_ago


def test_fifty_replaced_versions_cost_six_queries_more(
    django_assert_max_num_queries: Queries,
) -> None:
    """One dates them, two end their publications, and three find followers."""
    seed_audiences(*fifty_audiences())
    with django_assert_max_num_queries(13 + LOCK):
        seed_audiences(*(audience | {"publishedVersion": None} for audience in fifty_audiences()))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the trigger is SQLite's")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_an_audience_is_not_known_until_its_versions_are() -> None:
    """Otherwise no later read would record the versions, as the audience would seem unchanged."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TRIGGER full BEFORE INSERT ON ledger_versionrecord"
            " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        with pytest.raises(IntegrityError, match="disk full"):
            seed_audiences(wire.audience())
        cursor.execute("DROP TRIGGER full")
    seed_audiences(wire.audience())
    assert VersionRecord.objects.count() == 2


def test_an_undated_audience_is_last() -> None:
    undated = wire.audience(audienceId="aud_2", createdAt="long ago")
    seed_audiences(undated, wire.audience())
    assert [item.audience_id for item in audiences_last_known("page_1")] == ["aud_1", "aud_2"]


def test_an_unchanged_page_keeps_its_last_change() -> None:
    seed_pages(wire.page())
    PageRecord.objects.update(changed_at=timezone.now() - timedelta(days=3))
    seed_pages(wire.page(), wire.page(pageId="page_2"))
    unchanged = PageRecord.objects.get(page_id="page_1")
    assert unchanged.last_seen_at - unchanged.changed_at > timedelta(days=2)


def test_first_seen_stays_when_a_page_changes() -> None:
    seed_pages(wire.page())
    first = PageRecord.objects.get().first_seen_at
    seed_pages(wire.page(title="Another"))
    assert PageRecord.objects.get().first_seen_at == first


def test_a_list_without_status_keeps_the_page_s_own() -> None:
    seed_pages(wire.page())
    item = wire.page()
    del item["pageType"], item["status"]
    seed_pages(item)
    record = PageRecord.objects.get()
    assert (record.page_type, record.status) == ("outbound", "published")
    assert (record.page.page_type, record.page.status) == ("outbound", "published")


def test_what_the_service_sends_beyond_the_spec_is_kept() -> None:
    seed_pages(wire.page(colour="green"))
    assert PageRecord.objects.get().page.to_wire()["colour"] == "green"


@pytest.mark.parametrize("field", ["name", "title", "status", "pageType", "brandId", "pageContext"])
def test_a_page_with_long_texts_is_kept_whole(field: str) -> None:
    # Random, so that no database can compress it.
    text = "".join(chr(0x4E00 + randbelow(20_000)) for _ in range(5_000))
    seed_pages(wire.page(**{field: text}))
    assert PageRecord.objects.get().page.to_wire()[field] == text


@pytest.mark.parametrize("field", ["effectiveName", "status"])
def test_an_audience_with_long_texts_is_kept_whole(field: str) -> None:
    text = "".join(chr(0x4E00 + randbelow(20_000)) for _ in range(5_000))
    version = {"latestVersion": wire.version(status=text)} if field == "status" else {}
    seed_audiences(wire.audience(effectiveName=text, **version))
    assert text in str(AudienceRecord.objects.get().audience.to_wire())


def test_a_page_listed_twice_is_one_record() -> None:
    seed_pages(wire.page(), wire.page(title="Later"))
    assert PageRecord.objects.get().title == "Later"


def test_an_audience_without_an_id_is_passed_over() -> None:
    seed_audiences(wire.audience(audienceId=None))
    assert not AudienceRecord.objects.exists()


def test_one_audience_id_on_two_pages_is_two_audiences() -> None:
    for page_id in ("page_1", "page_2"):
        seed_audiences(wire.audience(), page_id=page_id)
    assert AudienceRecord.objects.count() == 2


def test_coverage_counts_what_is_known_of_what_there_is() -> None:
    seed_pages(wire.page(), total=240)
    coverage = pages_coverage()
    assert (coverage.recorded, coverage.total, coverage.missing) == (1, 240, 239)
    assert not coverage.is_full


def test_pages_are_counted_once_while_none_is_written(django_assert_num_queries: Queries) -> None:
    seed_pages(*fifty_pages())
    counted, _ = count_all_pages()
    with django_assert_num_queries(1):
        assert count_all_pages()[0] == counted
    assert counted.by_status([]) == {"published": 50}


@pytest.mark.parametrize("page_id", ["page_7", "page_new"])
def test_a_new_or_changed_page_is_counted_at_once(page_id: str) -> None:
    seed_pages(*fifty_pages())
    count_all_pages()
    record_page(PageItem.model_validate(wire.page(pageId=page_id, status="draft")))
    tally, coverage = count_all_pages()
    assert tally.by_status([])["draft"] == 1
    assert tally.total() == coverage.recorded == PageRecord.objects.count()


def test_before_any_look_nothing_is_known_to_be_complete() -> None:
    assert not pages_coverage().is_full
    assert not ListTotal.objects.exists()


def test_a_subscription_keeps_its_label_when_read_again() -> None:
    seen = WebhookSubscription.model_validate(wire.subscription())
    record_subscription(seen, label="CRM")
    record = record_subscription(seen.model_copy(update={"active": False}))
    assert (record.label, record.active) == ("CRM", False)
    assert record.subscription.active is False


def test_a_slow_subscription_read_undoes_nothing_newer() -> None:
    seen = WebhookSubscription.model_validate(wire.subscription())
    record_subscription(seen)
    read_at = timezone.now()
    record_subscription(seen.model_copy(update={"active": False}))
    record = record_subscription(seen, read_at=read_at)
    assert record.active is False
    record = record_subscription(seen, read_at=timezone.now())
    assert record.active is True


def test_the_answer_to_a_publish_moves_the_audience_along() -> None:
    seed_audiences(wire.audience())
    queued = AudienceVersion.model_validate(wire.version(status="queued"))
    record_version("page_1", queued)
    record = AudienceRecord.objects.get()
    assert record.latest_status == "queued"
    assert record.audience.latest_version == queued
    assert record.changed_at > record.first_seen_at


def test_an_older_version_leaves_the_audience_unchanged() -> None:
    seed_audiences(wire.audience())
    before = AudienceRecord.objects.get().digest
    record_version("page_1", AudienceVersion.model_validate(wire.live_version()))
    assert AudienceRecord.objects.get().digest == before


@pytest.mark.parametrize(
    ("seconds", "dated"), [(0.5, set()), (2, {"waits"}), (61, {"waits", "rests"})]
)
def test_undated_looks_date_what_is_in_progress(seconds: float, dated: set[str]) -> None:
    seen = [
        wire.audience(audienceId="waits", latestVersion=wire.version(status="queued")),
        wire.audience(audienceId="rests", latestVersion=wire.version(status="draft")),
    ]
    seed_audiences(*seen)
    now = timezone.now()
    before = now - timedelta(seconds=seconds)
    AudienceRecord.objects.update(last_seen_at=before, changed_at=now - timedelta(minutes=2))
    seed_audiences(*seen, read_at=now)
    noted = AudienceRecord.objects.filter(last_seen_at__gt=before)
    assert {*noted.values_list("audience_id", flat=True)} == dated


def test_a_slow_response_undoes_nothing_newer() -> None:
    read_at = timezone.now()
    third = wire.version(versionId="ver_3", versionNumber=3, status="published")
    seed_pages(wire.page(title="New"))
    seed_audiences(wire.audience(latestVersion=third))
    seed_pages(wire.page(), read_at=read_at)
    seed_audiences(wire.audience(), read_at=read_at)
    assert PageRecord.objects.get().title == "New"
    assert AudienceRecord.objects.get().latest_version_id == "ver_3"
    later = timezone.now()
    seed_pages(wire.page(), read_at=later)
    seed_audiences(wire.audience(), read_at=later)
    assert PageRecord.objects.get().title == wire.page()["title"]
    assert AudienceRecord.objects.get().latest_version_id == "ver_2"


def test_a_publish_response_beats_an_earlier_read() -> None:
    seed_audiences(wire.audience())
    read_at = timezone.now()
    queued = AudienceVersion.model_validate(wire.version(status="queued"))
    record_version("page_1", queued)
    seed_audiences(wire.audience(), read_at=read_at)
    assert AudienceRecord.objects.get().latest_status == "queued"
    assert VersionRecord.objects.get(version_id="ver_2").status == "queued"
