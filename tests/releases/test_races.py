"""Decisions, checks and the worker at the same moment: the judged state is the one written."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from threading import Event
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard.approvals.models import ApprovalRule
from dashboard.ledger.models import Operation
from dashboard.operations.checking import PublishTarget
from dashboard.operations.publish import OvertakenError, begin_reviewed_publish
from dashboard.operations.publish_review import PublishReview, review_publish
from dashboard.releases import approval_requests, decisions, drafting, next_drafts, scheduling
from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseItem, ReleaseState
from dashboard.releases.schedules import ScheduledMoment
from dashboard.releases.worker import MAX_SMALL, run_pending, run_worker
from tests.conftest import person
from tests.releases.conftest import LOSSES, Draft, Publish, held
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.html import response_text
from tests.support.interleaving import (
    PATIENCE_S,
    Reach,
    before_commit,
    before_response,
    before_statement,
    before_transaction,
    begun,
    held_at,
)
from tests.support.release_service import PublishingAudiences, accepts, work
from tests.support.seeding import seed_rule
from tests.support.shown_page import ShownPage

THREADS = pytest.mark.django_db(transaction=True, serialized_rollback=True)
POSTGRESQL = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
LOCKS_A_RELEASE = ('"releases_release"', "FOR UPDATE")


def make_due(release: Release) -> None:
    now = timezone.now()
    columns: dict[str, Any] = {"needs_check": False, "started_at": None}
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.SCHEDULED, due_at=now, wake_at=now, **columns
    )


@THREADS
@pytest.mark.parametrize(
    "others", ["a draft", "another release", pytest.param("three large releases", marks=POSTGRESQL)]
)
def test_a_due_schedule_waits_for_no_other_check(
    publish: Publish,
    service: PublishingAudiences,
    fake_service: FakeService,
    paula: User,
    others: str,
) -> None:
    if others == "a draft":
        create_release(name="", note="", audiences=service.add(1), user=paula)
    else:
        for _ in range(3 if others == "three large releases" else 1):
            publish(MAX_SMALL + 1)
    slow = {item.audience_id for item in ReleaseItem.objects.all()}
    scheduled = publish(1)
    make_due(scheduled)
    sent, is_sent_first = Event(), list[bool]()

    def respond(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            sent.set()
        elif request.url.path.endswith("/messages") and slow & {*request.url.path.split("/")}:
            is_sent_first.append(sent.wait(PATIENCE_S))
        return service(request)

    fake_service.answer = respond
    run_worker("worker", Event(), is_orphaned=sent.is_set)
    assert service.audiences_sent[0] == scheduled.items.get().audience_id
    assert all(is_sent_first)


@pytest.mark.django_db
def test_a_check_requested_during_a_check_is_made(
    draft: Draft, service: PublishingAudiences
) -> None:
    release = draft()
    [key] = service.audiences
    drafting.request_check(release)

    def press() -> None:
        if service.paths[-1].endswith("/messages"):  # The lists have been read.
            service.before = lambda: None
            service.audiences[key]["latestVersion"]["supplementaryContext"] = "Corrected."
            drafting.request_check(Release.objects.get(pk=release.pk))

    service.before = press
    run_pending("worker")
    release.refresh_from_db()
    assert release.items.get().version.supplementary_context == "Corrected."
    assert not release.needs_check


def schedule(review: PublishReview, user: User) -> object:
    moment = ScheduledMoment(timezone.now() + timedelta(hours=1), "UTC", "")
    return scheduling.schedule_version(review, moment=moment, note="", user=user)


def request_approval(review: PublishReview, user: User) -> object:
    return scheduling.request_version(review, moment=None, note="", user=user)


@POSTGRESQL
@THREADS
@pytest.mark.parametrize("decide", [schedule, request_approval])
def test_only_the_text_that_was_confirmed_is_scheduled(
    service: PublishingAudiences, paula: User, decide: Callable[..., object]
) -> None:
    [key] = service.add()
    review = review_publish(PublishTarget(*key, f"ver_{key[1]}_2"), with_conversation=True)
    check = ExitStack()

    def begin_check() -> None:
        service.audiences[key]["latestVersion"]["supplementaryContext"] = "Not confirmed."
        release = Release.objects.get()
        check.enter_context(held_at(before_statement(*LOCKS_A_RELEASE), check_release, release))

    def between(reach: Reach) -> None:
        # A worker has read a different text, and records it before the decision locks the release.
        before_statement('"ledger_audiencerecord"', "FOR UPDATE")(begin_check)
        before_statement(*LOCKS_A_RELEASE, nth=2)(check.close)
        reach()

    decision = begun(between, decide, review, paula)
    with pytest.raises(ReleaseError, match="Something changed"):
        decision.result(PATIENCE_S)
    assert not Release.objects.exists()


@THREADS
def test_two_presses_at_once_make_one_release(service: PublishingAudiences, paula: User) -> None:
    press = partial(
        create_release, name="", note="", audiences=service.add(), user=paula, form_key="form-1"
    )
    with held_at(before_transaction(), press) as first:
        second = press()
    assert first.result() == second
    assert Release.objects.get().items.count() == 1


@POSTGRESQL
@THREADS
def test_a_draft_kept_at_that_moment_is_not_discarded(
    service: PublishingAudiences, paula: User
) -> None:
    release = create_release(
        name="", note="", audiences=service.add(), user=paula, is_provisional=True
    )
    with held_at(before_commit(), drafting.set_name_and_note, release, "Kept", ""):
        discarding = begun(before_statement("FOR UPDATE"), drafting.discard, release, paula)
    assert not discarding.result(PATIENCE_S)
    assert Release.objects.get().name == "Kept"


@POSTGRESQL
@THREADS
def test_a_canceled_rollback_is_made_again(
    draft: Draft, service: PublishingAudiences, paula: User
) -> None:
    release = draft()
    release.items.update(state="live")
    [key] = service.audiences
    service.go_live(key, f"ver_{key[1]}_2")
    service.record()
    # The rollback can be canceled only while it waits for an approval.
    seed_rule(covers_rollbacks=True)
    first, _ = next_drafts.roll_back(held(release), paula)
    with held_at(before_commit(), decisions.cancel, first, paula):
        point = before_statement(*LOCKS_A_RELEASE, nth=2)
        other = begun(point, next_drafts.roll_back, release, person("pia", "Publishers"))
    second, _ = other.result(PATIENCE_S)
    assert Release.objects.get(pk=second.pk).rolls_back == release
    assert second.pk != first.pk


@THREADS
def test_a_version_published_since_the_review_is_shown(
    service: PublishingAudiences, as_publisher: Client
) -> None:
    [key] = service.add()
    service.edit(key)
    service.record()
    earlier, latest = (
        f"/pages/{key[0]}/audiences/{key[1]}/versions/ver_{key[1]}_{number}/publish/"
        for number in (2, 3)
    )
    forms = {address: filled_in(as_publisher, address) for address in (earlier, latest)}
    # It was reviewed again, and the next step records it.
    with held_at(
        before_statement("approvals_approvalrule"), as_publisher.post, earlier, forms[earlier]
    ) as response:
        as_publisher.post(latest, forms[latest])
    assert response.result().status_code == 422
    assert "You can roll back to version 3." in response_text(response.result())
    assert [operation.version_number for operation in Operation.objects.all()] == [3]


def filled_in(client: Client, address: str) -> dict[str, str]:
    page = ShownPage(client).show(client.get(address))
    form = {name: page.value(name) for name in ("operation_key", "shown")}
    return form | {"number": address.rsplit("_", maxsplit=1)[-1][0]}


@POSTGRESQL
@THREADS
def test_of_two_versions_published_at_once_one_is_recorded(
    service: PublishingAudiences, paula: User
) -> None:
    [key] = service.add()
    service.edit(key)
    service.record()
    first, second = (
        review_publish(PublishTarget(*key, f"ver_{key[1]}_{number}"), with_conversation=False)
        for number in (2, 3)
    )
    publish = partial(begin_reviewed_publish, actor=paula)
    with held_at(before_commit(), publish, first):
        other = begun(before_statement("FOR UPDATE"), publish, second)
    with pytest.raises(OvertakenError):
        other.result(PATIENCE_S)
    assert Operation.objects.get().version_number == 2


def turn_on_the_rule(user: User) -> None:
    rule = ApprovalRule(covers_publishing=True)
    approval_requests.change_rule(person("ada", "Administrators"), rule)


@THREADS
@pytest.mark.parametrize(
    ("reason", "change"),
    [*LOSSES.items(), ("It needs the approval of another person.", turn_on_the_rule)],
)
def test_losing_the_right_during_a_read_holds_the_version(
    publish: Publish,
    service: PublishingAudiences,
    fake_service: FakeService,
    clock: Clock,
    paula: User,
    *,
    change: Callable[[User], object],
    reason: str,
) -> None:
    def takes_long(*args: Any) -> httpx.Response:
        clock.advance(3)
        return accepts(*args)

    service.way = takes_long
    release = publish(2)
    # The second version is read again, as its check is too old after the first was sent.
    with held_at(before_response(fake_service, "/messages", nth=3), run_pending, "worker"):
        change(paula)
    work(release, clock, minutes=1)
    assert (service.audiences_sent, release.state) == (["aud_1"], ReleaseState.HELD)
    assert reason in release.hold_reason
