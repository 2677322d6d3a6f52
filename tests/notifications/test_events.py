"""What happens in other rooms is recorded once, with its details, for the people concerned."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from dashboard.clock import interrupted_after
from dashboard.ledger.deviations import ContractDeviation, record_browser_report, record_deviations
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import (
    MARK_INTERRUPTED,
    AttemptResult,
    Target,
    begin_retry,
    end,
    settle,
)
from dashboard.notifications.models import Event, Notification
from dashboard.notifications.preferences import follow
from dashboard.releases import approval_requests, decisions
from dashboard.releases.models import Release, ReleaseState
from dashboard.releases.reviewing import board_digest
from dashboard.releases.worker import Schedule
from tests.conftest import person
from tests.notifications.conftest import notices_of
from tests.support import wire
from tests.support.clock import Clock
from tests.support.many_audiences import Key
from tests.support.operations import operation
from tests.support.release_service import (
    PublishingAudiences,
    accepts,
    checked_release,
    decide,
    fails,
    responds,
    schedule,
    work,
)
from tests.support.seeding import seed_audiences, seed_pages, seed_rule

Publish = Callable[..., Operation]


@pytest.fixture
def publish(paula: User) -> Publish:
    """Records a publish of Paula's with this outcome."""

    def make(outcome: Outcome, kind: OperationKind = OperationKind.PUBLISH_VERSION) -> Operation:
        key = f"pr-{Operation.objects.count()}"
        return operation(paula, key, kind=kind, ending=AttemptResult(outcome))

    return make


def test_own_publishes_are_reported_only_if_they_fail(publish: Publish, paula: User) -> None:
    for outcome in (Outcome.ACCEPTED, Outcome.REJECTED, Outcome.UNKNOWN, Outcome.NOT_SENT):
        publish(outcome)
    assert notices_of(paula) == [
        "Publishing version 2 of Brightwater Foods failed.",
        "Publishing version 2 of Brightwater Foods has an unknown outcome.",
        "Publishing version 2 of Brightwater Foods failed: nothing was sent.",
    ]


@pytest.mark.parametrize("audience_id", ["", "aud_1"])
def test_followers_of_page_or_audience_hear_of_both(
    publish: Publish, vera: User, audience_id: str
) -> None:
    follow(vera, "page_1", audience_id)
    publish(Outcome.ACCEPTED)
    publish(Outcome.REJECTED)
    assert notices_of(vera) == [
        "paula published version 2 of Brightwater Foods: accepted, not live yet.",
        "Publishing version 2 of Brightwater Foods failed.",
    ]


def test_a_rollback_is_called_so(paula: User, vera: User) -> None:
    follow(vera, "page_1", "aud_1")
    for number, outcome in enumerate((Outcome.ACCEPTED, Outcome.REJECTED)):
        target = Target("page_1", "aud_1", "ver_1", 1, target_name="Brightwater Foods")
        target = replace(target, rolled_back_id="ver_2", rolled_back_number=2)
        operation(paula, f"pr-{number}", target=target, ending=AttemptResult(outcome))
    assert notices_of(vera) == [
        "paula rolled back to version 1 of Brightwater Foods: accepted, not live yet.",
        "Rolling back to version 1 of Brightwater Foods failed.",
    ]


def test_who_follows_something_else_is_not(publish: Publish, vera: User) -> None:
    follow(vera, "page_1", "aud_2")
    follow(vera, "page_2")
    publish(Outcome.REJECTED)
    assert notices_of(vera) == []


def test_an_unknown_outcome_and_its_end_are_reported_once(publish: Publish, paula: User) -> None:
    lost = publish(Outcome.UNKNOWN)
    settle(lost, Outcome.UNKNOWN, detail="Nothing is proved.")
    retry = begin_retry(lost, actor=paula)
    assert retry
    end(retry, AttemptResult(Outcome.UNKNOWN))
    settle(Operation.objects.get(), Outcome.REJECTED, detail="It was rejected.")
    kinds = Event.objects.order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["publish_unknown", "publish_failed"]


