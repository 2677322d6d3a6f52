"""What goes live with no operation on record is listed; what Pressroom publishes never is."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.ledger.models import Attempt, Operation, OutsidePublish, VersionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, begin_retry, end
from dashboard.ledger.outside_publishes import (
    is_explained,
    is_published_anew,
    may_be_lost,
    record_went_live,
    went_live,
)
from dashboard.service.reading import read_audiences
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.many_audiences import Key, ManyAudiences

MAY_BE_OURS = (Outcome.SENDING, Outcome.ACCEPTED, Outcome.UNKNOWN)
KEY = ("page_1", "aud_1")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BEFORE, AFTER = NOON - timedelta(hours=1), NOON + timedelta(hours=1)

pure = pytest.mark.same_on_any_database


def version(**differs: Any) -> AudienceVersion:
    return AudienceVersion.model_validate(wire.live_version(**differs))


def at_hour(hour: int) -> str:
    return (NOON.replace(hour=0) + timedelta(hours=hour)).isoformat()


# The decision


@pure
@pytest.mark.parametrize(
    ("sent_at", "noticed_live_at", "explained"),
    [
        ([], None, False),
        ([NOON], None, True),
        ([AFTER], NOON, True),
        ([BEFORE], NOON, False),
        ([NOON], NOON, True),
        ([BEFORE, AFTER], NOON, True),
    ],
)
def test_a_publish_explains_the_first_time_live_after_it_was_sent(
    sent_at: list[datetime], noticed_live_at: datetime | None, explained: bool
) -> None:
    assert is_explained(sent_at, noticed_live_at) is explained


@pure
@given(
    sent_at=st.lists(st.datetimes(timezones=st.just(UTC))),
    noticed_live_at=st.none() | st.datetimes(timezones=st.just(UTC)),
)
def test_another_publish_never_makes_a_version_outside(
    sent_at: list[datetime], noticed_live_at: datetime | None
) -> None:
    later = (noticed_live_at or NOON) + timedelta(seconds=1)
    assert is_explained([*sent_at, later], noticed_live_at)
    if is_explained(sent_at[1:], noticed_live_at):
        assert is_explained(sent_at, noticed_live_at)


@pure
@pytest.mark.parametrize(
    ("live_before", "now", "found"),
    [
        ({}, "ver_1", {}),
        ({"aud_1": "ver_1"}, "ver_1", {}),
        ({"aud_1": "ver_1"}, "ver_2", {"aud_1": "ver_2"}),
        ({"aud_1": ""}, "ver_1", {"aud_1": "ver_1"}),
        ({"aud_2": "ver_1"}, "ver_2", {}),
        ({"aud_1": "ver_1"}, None, {}),
        ({"aud_1": ""}, None, {}),
    ],
)
def test_what_was_live_when_an_audience_was_first_read_has_not_gone_live(
    live_before: dict[str, str], now: str | None, found: dict[str, str]
) -> None:
    live = wire.live_version(versionId=now) if now else None
    audience = Audience.model_validate(wire.audience(publishedVersion=live))
    before = {key: SimpleNamespace(live_version_id=live) for key, live in live_before.items()}
    live_now = went_live({"aud_1": audience}, before)
    assert {key: each.version_id for key, each in live_now.items()} == found


@pure
@pytest.mark.parametrize(
    ("noticed_live_at", "date_then", "date_now", "anew"),
    [
        (None, at_hour(1), at_hour(1), True),
        (BEFORE, at_hour(1), at_hour(1), False),
        (BEFORE, at_hour(1), at_hour(2), True),
        (BEFORE, None, at_hour(2), True),
        (BEFORE, None, None, True),
        (AFTER, at_hour(1), at_hour(2), False),
        (AFTER, None, None, False),
    ],
)
def test_a_version_found_live_with_the_same_date_or_by_another_read_is_not_published_anew(
    noticed_live_at: datetime | None, date_then: str | None, date_now: str | None, anew: bool
) -> None:
    known = VersionRecord(
        body=version(publishedAt=date_then).to_json(), noticed_live_at=noticed_live_at
    )
    assert is_published_anew(version(publishedAt=date_now), known, NOON) is anew


@pure
def test_a_version_never_seen_before_was_published() -> None:
    assert is_published_anew(version(), None, NOON)


@pure
@pytest.mark.parametrize(
    ("queued_at", "published_at", "read_before_at", "lost"),
    [
        (None, None, BEFORE, True),
        (None, None, AFTER, False),
        (at_hour(10), at_hour(13), AFTER, True),
        (at_hour(13), at_hour(13), AFTER, False),
        (None, at_hour(10), AFTER, True),
        (at_hour(13), at_hour(13), BEFORE, True),
    ],
)
def test_what_began_before_a_restore_may_have_lost_its_operation(
    queued_at: str | None, published_at: str | None, read_before_at: datetime, lost: bool
) -> None:
    live = version(queuedAt=queued_at, publishedAt=published_at)
    assert may_be_lost(live, read_before_at=read_before_at, restored_at=NOON) is lost
    assert not may_be_lost(live, read_before_at=read_before_at, restored_at=None)


# Reading through the client


@pytest.fixture
def service(fake_service: FakeService, db: None) -> ManyAudiences:
    """A service with one page and one audience, read once: version 1 is live."""
    many = ManyAudiences()
    fake_service.answer = many
    many.add(1, latestVersion=many.version(KEY, 9))
    return many


def go_live(service: ManyAudiences, number: int, *, hour: int = 12, key: Key = KEY) -> None:
    """Let a version be live at the service, published at that hour."""
    service.change(key, publishedVersion=service.live(key, number, publishedAt=at_hour(hour)))


def listed() -> list[int]:
    """Return the numbers of the versions listed as published outside, oldest first."""
    found = OutsidePublish.objects.order_by("pk")
    return list(found.values_list("version_number", flat=True))


def begin_publish(actor: User, service: ManyAudiences, number: int) -> Attempt:
    """Record the publish of a version, and return its attempt."""
    version_id = service.version(KEY, number)["versionId"]
    key = f"key-{Operation.objects.count()}"
    _, attempt = begin(
        operation_key=key,
        kind=OperationKind.PUBLISH_VERSION,
        actor=actor,
        target=Target(*KEY, version_id, number, target_name="Brightwater"),
        body={"operationKey": key},
    )
    assert attempt
    return attempt


def test_what_was_live_at_the_first_read_is_not_listed(service: ManyAudiences) -> None:
    read_audiences("page_1")
    assert listed() == []


def test_a_version_that_went_live_with_no_operation_is_listed_once(service: ManyAudiences) -> None:
    go_live(service, 2)
    for _ in range(2):
        read_audiences("page_1")
    found = OutsidePublish.objects.get()
    assert (found.version_number, found.audience_name, found.page_name) == (
        2,
        "Name of aud_1",
        "Name of page_1",
    )
    assert found.at == found.published_at == NOON
    assert timezone.now() - found.noticed_at < timedelta(minutes=1)


def test_the_first_version_that_goes_live_is_listed(service: ManyAudiences) -> None:
    service.change(KEY, publishedVersion=None)
    read_audiences("page_1")
    go_live(service, 2)
    read_audiences("page_1")
    assert listed() == [2]


@pytest.mark.parametrize("outcome", Outcome)
def test_an_operation_that_may_have_been_carried_out_explains_it(
    service: ManyAudiences, paula: User, outcome: Outcome
) -> None:
    attempt = begin_publish(paula, service, 2)
    if outcome != Outcome.SENDING:
        end(attempt, AttemptResult(outcome))
    go_live(service, 2)
    read_audiences("page_1")
    assert listed() == ([] if outcome in MAY_BE_OURS else [2])


def test_a_read_that_overtakes_the_outcome_lists_nothing_even_if_the_outcome_is_a_failure(
    service: ManyAudiences, paula: User
) -> None:
    attempt = begin_publish(paula, service, 2)
    go_live(service, 2)
    read_audiences("page_1")
    end(attempt, AttemptResult(Outcome.REJECTED))
    read_audiences("page_1")
    assert listed() == []


def test_the_publish_of_another_version_explains_nothing(
    service: ManyAudiences, paula: User
) -> None:
    end(begin_publish(paula, service, 2), AttemptResult(Outcome.ACCEPTED))
    go_live(service, 3)
    read_audiences("page_1")
    assert listed() == [3]


def publish_here(service: ManyAudiences, actor: User, number: int, *, hour: int) -> None:
    """Publish a version through Pressroom, and read it back."""
    end(begin_publish(actor, service, number), AttemptResult(Outcome.ACCEPTED))
    go_live(service, number, hour=hour)
    read_audiences("page_1")


def test_a_rollback_from_pressroom_is_not_listed(service: ManyAudiences, paula: User) -> None:
    for hour, number in enumerate((2, 3, 2, 3)):
        publish_here(service, paula, number, hour=hour)
    assert listed() == []


def test_a_rollback_elsewhere_is_listed_though_the_version_was_published_here_once(
    service: ManyAudiences, paula: User
) -> None:
    publish_here(service, paula, 2, hour=1)
    publish_here(service, paula, 3, hour=2)
    go_live(service, 2, hour=3)
    read_audiences("page_1")
    assert listed() == [2]


def test_a_version_listed_once_is_listed_again_when_it_goes_live_again(
    service: ManyAudiences,
) -> None:
    for hour, number in enumerate((2, 1, 2)):
        go_live(service, number, hour=hour)
        read_audiences("page_1")
    assert listed() == [2, 1, 2]


def test_a_retry_explains_what_its_first_attempt_no_longer_does(
    service: ManyAudiences, paula: User
) -> None:
    attempt = begin_publish(paula, service, 2)
    end(attempt, AttemptResult(Outcome.UNKNOWN))
    go_live(service, 2, hour=1)
    read_audiences("page_1")
    publish_here(service, paula, 3, hour=2)
    retry = begin_retry(attempt.operation, actor=paula)
    assert retry
    end(retry, AttemptResult(Outcome.ACCEPTED))
    go_live(service, 2, hour=3)
    read_audiences("page_1")
    assert listed() == []


def test_an_outdated_response_lists_nothing_and_uses_up_no_publish(
    service: ManyAudiences, paula: User
) -> None:
    """As from a replica that lags behind."""
    publish_here(service, paula, 2, hour=1)
    publish_here(service, paula, 3, hour=2)
    attempt = begin_publish(paula, service, 2)
    for number, hour in ((2, 1), (3, 2), (2, 3)):
        go_live(service, number, hour=hour)
        read_audiences("page_1")
    end(attempt, AttemptResult(Outcome.ACCEPTED))
    assert listed() == []


def test_a_version_without_a_date_is_listed_once(service: ManyAudiences) -> None:
    for number in (2, 1, 2):
        service.change(KEY, publishedVersion=service.live(KEY, number, publishedAt=None))
        read_audiences("page_1")
    assert listed() == [2, 1]


def read_twice_at_once(service: ManyAudiences) -> None:
    """Record two reads, the second of which knows nothing of the first."""
    audience = Audience.model_validate(service.audiences[KEY])
    live = service.version(KEY, 1)["versionId"]
    before = {"aud_1": SimpleNamespace(live_version_id=live, last_seen_at=timezone.now())}
    read_audiences("page_1")
    with transaction.atomic():
        record_went_live("page_1", {"aud_1": audience}, before, timezone.now())


@pytest.mark.parametrize("date", [at_hour(12), None])
def test_two_reads_at_once_list_it_once(service: ManyAudiences, date: str | None) -> None:
    service.change(KEY, publishedVersion=service.live(KEY, 2, publishedAt=date))
    read_twice_at_once(service)
    assert listed() == [2]


@pytest.mark.parametrize("date", [at_hour(12), None])
def test_two_reads_at_once_do_not_list_what_was_published_here(
    service: ManyAudiences, paula: User, date: str | None
) -> None:
    end(begin_publish(paula, service, 2), AttemptResult(Outcome.ACCEPTED))
    service.change(KEY, publishedVersion=service.live(KEY, 2, publishedAt=date))
    read_twice_at_once(service)
    assert listed() == []


@pytest.mark.django_db
def test_the_same_row_twice_is_one_row() -> None:
    """As two transactions insert it that do not see each other."""
    for date in (NOON, None):
        for _ in range(2):
            row = OutsidePublish(
                page_id="page_1",
                audience_id="aud_1",
                version_id="ver_2",
                version_number=2,
                published_at=date,
                noticed_at=AFTER,
            )
            OutsidePublish.objects.bulk_create([row], ignore_conflicts=True)
    assert OutsidePublish.objects.count() == 2


def test_the_same_ids_on_another_page_are_another_audience(
    service: ManyAudiences, paula: User
) -> None:
    end(begin_publish(paula, service, 2), AttemptResult(Outcome.ACCEPTED))
    other = ("page_2", "aud_1")
    service.pages["page_2"] = wire.page(pageId="page_2")
    service.audiences[other] = wire.audience(publishedVersion=service.live(KEY, 1))
    read_audiences("page_2")
    service.change(other, publishedVersion=service.live(KEY, 2))
    read_audiences("page_2")
    assert OutsidePublish.objects.get().page_id == "page_2"


def test_after_a_restore_nothing_is_listed_until_an_audience_was_read_again(
    service: ManyAudiences,
) -> None:
    call_command("after_restore", verbosity=0)
    go_live(service, 2)
    read_audiences("page_1")
    assert listed() == []
    queued_at = (timezone.now() + timedelta(minutes=1)).isoformat()
    third = service.live(KEY, 3, queuedAt=queued_at, publishedAt=queued_at)
    service.change(KEY, publishedVersion=third)
    read_audiences("page_1")
    assert listed() == [3]


def test_what_was_queued_when_a_ledger_was_restored_is_not_listed(service: ManyAudiences) -> None:
    call_command("after_restore", verbosity=0)
    service.change(KEY, effectiveName="New")
    read_audiences("page_1")
    queued_at = (timezone.now() - timedelta(minutes=1)).isoformat()
    live_at = (timezone.now() + timedelta(minutes=1)).isoformat()
    service.change(
        KEY, publishedVersion=service.live(KEY, 2, queuedAt=queued_at, publishedAt=live_at)
    )
    read_audiences("page_1")
    assert listed() == []


@pytest.mark.parametrize(("gone_live", "more"), [(0, 0), (1, 16), (20, 16)])
def test_only_a_read_that_finds_another_live_version_costs_queries(
    service: ManyAudiences,
    django_assert_max_num_queries: Callable[..., Any],
    gone_live: int,
    more: int,
) -> None:
    keys = service.add(20)
    for key in keys:
        service.change(key, effectiveName="New")
    for key in keys[:gone_live]:
        go_live(service, 2, key=key)
    # Without versions that went live as in test_recording.py, and one for those they replaced;
    # six find out that they are outside, and ten notify of all of them.
    changed = 6 + connection.features.has_select_for_update
    with django_assert_max_num_queries(changed + (1 if gone_live else 0) + more):
        read_audiences("page_1")
    assert len(listed()) == gone_live


# Random histories

STEP = st.tuples(st.sampled_from(["here", "lost", "elsewhere", "read"]), st.integers(1, 3))
"""Publish this version: in Pressroom, there with a response that is lost, or elsewhere."""


class AnyHistory(TestCase):
    """What goes live is found by its date: no two are the same."""

    @given(steps=st.lists(STEP, max_size=12))
    def test_what_is_published_here_is_never_listed(self, steps: list[tuple[str, int]]) -> None:
        elsewhere, found = live_through(steps, reads_each=False)
        assert found <= elsewhere

    @given(steps=st.lists(STEP, max_size=12))
    def test_what_is_published_elsewhere_is_listed_if_each_is_read(
        self, steps: list[tuple[str, int]]
    ) -> None:
        elsewhere, found = live_through(steps, reads_each=True)
        assert found == elsewhere


def live_through(
    steps: list[tuple[str, int]], *, reads_each: bool
) -> tuple[set[datetime], set[datetime]]:
    """Return when versions went live elsewhere, and the dates of those that are listed."""
    service, actor = ManyAudiences(), User.objects.create_user("rosa")
    service.add(1)
    live, elsewhere = 1, set()
    for minute, (what, number) in enumerate(steps):
        if what == "read" or number == live:
            service.record()
            continue
        if what != "elsewhere":
            outcome = Outcome.ACCEPTED if what == "here" else Outcome.UNKNOWN
            end(begin_publish(actor, service, number), AttemptResult(outcome))
        live, at = number, NOON + timedelta(minutes=minute)
        if what == "elsewhere":
            elsewhere.add(at)
        published = service.live(KEY, number, publishedAt=at.isoformat())
        service.change(KEY, publishedVersion=published)
        if reads_each:
            service.record()
    service.record()
    return elsewhere, set(OutsidePublish.objects.values_list("published_at", flat=True))
