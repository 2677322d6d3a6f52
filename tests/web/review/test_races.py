"""Decisions in a review at the same moment as a double click, a read and a cancellation."""

from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from dashboard import clock
from dashboard.comments.assignees import assign
from dashboard.notifications.models import Event, Notification
from dashboard.notifications.preferences import follow
from dashboard.notifications.recipients import notify_pending
from dashboard.releases import decisions
from dashboard.releases.models import Release
from dashboard.releases.worker import run_pending
from dashboard.review.models import ReviewDecision
from tests.support.comment_page import CommentPage
from tests.support.interleaving import before_statement, before_transaction, begun, held_at
from tests.support.release_service import PublishingAudiences, checked_release, decide
from tests.support.review_desk import ReviewDesk

THREADS = pytest.mark.django_db(transaction=True, serialized_rollback=True)
POSTGRESQL = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")


@THREADS
@pytest.mark.parametrize("act", ["reject", "skip"])
def test_a_double_click_decides_once_without_a_refusal(
    desk: ReviewDesk, as_publisher: Client, act: str
) -> None:
    press = partial(as_publisher.post, f"{desk.url}{act}/", {"shown": desk.shown})
    with held_at(before_transaction(), press) as first:
        assert press().status_code == 302
    assert first.result().status_code == 302
    assert ReviewDecision.objects.count() == 1


@THREADS
def test_a_text_that_changes_while_it_is_read_is_not_decided_on(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    after_the_read = before_statement('FROM "ledger_audiencerecord"', "LIMIT 1", nth=3)
    with held_at(after_the_read, desk.open) as opening:
        service.edit(("page_1", "aud_1"))
        service.record()
    assert "Publish version 2" in opening.result().text
    assert desk.decide("reject").status == 422
    assert "Publish version 3" in desk.text
    assert not ReviewDecision.objects.exists()


@POSTGRESQL
@THREADS
def test_a_rejection_and_a_read_never_wait_for_each_other(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    service.change(("page_1", "aud_1"), effectiveName="Renamed")
    with held_at(before_statement("INSERT INTO", "ledger_audiencerecord"), service.record):
        at_page = before_statement("ledger_pagerecord", "FOR UPDATE")
        rejecting = begun(at_page, desk.decide, "reject")
    assert rejecting.result().status == 200
    assert ReviewDecision.objects.get().kind == "rejected"


@POSTGRESQL
@THREADS
def test_a_decision_and_a_worker_never_wait_for_each_other(
    desk: ReviewDesk, service: PublishingAudiences, paula: User
) -> None:
    release = checked_release([("page_1", "aud_1")], paula)
    decide(release, paula)
    at_audience = before_statement('"ledger_audiencerecord"', "FOR UPDATE")
    with held_at(at_audience, run_pending, "worker-1"):
        at_release = before_statement('"releases_release"', "FOR UPDATE")
        deciding = begun(at_release, partial(desk.decide, "release", release=str(release.pk)))
    assert "This release is being published." in deciding.result().text
    assert service.audiences_sent == ["aud_1"]


@POSTGRESQL
@THREADS
@pytest.mark.parametrize(
    ("act", "fields"),
    [
        ("reject", {}),
        ("needs-work", {"comment": "@ben, see the price line."}),
        ("needs-work", {"comment": "See the price line.", "assignee": "{ben}"}),
    ],
)
def test_a_worker_notifies_of_nothing_that_is_undone_at_that_moment(
    desk: ReviewDesk, ben: User, act: str, fields: dict[str, str]
) -> None:
    if act == "reject":
        follow(ben, "page_1", "aud_1")
    desk.decide(act, **{name: text.format(ben=ben.pk) for name, text in fields.items()})
    Event.objects.update(wake_at=clock.now())
    deletion = before_statement("DELETE FROM", '"notifications_event"')
    with held_at(deletion, desk.undo) as undoing:
        notify_pending("worker-1")
    assert undoing.result().status == 200
    assert not Notification.objects.exists()


@POSTGRESQL
@THREADS
def test_a_reply_to_a_comment_undone_at_that_moment_is_notified_of(
    desk: ReviewDesk, ben: User, as_viewer: Client
) -> None:
    follow(ben, "page_1", "aud_1")
    desk.decide("needs-work", comment="See the price line.")
    with held_at(before_statement("comments_thread", "FOR UPDATE"), desk.undo):
        at_notice = before_statement("notifications_event", "FOR UPDATE")
        replying = begun(at_notice, CommentPage(as_viewer).reply, "It is right.")
    assert replying.result().status_code == 302
    assert Event.objects.get(owner_ids=[ben.pk]).facts["authors"] == ["vera"]


@POSTGRESQL
@THREADS
def test_a_decision_and_an_assignment_never_wait_for_each_other(
    desk: ReviewDesk, ben: User, paula: User
) -> None:
    form = {"comment": "@ben, see the price line.", "assignee": str(ben.pk)}
    at_page = before_statement("ledger_pagerecord", "FOR UPDATE")
    with held_at(at_page, assign, paula, [("page_1", "aud_1")], ben):
        at_account = before_statement("auth_user", "FOR NO KEY UPDATE")
        deciding = begun(at_account, partial(desk.decide, "needs-work", **form))
    assert deciding.result().status == 200
    assert ReviewDecision.objects.get().kind == "needs_work"


def test_a_canceled_release_opens_its_items_again(desk: ReviewDesk, paula: User) -> None:
    desk.decide("release")
    assert "In a release" in desk.open(1).text
    decisions.cancel(Release.objects.get(), paula)
    assert "In a release" not in desk.open(1).text
    assert desk.decide("reject").status == 200