def test_a_worker_notices_what_a_killed_process_leaves(paula: User, clock: Clock) -> None:
    operation(paula, "pr-1", ending=None)
    worker = Schedule("worker", (MARK_INTERRUPTED,))
    clock.advance(interrupted_after().total_seconds() - 0.5)
    assert worker.check() == ([], 0.5)
    clock.advance(0.5)
    [task], _ = worker.check()
    task.run("worker", threading.Event())
    assert notices_of(paula) == [
        "Publishing version 2 of Brightwater Foods has an unknown outcome."
    ]
    assert worker.check()[0] == []


def test_only_failures_of_pages_and_webhooks_are_news(publish: Publish, paula: User) -> None:
    publish(Outcome.ACCEPTED, OperationKind.CREATE_PAGE)
    publish(Outcome.REJECTED, OperationKind.CREATE_PAGE)
    assert notices_of(paula) == ["Creating the page Brightwater Foods failed."]


def test_an_event_is_undone_with_what_happened(publish: Publish) -> None:
    class UndoneError(Exception):
        pass

    with pytest.raises(UndoneError), transaction.atomic():  # noqa: PT012
        publish(Outcome.REJECTED)
        raise UndoneError
    assert not Event.objects.exists()
    assert not Operation.objects.exists()


@pytest.fixture
def _broken_urls(settings: object) -> None:
    settings.ROOT_URLCONF = "tests.support.no_urls"  # type: ignore[attr-defined]


@pytest.mark.usefixtures("_broken_urls")
def test_an_error_of_ours_loses_no_outcome(publish: Publish) -> None:
    assert publish(Outcome.REJECTED).outcome == Outcome.REJECTED
    assert Operation.objects.get().outcome == Outcome.REJECTED
    assert not Event.objects.exists()


def run(service: PublishingAudiences, paula: User, clock: Clock, count: int = 3) -> Release:
    """Publish a release of `count` audiences, and let a worker run it."""
    release = checked_release(service.add(count), paula, name="Spring")
    decide(release, paula)
    work(release, clock)
    return release


