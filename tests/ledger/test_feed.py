"""The change feed returns every committed entry once, in any order of commits."""

from datetime import timedelta
from random import Random

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind, Installation
from tests.support.feed import FeedWriter, feed_writers, poll_all

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

POSTGRESQL = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")


def add_pages(*page_ids: str) -> None:
    with transaction.atomic():
        feed.add(*(FeedEntry(kind=FeedKind.PAGE, page_id=page_id) for page_id in page_ids))


def first_cursor() -> str:
    return poll_all(None).cursor


def page_ids(entries: list[FeedEntry]) -> list[str]:
    return [entry.page_id for entry in entries]


def test_a_poll_gets_what_changed_since_the_one_before() -> None:
    add_pages("before")
    cursor = first_cursor()
    add_pages("page_1", "page_2")
    changes = poll_all(cursor)
    assert page_ids(changes.entries) == ["page_1", "page_2"]
    add_pages("page_3")
    assert page_ids(poll_all(changes.cursor).entries) == ["page_3"]


def test_a_poll_gets_nothing_if_nothing_changed() -> None:
    add_pages("before")
    changes = poll_all(first_cursor())
    assert (changes.entries, changes.must_reload) == ([], False)


def test_a_first_poll_gets_a_cursor_alone() -> None:
    add_pages("before")
    changes = feed.changes_since(None)
    assert (changes.entries, changes.must_reload) == ([], False)


def test_an_entry_that_was_rolled_back_is_not_delivered() -> None:
    cursor = first_cursor()
    with transaction.atomic():
        add_pages("page_1")
        transaction.set_rollback(True)
    add_pages("page_2")
    assert page_ids(poll_all(cursor).entries) == ["page_2"]


def test_an_entry_holds_ids_and_a_time() -> None:
    cursor = first_cursor()
    with transaction.atomic():
        feed.add(
            FeedEntry(
                kind=FeedKind.OPERATION,
                page_id="page_1",
                audience_id="aud_1",
                object_id="pr-1",
                actor_id=7,
            )
        )
    [entry] = poll_all(cursor).entries
    assert (entry.kind, entry.page_id, entry.audience_id) == ("operation", "page_1", "aud_1")
    assert (entry.object_id, entry.user_id, entry.actor_id) == ("pr-1", None, 7)
    assert abs(entry.at - timezone.now()) < timedelta(minutes=1)


def test_only_its_own_user_sees_a_personal_entry() -> None:
    entries = [FeedEntry(kind=FeedKind.NOTIFICATION, user_id=user) for user in (1, 2, None)]
    visible = feed.visible_to(entries, 1)
    assert [entry.user_id for entry in visible] == [1, None]


@pytest.mark.parametrize(
    "cursor",
    [
        *("", "-", "7", "other-1", "{feed}-", "{feed}-x", "{feed}-²", "{feed}--1", "{feed}-0"),
        *("{feed}-1-1", "{feed}-" + "9" * 18, "{feed}-" + "9" * 40, "{feed}-1 ", "\0"),
    ],
)
def test_a_cursor_that_is_not_ours_reloads(cursor: str) -> None:
    now = first_cursor()
    changes = feed.changes_since(cursor.replace("{feed}", now.partition("-")[0]))
    assert (changes.must_reload, changes.entries) == (True, [])
    assert not feed.changes_since(changes.cursor).must_reload


def test_more_entries_than_a_response_may_have_reload() -> None:
    cursor = first_cursor()
    add_pages(*(f"page_{number}" for number in range(feed.MAX_ENTRIES)))
    assert len(poll_all(cursor).entries) == feed.MAX_ENTRIES
    add_pages("one_more")
    changes = poll_all(cursor)
    assert (changes.must_reload, changes.entries) == (True, [])
    assert not feed.changes_since(changes.cursor).must_reload


def test_old_entries_are_pruned_and_their_cursors_reload() -> None:
    old_cursor = first_cursor()
    add_pages("old")
    cursor = poll_all(old_cursor).cursor
    FeedEntry.objects.update(at=timezone.now() - feed.ENTRY_LIFETIME)
    add_pages("new")
    feed.prune_feed()
    assert page_ids(list(FeedEntry.objects.all())) == ["new"]
    assert feed.changes_since(old_cursor).must_reload
    assert page_ids(poll_all(cursor).entries) == ["new"]


