"""Hints: what an event can make Pressroom read, and how often."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from dashboard.clock import CLAIM
from dashboard.webhooks.hints import (
    MAX_WAIT,
    MAX_WAITING,
    MIN_INTERVAL,
    claim_hints,
    delete_idle_hints,
    postpone,
    record_read,
    take_hint,
)
from dashboard.webhooks.models import HintResult, PageHint
from dashboard.work.claims import Claim
from tests.support.many_audiences import ManyAudiences

READ, NOT_KNOWN = HintResult.READ, HintResult.NOT_KNOWN
SECOND = timedelta(seconds=1)


@pytest.fixture
def now(db: None) -> datetime:
    """The current time, with a recorded page of two audiences and another of one."""
    service = ManyAudiences()
    service.add(2, page_id="page_1")
    service.add(1, page_id="page_2")
    return timezone.now()


def claim(now: datetime, worker_id: str = "worker", at_most: int = 5) -> list[Claim[PageHint]]:
    return claim_hints(worker_id, now, at_most=at_most)


@pytest.mark.parametrize(
    ("page_id", "audience_id", "result"),
    [
        ("page_1", "aud_1", READ),
        ("page_1", "aud_never_seen", READ),
        ("page_1", "", READ),
        ("", "aud_3", READ),
        ("page_never_seen", "aud_1", NOT_KNOWN),
        ("", "aud_never_seen", NOT_KNOWN),
        ("page_1\0", "aud_1", NOT_KNOWN),
        ("page_1", "aud_1\0", NOT_KNOWN),
        ("", "", HintResult.NONE),
    ],
)
def test_only_a_page_that_the_ledger_knows_is_read(
    now: datetime, page_id: str, audience_id: str, result: HintResult
) -> None:
    assert take_hint(page_id, audience_id, now) == result
    assert len(claim(now)) == (result == READ)


def test_an_audience_id_of_two_pages_names_none(now: datetime) -> None:
    service = ManyAudiences()
    service.add(1, page_id="page_3")  # its id is aud_1, too
    assert take_hint("", "aud_1", now) == NOT_KNOWN


def test_many_events_of_a_page_are_one_read(now: datetime) -> None:
    for number in range(100):
        take_hint("page_1", f"aud_{number % 3}", now)
    assert [hint.row.page_id for hint in claim(now)] == ["page_1"]
    assert PageHint.objects.count() == 1


def test_a_page_is_read_again_after_a_second(now: datetime) -> None:
    take_hint("page_1", "aud_1", now)
    [hint] = claim(now)
    record_read(hint, read_at=now, is_complete=True)
    take_hint("page_1", "aud_1", now + MIN_INTERVAL * 0.1)
    assert claim(now + MIN_INTERVAL * 0.9) == []
    assert len(claim(now + MIN_INTERVAL)) == 1


def test_an_event_during_a_read_repeats_the_read(now: datetime) -> None:
    take_hint("page_1", "aud_1", now)
    [hint] = claim(now)
    take_hint("page_1", "aud_2", now + SECOND / 2)
    record_read(hint, read_at=now, is_complete=True)
    assert len(claim(now + SECOND)) == 1


def test_a_page_is_read_once_per_event(now: datetime) -> None:
    take_hint("page_1", "aud_1", now)
    [hint] = claim(now + SECOND)
    record_read(hint, read_at=now + SECOND, is_complete=True)
    assert claim(now + MAX_WAIT) == []


def test_two_workers_claim_different_pages(now: datetime) -> None:
    take_hint("page_1", "aud_1", now)
    take_hint("page_2", "aud_3", now)
    first, second = claim(now, "one", at_most=1), claim(now, "two", at_most=5)
    assert {hint.row.page_id for hint in (*first, *second)} == {"page_1", "page_2"}
    assert claim(now, "three") == []


def test_another_worker_reads_a_killed_worker_s_page(now: datetime) -> None:
    take_hint("page_1", "aud_1", now)
    [lost] = claim(now, "killed")
    [hint] = claim(now + CLAIM, "another")
    record_read(lost, read_at=now, is_complete=True)  # it was suspended and returns too late
    assert PageHint.objects.get().worker_id == "another"
    record_read(hint, read_at=now + CLAIM, is_complete=True)
    assert PageHint.objects.get().wake_at is None


def test_an_unreadable_hint_is_dropped_after_a_minute(now: datetime) -> None:
    take_hint("page_1", "aud_1", now)
    [hint] = claim(now)
    postpone(hint, now + MAX_WAIT)
    [hint] = claim(now + MAX_WAIT)
    postpone(hint, now + MAX_WAIT + SECOND)
    assert claim(now + MAX_WAIT + SECOND) == []
    assert PageHint.objects.get().wake_at is None
    assert take_hint("page_1", "aud_1", now + 2 * MAX_WAIT) == READ
    assert len(claim(now + 2 * MAX_WAIT)) == 1


def test_a_thousand_pages_wait_at_most(now: datetime) -> None:
    times = {"waiting_since": now, "wake_at": now, "not_before": now}
    others = [PageHint(page_id=f"other_{number}", **times) for number in range(MAX_WAITING - 1)]
    PageHint.objects.bulk_create(others)
    assert take_hint("page_1", "aud_1", now) == READ
    assert take_hint("page_2", "aud_3", now) == HintResult.TOO_MANY
    assert take_hint("page_1", "aud_2", now) == READ
    assert PageHint.objects.count() == MAX_WAITING


def test_rows_of_pages_at_rest_are_deleted(now: datetime) -> None:
    take_hint("page_1", "aud_1", now)
    take_hint("page_2", "aud_3", now)
    [hint] = claim(now, at_most=1)
    record_read(hint, read_at=now + SECOND, is_complete=True)
    delete_idle_hints(now + MAX_WAIT / 2)
    assert PageHint.objects.count() == 2
    delete_idle_hints(now + 2 * MAX_WAIT)
    assert [row.wake_at for row in PageHint.objects.all()] == [now]
