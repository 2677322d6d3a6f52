"""Who follows a view of Activity is notified of operations that match it, by their outcome."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.ledger.models import Attempt, Operation, SavedView
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, begin_retry, end
from dashboard.notifications.followed_changes import compare_followed
from dashboard.notifications.following import follow
from dashboard.notifications.models import Event, Followed
from tests.notifications.test_events import notices_of
from tests.support.clock import Clock
from tests.support.seeding import seed_view

pytestmark = pytest.mark.django_db
ACME = Target("page_1", "aud_1", "ver_3", 3, target_name="Acme")


def start(user: User, key: str = "pr-1", target: Target = ACME, **more: Any) -> Attempt:
    """Record that a publish was sent."""
    fields = {"kind": OperationKind.PUBLISH_VERSION, "body": {}} | more
    _, attempt = begin(operation_key=key, actor=user, target=target, **fields)
    assert attempt
    return attempt


def publish(user: User, key: str = "pr-1", outcome: Outcome = Outcome.ACCEPTED) -> Operation:
    """Record a publish with its outcome."""
    return end(start(user, key), AttemptResult(outcome))


def follow_activity(user: User, query: str = "kind=publish_version") -> None:
    follow(user, view=seed_view(None, list_name="activity", name="All publishes", query=query))


def minute(clock: Clock) -> None:
    """Let a worker compare, a minute after the last time."""
    clock.advance(60)
    compare_followed(timezone.now())


def changes_for(user: User) -> list[str]:
    """Return what a user is notified of by following, not by the publish itself."""
    return [words for words in notices_of(user) if " published " not in words]


def test_an_operation_is_named_with_its_outcome_once(vera: User, paula: User, clock: Clock) -> None:
    follow_activity(vera)
    publish(paula)
    for _ in range(8):
        minute(clock)
    assert changes_for(vera) == ["Publish version 3 of Acme: succeeded."]
    assert Event.objects.get(kind="followed_changed").path == "/activity/pr-1/"


def test_other_operations_are_named_as_in_activity(vera: User, paula: User, clock: Clock) -> None:
    follow_activity(vera, "actor=paula")
    page = start(paula, "key-1", Target(target_name="Fleet"), kind=OperationKind.CREATE_PAGE)
    end(page, AttemptResult(Outcome.ACCEPTED))
    minute(clock)
    update, target = OperationKind.UPDATE_SUBSCRIPTION, Target(subscription_id="whs_1")
    end(start(paula, "key-2", target, kind=update), AttemptResult(Outcome.NOT_SENT))
    minute(clock)
    assert changes_for(vera) == [
        "Create page Fleet: succeeded.",
        "Update webhook whs_1: not sent.",
    ]


def test_an_outcome_that_changes_is_reported_again(vera: User, paula: User, clock: Clock) -> None:
    follow_activity(vera)
    unknown = publish(paula, outcome=Outcome.UNKNOWN)
    minute(clock)
    clock.advance(3600)
    retry = begin_retry(unknown, actor=paula)
    assert retry
    minute(clock)
    end(retry, AttemptResult(Outcome.ACCEPTED))
    minute(clock)
    assert changes_for(vera) == [
        "Publish version 3 of Acme: outcome unknown.",
        "Publish version 3 of Acme: in progress.",
        "Publish version 3 of Acme: succeeded.",
    ]


def test_several_are_counted_and_lead_to_the_view(vera: User, paula: User, clock: Clock) -> None:
    follow_activity(vera)
    publish(paula, "pr-1", Outcome.UNKNOWN)
    minute(clock)
    Event.objects.all().delete()
    retry = begin_retry(Operation.objects.get(), actor=paula)
    assert retry
    end(retry, AttemptResult(Outcome.ACCEPTED))
    publish(paula, "pr-2")
    publish(paula, "pr-3")
    minute(clock)
    assert "All publishes: 2 new, 1 changed." in changes_for(vera)
    path = Event.objects.get(kind="followed_changed").path
    assert path == "/activity/?kind=publish_version&view=1"


def test_what_does_not_match_or_was_there_before_is_no_news(
    vera: User, paula: User, clock: Clock
) -> None:
    publish(paula, "pr-1")
    follow_activity(vera)
    end(
        start(paula, "cp-1", Target(), kind=OperationKind.CREATE_PAGE),
        AttemptResult(Outcome.ACCEPTED),
    )
    minute(clock)
    assert changes_for(vera) == []


def test_own_operations_are_reported_to_others_and_to_oneself_if_they_failed(
    vera: User, paula: User, clock: Clock
) -> None:
    follow_activity(vera)
    follow(paula, view=SavedView.objects.get())
    publish(paula, "pr-1")
    publish(paula, "pr-2")
    minute(clock)
    assert changes_for(paula) == []
    assert changes_for(vera) == ["All publishes: 2 new."]
    publish(paula, "pr-3", Outcome.REJECTED)
    minute(clock)
    assert "Publish version 3 of Acme: failed." in changes_for(paula)


def test_own_operations_hide_no_other(vera: User, paula: User, ada: User, clock: Clock) -> None:
    follow_activity(paula)
    publish(paula, "pr-1")
    publish(ada, "pr-2")
    minute(clock)
    assert changes_for(paula) == ["Publish version 3 of Acme: succeeded."]


def test_saving_other_filters_reports_nothing_but_what_comes_later(
    vera: User, paula: User, clock: Clock
) -> None:
    follow_activity(vera, "kind=create_page")
    publish(paula, "pr-1")
    SavedView.objects.update(query="kind=publish_version")
    minute(clock)
    assert changes_for(vera) == []
    publish(paula, "pr-2")
    minute(clock)
    assert changes_for(vera) == ["Publish version 3 of Acme: succeeded."]


def test_it_is_compared_at_most_once_a_minute(vera: User, paula: User, clock: Clock) -> None:
    follow_activity(vera)
    publish(paula)
    clock.advance(59)
    compare_followed(timezone.now())
    assert changes_for(vera) == []


def test_many_earlier_operations_are_not_read(vera: User, paula: User, clock: Clock) -> None:
    now = timezone.now()
    Operation.objects.bulk_create(
        Operation(
            operation_key=f"old-{number}",
            kind=OperationKind.PUBLISH_VERSION,
            outcome=Outcome.ACCEPTED,
            requested_at=now,
            changed_at=now,
        )
        for number in range(3_000)
    )
    clock.advance(3600)
    follow_activity(vera)
    assert Followed.objects.get().snapshot == {}
    with CaptureQueriesContext(connection) as queries:
        minute(clock)
    assert len(queries) == 1
    publish(paula)
    minute(clock)
    assert list(Followed.objects.get().snapshot) == ["pr-1"]
    Operation.objects.exclude(operation_key="pr-1").update(changed_at=timezone.now())
    minute(clock)
    assert changes_for(vera)[-1] == "All publishes: at least 2000 new."