def test_an_immediate_release_reports_only_failures(
    service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    run(service, paula, clock)
    assert notices_of(paula) == []
    service.ways["aud_5"] = responds(409, "It was canceled")
    release = run(service, paula, clock)
    name = release.items.get(audience_id="aud_5").audience_name
    assert notices_of(paula) == [
        f"Publishing version 2 of {name} failed.",
        "The release Spring is finished with failures: 2 live, 1 failed.",
    ]


def test_a_rate_limit_is_no_failure_of_a_release(
    service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    first = responds(429, "Later", retry_after="1")

    def later(service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        way = first if len(service.sent) == 1 else accepts
        return way(service, key, version_id)

    service.way = later
    run(service, paula, clock, count=1)
    assert notices_of(paula) == []


def test_an_unknown_outcome_of_a_release_is_reported_once(
    service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    service.ways["aud_1"] = fails(httpx.ReadError, is_carried_out=False)
    run(service, paula, clock, count=1)
    matching = [words for words in notices_of(paula) if "unknown outcome" in words]
    assert len(matching) == len(set(matching))
    assert "has an unknown outcome." in matching[0]


def test_the_owner_hears_that_a_scheduled_release_finished(
    service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    release = checked_release(service.add(2), paula, name="Spring")
    schedule(release)
    work(release, clock, minutes=60 * 24 * 400)
    assert notices_of(paula) == ["The release Spring is finished: 2 live."]


def test_a_held_release_is_reported_without_service_text(
    service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    release = checked_release(service.add(2), paula, name="Spring")
    service.edit(("page_1", "aud_1"))
    decide(release, paula)
    work(release, clock)
    assert release.state == ReleaseState.HELD
    assert notices_of(paula) == ["The release Spring is held: changed after the review."]


def test_a_missed_schedule_is_reported_to_owner_and_administrators(
    service: PublishingAudiences, paula: User, ada: User, clock: Clock
) -> None:
    release = checked_release(service.add(), paula, name="Spring")
    due_at = schedule(release).due_at
    assert due_at
    clock.advance((due_at - timezone.now()).total_seconds() + 1200)
    work(release, clock)
    assert len(notices_of(paula)) == len(notices_of(ada)) == 1
    assert notices_of(paula)[0].startswith("The release Spring wasn’t started when it was due, ")


def test_approvers_and_requesters_are_notified(
    service: PublishingAudiences, paula: User, clock: Clock
) -> None:
    seed_rule(covers_publishing=True)
    peter, vera = person("peter", "Publishers"), person("vera", "Viewers")
    release = checked_release(service.add(2), paula, name="Spring")
    request = approval_requests.request_approval(release, paula, "2", board_digest(release))
    assert notices_of(peter) == ["paula requests an approval: Publish Spring, 2 versions."]
    approval_requests.approve(request, peter, note="", displayed_digest=request.digest)
    assert notices_of(paula) == ["peter approved a request: Publish Spring, 2 versions."]
    assert notices_of(vera) == []
    service.edit(("page_1", "aud_1"))
    work(release, clock)
    void = "A request for approval is void, changed: Warnings: Publish Spring, 2 versions."
    assert void in notices_of(paula)
    assert void in notices_of(peter)


def test_a_declined_request_is_reported_to_who_requested_it(
    service: PublishingAudiences, paula: User
) -> None:
    peter = person("peter", "Publishers")
    release = checked_release(service.add(2), paula, name="Spring")
    request = approval_requests.request_approval(release, paula, "2", board_digest(release))
    approval_requests.decline(request, peter, note="Not now.", displayed_digest=request.digest)
    # It was declined before a worker could notify those who may decide.
    assert notices_of(peter) == []
    assert notices_of(paula) == ["peter declined a request: Publish Spring, 2 versions."]


def test_all_possible_approvers_hear_of_an_emergency_once(
    service: PublishingAudiences, clock: Clock
) -> None:
    seed_rule(covers_publishing=True)
    chief = person("chief", "Publishers", "Administrators")
    peter = person("peter", "Publishers")
    release = checked_release(service.add(3), chief, name="Spring")
    digest = board_digest(release)
    decisions.publish(release, chief, "3", digest, emergency_reason="It is burning.")
    work(release, clock)
    assert "chief published without an approval: Spring." in notices_of(peter)
    assert Event.objects.filter(kind="emergency_publish").count() == 1
    assert "chief published without an approval: Spring." not in notices_of(chief)


def test_an_outside_publish_is_reported_once(
    paula: User, ada: User, vera: User, clock: Clock
) -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience())
    clock.advance(60)
    live = wire.version(status="published", publishedAt=timezone.now().isoformat())
    for _ in range(2):
        seed_audiences(wire.audience(publishedVersion=live))
        clock.advance(60)
    words = "Version 2 of Brightwater Foods was published outside Pressroom."
    assert (notices_of(paula), notices_of(ada), notices_of(vera)) == ([words], [words], [])


def test_only_new_deviations_from_servers_are_reported(ada: User) -> None:
    deviation = ContractDeviation("listPages", "Unknown name", "items.*.status", "odd", "/v0/pages")
    record_deviations([deviation])
    record_deviations([deviation])
    record_browser_report(ContractDeviation("Browser", "Policy", "script-src", "odd", "/"))
    assert notices_of(ada) == [
        "A response differs from the API spec in a new way: Unknown name, listPages, "
        "items.*.status."
    ]


def test_what_a_user_gets_is_deleted_with_the_user(publish: Publish, paula: User) -> None:
    follow(paula, "page_1")
    publish(Outcome.REJECTED)
    Operation.objects.all().delete()
    paula.delete()
    assert not Notification.objects.exists()
    assert Event.objects.get().actor_name == "paula"
    assert timezone.now() - Event.objects.get().at < timedelta(hours=1)
