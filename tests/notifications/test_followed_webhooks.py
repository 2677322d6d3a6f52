"""Who follows a view of webhooks is notified of what enters, leaves or changes in it."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.ledger.models import SubscriptionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.ledger.queries.subscriptions import delete_subscription
from dashboard.notifications.followed_changes import compare_followed
from dashboard.notifications.following import follow
from dashboard.notifications.models import Event, Followed
from tests.notifications.test_events import notices_of
from tests.support.clock import Clock
from tests.support.seeding import seed_subscription, seed_view

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _known(db: None, clock: Clock) -> None:
    seed_subscription()
    clock.advance(3600)


def follow_webhooks(user: User, query: str = "density=compact") -> None:
    follow(user, view=seed_view(None, list_name="webhooks", name="Ours", query=query))


def minute(clock: Clock) -> None:
    """Let a worker compare, a minute after the last time."""
    clock.advance(60)
    compare_followed(timezone.now())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"active": False}, "is turned off"),
        ({"url": "https://hooks.example/other"}, "has another URL"),
        ({"events": ["form.enriched", "form.submitted"]}, "has other events"),
        ({"events": None, "active": False}, "is turned off, has other events"),
    ],
)
def test_a_changed_subscription_is_reported_once(
    vera: User, clock: Clock, changed: dict[str, object], words: str
) -> None:
    follow_webhooks(vera)
    seed_subscription(**changed)
    for _ in range(8):
        minute(clock)
    assert notices_of(vera) == [f"CRM: {words}."]
    assert Event.objects.get().path == "/webhooks/whs_1/"


@pytest.mark.parametrize("unchanged", [{"updatedAt": "2026-04-01T00:00:00Z"}, {}])
def test_another_label_or_date_is_no_change(
    vera: User, clock: Clock, unchanged: dict[str, object]
) -> None:
    follow_webhooks(vera)
    SubscriptionRecord.objects.update(label="Sales")
    seed_subscription(**unchanged)
    minute(clock)
    assert notices_of(vera) == []


@pytest.mark.parametrize(
    ("query", "outside"),
    [("state=on", {"active": False}), ("event=form.submitted", {"events": []})],
)
def test_what_leaves_and_enters_is_reported(
    vera: User, clock: Clock, query: str, outside: dict[str, object]
) -> None:
    follow_webhooks(vera, query)
    seed_subscription(**outside)
    minute(clock)
    seed_subscription()
    minute(clock)
    assert notices_of(vera) == ["CRM: is no longer in this view.", "CRM: is in this view now."]


def test_one_that_is_removed_from_pressroom_leaves(vera: User, clock: Clock) -> None:
    follow_webhooks(vera)
    delete_subscription("whs_1")
    for _ in range(2):
        minute(clock)
    assert notices_of(vera) == ["CRM: is no longer in this view."]
    assert Event.objects.get().path == "/webhooks/?density=compact&view=1"


def test_who_made_the_change_is_not_notified_of_it(vera: User, ada: User, clock: Clock) -> None:
    follow_webhooks(vera)
    follow(ada, view=Followed.objects.get().view)
    kind, target = OperationKind.UPDATE_SUBSCRIPTION, Target(subscription_id="whs_1")
    _, attempt = begin(operation_key="u-1", kind=kind, actor=ada, target=target, body={})
    assert attempt
    seed_subscription(active=False)
    end(attempt, AttemptResult(Outcome.ACCEPTED))
    minute(clock)
    assert notices_of(vera) == ["CRM: is turned off."]
    assert notices_of(ada) == []


def test_no_url_is_stored_or_reported(vera: User, clock: Clock) -> None:
    follow_webhooks(vera)
    seed_subscription(url="https://hooks.example/secret")
    minute(clock)
    stored = [Followed.objects.values_list("snapshot").get(), Event.objects.values().get()]
    assert "hooks.example" not in repr(stored)


def test_nothing_changed_takes_one_query(vera: User, clock: Clock) -> None:
    follow_webhooks(vera)
    clock.advance(3600)
    with CaptureQueriesContext(connection) as queries:
        minute(clock)
    assert len(queries) == 1
