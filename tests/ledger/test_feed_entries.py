"""The ledger adds its changes to the feed, in the same transaction."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.pages import PageItem
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.crawls import release_crawl, save_crawl, take_crawl
from dashboard.ledger.models import CrawlState, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import (
    AttemptResult,
    Target,
    begin,
    begin_retry,
    end,
    mark_unknown,
    settle,
)
from dashboard.ledger.queries.subscriptions import delete_subscription, label_subscription
from dashboard.ledger.recording import record_page, record_version
from dashboard.ledger.subscriptions import record_subscription
from tests.support import wire
from tests.support.feed import added_to_feed, facts
from tests.support.operations import operation
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db

QUEUED = AudienceVersion.model_validate(wire.version(status="queued"))
SUBSCRIPTION = WebhookSubscription.model_validate(wire.subscription())


def test_new_and_changed_pages_are_added() -> None:
    seed_pages(wire.page(pageId="page_1"), wire.page(pageId="page_2"))
    with added_to_feed() as entries:
        seed_pages(
            wire.page(pageId="page_1"),
            wire.page(pageId="page_2", title="New"),
            wire.page(pageId="page_3"),
            total=2,
        )
    assert facts(entries) == [("page", "page_2"), ("page", "page_3")]


def test_another_length_of_the_list_of_pages_is_added() -> None:
    seed_pages(wire.page(), total=2)
    with added_to_feed() as entries:
        seed_pages(wire.page(), total=1)
    assert facts(entries) == [("page",)]


def test_a_crawl_that_begins_pauses_or_ends_is_added() -> None:
    with added_to_feed() as entries:
        claim = take_crawl("one", timezone.now())
        save_crawl(claim)
    assert facts(entries) == [("page",)], "progress alone adds nothing"
    with added_to_feed() as entries:
        claim.row.pause_reason = "Too many requests."
        save_crawl(claim)
        save_crawl(claim)
    assert facts(entries) == [("page",)]
    with added_to_feed() as entries:
        claim.row.state, claim.row.pause_reason = CrawlState.FINISHED, ""
        release_crawl(claim, timezone.now())
    assert facts(entries) == [("page",)]


def test_new_and_changed_audiences_are_added() -> None:
    seed_audiences(wire.audience(audienceId="aud_1"), wire.audience(audienceId="aud_2"))
    with added_to_feed() as entries:
        seed_audiences(
            wire.audience(audienceId="aud_1"),
            wire.audience(audienceId="aud_2", publishedVersion=wire.version()),
            wire.audience(audienceId="aud_3"),
        )
    assert facts(entries) == [("audience", "page_1", "aud_2"), ("audience", "page_1", "aud_3")]


def test_a_read_that_changes_nothing_adds_nothing() -> None:
    def read() -> None:
        seed_pages(wire.page())
        seed_audiences(wire.audience())
        record_subscription(SUBSCRIPTION)
        record_page(PageItem.model_validate(wire.page()))

    read()
    with added_to_feed() as entries:
        read()
    assert entries == []


def test_a_recording_that_is_rolled_back_adds_nothing() -> None:
    with added_to_feed() as entries, transaction.atomic():
        seed_pages(wire.page())
        transaction.set_rollback(True)
    assert entries == []


def test_the_response_to_a_publish_adds_its_audience() -> None:
    seed_audiences(wire.audience())
    with added_to_feed() as entries:
        record_version("page_1", QUEUED)
    assert facts(entries) == [("audience", "page_1", "aud_1")]


@pytest.mark.parametrize(
    "change",
    [
        lambda: record_subscription(SUBSCRIPTION, label="Billing"),
        lambda: record_subscription(
            WebhookSubscription.model_validate(wire.subscription(active=False))
        ),
        lambda: label_subscription(SUBSCRIPTION.subscription_id, "Billing"),
        lambda: delete_subscription(SUBSCRIPTION.subscription_id),
    ],
    ids=["read with a label", "changed", "labeled", "removed"],
)
def test_a_change_of_a_subscription_is_added(change: Callable[[], object]) -> None:
    record_subscription(SUBSCRIPTION)
    with added_to_feed() as entries:
        change()
    assert facts(entries) == [("subscription", SUBSCRIPTION.subscription_id)]


def test_the_same_label_and_an_unknown_subscription_add_nothing() -> None:
    record_subscription(SUBSCRIPTION, label="Billing")
    with added_to_feed() as entries:
        label_subscription(SUBSCRIPTION.subscription_id, "Billing")
        delete_subscription("sub_unknown")
    assert entries == []


PUBLISH = ("operation", "page_1", "aud_1", "pr-1")


def test_an_operation_is_added_when_it_begins_and_when_it_ends(paula: User) -> None:
    with added_to_feed() as entries:
        operation(paula, "pr-1")
    assert facts(entries) == [PUBLISH, PUBLISH]
    assert [entry.actor_id for entry in entries] == [paula.pk, None]


def test_the_same_request_again_adds_nothing(paula: User) -> None:
    operation(paula, "pr-1", ending=None)
    target = Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods")
    with added_to_feed() as entries:
        begin(
            operation_key="pr-1",
            kind=OperationKind.PUBLISH_VERSION,
            actor=paula,
            target=target,
            body={"operationKey": "pr-1"},
        )
    assert entries == []


def test_an_operation_on_a_subscription_adds_that_too(paula: User) -> None:
    with added_to_feed() as entries:
        operation(
            paula,
            "pr-1",
            kind=OperationKind.UPDATE_SUBSCRIPTION,
            target=Target(subscription_id="sub_1"),
            ending=None,
        )
    assert facts(entries) == [("operation", "pr-1"), ("subscription", "sub_1")]


def interrupted_operation(actor: User) -> Operation:
    return operation(actor, "pr-1", ending=None)


def test_an_interrupted_operation_is_added_once(paula: User) -> None:
    publish = interrupted_operation(paula)
    with added_to_feed() as entries:
        mark_unknown(publish.attempts.all())
        mark_unknown(publish.attempts.all())
    assert facts(entries) == [PUBLISH]


def test_a_retry_is_added(paula: User) -> None:
    publish = operation(paula, "pr-1", ending=AttemptResult(Outcome.UNKNOWN))
    with added_to_feed() as entries:
        attempt = begin_retry(publish, actor=paula)
        assert attempt
        end(attempt, AttemptResult(Outcome.ACCEPTED))
    assert facts(entries) == [PUBLISH, PUBLISH]


def test_a_check_is_added_unless_it_found_the_same(paula: User) -> None:
    publish = operation(paula, "pr-1", ending=AttemptResult(Outcome.UNKNOWN))
    with added_to_feed() as entries:
        publish = settle(publish, Outcome.UNKNOWN, detail="It isn't listed.")
        publish = settle(publish, Outcome.UNKNOWN, detail="It isn't listed.")
    assert facts(entries) == [PUBLISH]
    with added_to_feed() as entries:
        settle(publish, Outcome.ACCEPTED, detail="It is live.")
    assert facts(entries) == [PUBLISH]
