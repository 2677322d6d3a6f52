"""Publications record what was live when, by whom and why, as far as it was seen.

A version that goes live without a recorded operation is listed as published outside Pressroom. One
that Pressroom publishes never is.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.attribution import may_be_lost
from dashboard.ledger.models import Attempt, Operation, Publication
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, begin_retry, end
from dashboard.ledger.queries.audiences import outside_publications
from dashboard.service.client import publishing_client
from dashboard.service.reading import read_audiences
from tests.support import wire
from tests.support.clock import Clock, stopped
from tests.support.fake_service import FakeService
from tests.support.interleaving import (
    PATIENCE_S,
    before_statement,
    before_transaction,
    begun,
    held_at,
    is_anyone_waiting,
)
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
def test_operations_may_be_missing_after_a_restore(
    queued_at: str | None, published_at: str | None, read_before_at: datetime, lost: bool
) -> None:
    live = version(queuedAt=queued_at, publishedAt=published_at)
    assert may_be_lost(live, read_before_at=read_before_at, restored_at=NOON) is lost
    assert not may_be_lost(live, read_before_at=read_before_at, restored_at=None)


# Reading through the client


@pytest.fixture
def service(fake_service: FakeService, db: None) -> ManyAudiences:
    """A service with one page and one audience, read once; version 1 is live."""
    many = ManyAudiences()
    fake_service.answer = many
    many.add(1, latestVersion=many.version(KEY, 9))
    return many


def go_live(
    service: ManyAudiences, number: int, *, hour: int | None = None, key: Key = KEY
) -> None:
    """Make a version live at the service, published at that hour or now."""
    date = timezone.now().isoformat() if hour is None else at_hour(hour)
    service.change(key, publishedVersion=service.live(key, number, publishedAt=date))


def listed() -> list[int]:
    """Return the numbers of the versions listed as published outside, oldest first."""
    publications = outside_publications().order_by("pk")
    return list(publications.values_list("version_number", flat=True))


def begin_publish(actor: User, service: ManyAudiences, number: int) -> Attempt:
    """Record the publish of a version; return its attempt."""
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


def test_versions_live_at_the_first_read_are_omitted(service: ManyAudiences) -> None:
    read_audiences("page_1")
    assert listed() == []


def test_a_version_live_without_operation_is_listed_once(service: ManyAudiences) -> None:
    go_live(service, 2)
    for _ in range(2):
        read_audiences("page_1")
    outside = outside_publications().get()
    assert (outside.version_number, outside.audience_name, outside.page_name) == (
        2,
        "Name of aud_1",
        "Name of page_1",
    )
    assert timezone.now() - outside.seen_at < timedelta(minutes=1)


def test_the_first_version_that_goes_live_is_listed(service: ManyAudiences) -> None:
    service.change(KEY, publishedVersion=None)
    read_audiences("page_1")
    go_live(service, 2)
    read_audiences("page_1")
    assert listed() == [2]


@pytest.mark.parametrize("outcome", Outcome)
def test_an_operation_that_may_have_run_says_so(
    service: ManyAudiences, paula: User, outcome: Outcome
) -> None:
    attempt = begin_publish(paula, service, 2)
    if outcome != Outcome.SENDING:
        end(attempt, AttemptResult(outcome))
    go_live(service, 2)
    read_audiences("page_1")
    assert listed() == ([] if outcome in MAY_BE_OURS else [2])


def test_a_rejection_corrects_the_read_that_overtook_it(
    service: ManyAudiences, paula: User
) -> None:
    attempt = begin_publish(paula, service, 2)
    go_live(service, 2)
    read_audiences("page_1")
    end(attempt, AttemptResult(Outcome.REJECTED))
    assert listed() == [2]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_rejection_corrects_the_read_at_the_same_moment(
    service: ManyAudiences, paula: User
) -> None:
    read_audiences("page_1")
    attempt = begin_publish(paula, service, 2)
    go_live(service, 2)
    recording = before_statement('INSERT INTO "ledger_publication"')
    with held_at(recording, read_audiences, "page_1"):
        rejection = begun(before_transaction(), end, attempt, AttemptResult(Outcome.REJECTED))
        while not rejection.done() and not is_anyone_waiting():
            pass
    assert rejection.result(PATIENCE_S).outcome == Outcome.REJECTED
    assert listed() == [2]


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


def test_a_rollback_elsewhere_is_listed(service: ManyAudiences, paula: User) -> None:
    publish_here(service, paula, 2, hour=1)
    publish_here(service, paula, 3, hour=2)
    go_live(service, 2, hour=3)
    read_audiences("page_1")
    assert listed() == [2]


def test_a_version_is_listed_each_time_it_goes_live(service: ManyAudiences) -> None:
    for hour, number in enumerate((2, 1, 2)):
        go_live(service, number, hour=hour)
        read_audiences("page_1")
    assert listed() == [2, 1, 2]


def test_a_retry_explains_what_has_changed(service: ManyAudiences, paula: User) -> None:
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


def test_a_forestalled_publish_is_recognized_by_its_response(
    service: ManyAudiences, paula: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    attempt = begin_publish(paula, service, 2)

    def go_live_and_be_read() -> None:
        clock.advance(1)
        go_live(service, 2)
        read_audiences("page_1")

    go_live_and_be_read()
    clock.advance(1)
    response = json.dumps(service.live(KEY, 2, publishedAt=timezone.now().isoformat()))
    go_live(service, 2)
    end(attempt, AttemptResult(Outcome.ACCEPTED, response_body=response))
    read_audiences("page_1")
    assert listed() == []
    go_live_and_be_read()
    assert listed() == [2]


def test_an_outdated_response_lists_and_uses_up_nothing(
    service: ManyAudiences, paula: User
) -> None:
    """As from a lagging replica."""
    publish_here(service, paula, 2, hour=1)
    publish_here(service, paula, 3, hour=2)
    attempt = begin_publish(paula, service, 2)
    for number, hour in ((2, 1), (3, 2), (2, 3)):
        go_live(service, number, hour=hour)
        read_audiences("page_1")
    end(attempt, AttemptResult(Outcome.ACCEPTED))
    assert listed() == []


def record_overtaken(service: ManyAudiences, clock: Clock, number: int) -> None:
    """Make a version go live, and record the read from before after the read that returned it."""
    client = publishing_client().audiences
    clock.advance(1)
    overtaken, began_at = client.list("page_1"), timezone.now()
    clock.advance(1)
    go_live(service, number)
    overtaking = client.list("page_1")
    clock.advance(1)
    # The read that began first has the newer response.
    first_at = began_at - timedelta(seconds=0.5)
    read_audiences("page_1", listing=lambda: overtaking, read_at=first_at)
    read_audiences("page_1", listing=lambda: overtaken, read_at=began_at)
    clock.advance(1)


def check_on_record(*numbers: int) -> None:
    """Fail if the recorded publications aren't these, or have gaps between them."""
    publications = Publication.objects.order_by("started_at", "pk")
    assert [publication.version_number for publication in publications] == [*numbers]
    assert not any(publication.is_start_seen for publication in publications)
    for publication, successor in pairwise(publications):
        assert publication.ended_at == successor.started_at