def test_a_fully_pruned_feed_continues() -> None:
    add_pages("old")
    poll_all(first_cursor())
    FeedEntry.objects.update(at=timezone.now() - feed.ENTRY_LIFETIME)
    call_command("prune", older_than=30, verbosity=0)
    assert not FeedEntry.objects.exists()
    cursor = first_cursor()
    add_pages("new")
    changes = poll_all(cursor)
    assert (page_ids(changes.entries), changes.must_reload) == (["new"], False)


def test_a_restored_database_has_another_feed() -> None:
    add_pages("before")
    cursor = first_cursor()
    call_command("after_restore", verbosity=0)
    changes = feed.changes_since(cursor)
    assert (changes.must_reload, changes.entries) == (True, [])
    add_pages("after")
    assert page_ids(poll_all(changes.cursor).entries) == ["after"]


@POSTGRESQL
def test_positions_of_another_server_are_pruned_and_hold_nothing_back() -> None:
    add_pages("copied")
    FeedEntry.objects.update(transaction=2**60, at=timezone.now() - feed.ENTRY_LIFETIME)
    feed.prune_feed()
    assert Installation.objects.get().feed_pruned_to == 0
    cursor = first_cursor()
    add_pages("new")
    assert page_ids(poll_all(cursor).entries) == ["new"]


@POSTGRESQL
def test_a_later_number_that_commits_first_loses_nothing() -> None:
    cursor = first_cursor()
    with feed_writers(2) as (first, second):
        first.begin()
        first.add("early")
        second.begin()
        second.add("late")
        second.end()
        held = feed.changes_since(cursor)
        # A poll by the last number would return the later entry now, and never the earlier one.
        last = FeedEntry.objects.latest("seq")
        assert (held.entries, last.page_id) == ([], "late")
        first.end()
        assert not FeedEntry.objects.filter(seq__gt=last.seq).exists()
        assert page_ids(poll_all(held.cursor).entries) == ["early", "late"]


@POSTGRESQL
def test_a_long_transaction_delays_the_feed_and_the_delay_is_named() -> None:
    cursor = first_cursor()
    with feed_writers(1) as [writer]:
        writer.begin()
        writer.add("held")
        assert feed.changes_since(cursor).entries == []
        add_pages("waits")
        FeedEntry.objects.update(at=timezone.now() - timedelta(seconds=45))
        changes = feed.changes_since(cursor)
        assert changes.entries == []
        assert changes.delay_s == pytest.approx(45, abs=10)
        writer.end()
    assert page_ids(poll_all(cursor).entries) == ["held", "waits"]


@pytest.mark.parametrize("seed", range(12))
def test_no_history_loses_or_repeats_an_entry(seed: int) -> None:
    committed, delivered = random_history(seed)
    assert committed
    assert sorted(delivered) == sorted(committed)


def random_history(seed: int) -> tuple[list[str], list[str]]:
    """Let two writers and a poll take turns; return the committed and the delivered ids."""
    random, cursor = Random(seed), first_cursor()
    committed: list[str] = []
    delivered: list[str] = []
    with feed_writers(2) as writers:
        for number in range(60):
            writer, writing = random.choice(writers), [other for other in writers if other.is_open]
            # On SQLite, a second writer would wait for the first.
            is_alone = connection.vendor == "postgresql" or writing in ([], [writer])
            if is_alone and random.random() < 0.8:
                committed += take_step(writer, random, f"page_{number}")
            elif connection.vendor == "postgresql" or not writing:
                changes = feed.changes_since(cursor)
                cursor = changes.cursor
                delivered += page_ids(changes.entries)
        for writer in writers:
            committed += writer.end() if writer.is_open else []
    delivered += page_ids(poll_all(cursor).entries)
    return committed, delivered


def take_step(writer: FeedWriter, random: Random, page_id: str) -> list[str]:
    """Begin a transaction, add an entry, or end it; return the committed ids."""
    if not writer.is_open:
        writer.begin()
    elif random.random() < 0.6:
        writer.add(page_id)
    else:
        return writer.end(is_committed=random.random() < 0.8)
    return []