@pytest.mark.parametrize("next_number", [1, 2, 3])
@pytest.mark.parametrize("was_live", [1, 4, None])
def test_an_overtaken_response_leaves_no_publication(
    service: ManyAudiences, monkeypatch: pytest.MonkeyPatch, was_live: int | None, next_number: int
) -> None:
    """Version 1 is recorded. What followed it (4 or nothing) is only in the overtaken response."""
    clock = stopped(monkeypatch)
    read_audiences("page_1")
    clock.advance(1)
    if was_live is None:
        service.change(KEY, publishedVersion=None)
    elif was_live != 1:
        go_live(service, was_live)
    record_overtaken(service, clock, 2)
    if next_number != 2:
        go_live(service, next_number)
    read_audiences("page_1")
    check_on_record(1, 2, *([] if next_number == 2 else [next_number]))


def test_nothing_may_be_live_after_an_overtaken_response(
    service: ManyAudiences, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    read_audiences("page_1")
    go_live(service, 4)
    record_overtaken(service, clock, 2)
    service.change(KEY, publishedVersion=None)
    read_audiences("page_1")
    check_on_record(1, 2)
    assert not any(publication.is_live for publication in Publication.objects.all())


def test_each_publication_of_an_undated_version_is_listed(service: ManyAudiences) -> None:
    for number in (2, 1, 2):
        service.change(KEY, publishedVersion=service.live(KEY, number, publishedAt=None))
        read_audiences("page_1")
    assert listed() == [2, 1, 2]


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
    assert outside_publications().get().page_id == "page_2"


def test_nothing_is_listed_after_a_restore_until_read(service: ManyAudiences) -> None:
    call_command("after_restore", verbosity=0)
    go_live(service, 2)
    read_audiences("page_1")
    assert listed() == []
    queued_at = (timezone.now() + timedelta(minutes=1)).isoformat()
    third = service.live(KEY, 3, queuedAt=queued_at, publishedAt=queued_at)
    service.change(KEY, publishedVersion=third)
    read_audiences("page_1")
    assert listed() == [3]


def test_versions_queued_at_a_restore_are_not_listed(service: ManyAudiences) -> None:
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
def test_only_a_changed_live_version_costs_queries(
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
    # If nothing went live, as many as in test_recording.py. Otherwise one more for the replaced
    # versions, six to find out that they were published outside, ten to notify, one for the feed.
    changed = 7 + connection.features.has_select_for_update
    with django_assert_max_num_queries(changed + (1 if gone_live else 0) + more):
        read_audiences("page_1")
    assert len(listed()) == gone_live


# Random histories

STEP = st.tuples(st.sampled_from(["here", "lost", "elsewhere", "read"]), st.integers(1, 3))
"""What happens to a version: published here, here with a lost response, or elsewhere; or a read."""


class AnyHistory(TestCase):
    """Identifies what goes live by its date, as no two dates are the same."""

    @given(steps=st.lists(STEP, max_size=12))
    def test_what_is_published_here_is_never_listed(self, steps: list[tuple[str, int]]) -> None:
        elsewhere, observed = live_through(steps, reads_each=False)
        assert observed <= elsewhere

    @given(steps=st.lists(STEP, max_size=12))
    def test_outside_publishes_are_listed_if_all_are_read(
        self, steps: list[tuple[str, int]]
    ) -> None:
        elsewhere, observed = live_through(steps, reads_each=True)
        assert observed == elsewhere


def live_through(
    steps: list[tuple[str, int]], *, reads_each: bool
) -> tuple[set[datetime], set[datetime]]:
    """Return the dates of versions that went live elsewhere, and of those that are listed."""
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
    return elsewhere, set(outside_publications().values_list("published_at", flat=True))
