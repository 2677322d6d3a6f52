"""Notices of comments: who gets them, how many and when; they never have the comment's text."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from dashboard.comments.assignees import assign
from dashboard.comments.models import Comment
from dashboard.comments.threads import add_comment
from dashboard.notifications.models import Notification
from dashboard.notifications.sending import deliver_pending
from tests.conftest import logged_in, person
from tests.notifications.conftest import Work, notices_of
from tests.support import wire
from tests.support.clock import Clock
from tests.support.comment_page import CommentPage
from tests.support.mail_server import MailServer
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db


def end_sitting(clock: Clock) -> None:
    """Let a worker notify after five minutes, and send the bundle."""
    for seconds in (300, 20, 5):
        clock.advance(seconds)
        deliver_pending("worker-1")


@pytest.fixture(autouse=True)
def _audience(clock: Any) -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience(), wire.audience(audienceId="aud_2", effectiveName="Nordlys"))


@pytest.fixture
def thread(as_publisher: Client) -> CommentPage:
    """A thread that Paula began."""
    there = CommentPage(as_publisher)
    there.comment("Where does 71 come from?")
    return there


def test_a_mention_is_notified_at_once(
    vera: User, paula: User, as_viewer: Client, work: Work
) -> None:
    CommentPage(as_viewer).comment("@paula, is this right?")
    work(0.1)
    assert notices_of(paula) == ["vera mentioned you in a comment on Brightwater Foods."]


def test_further_comments_of_a_sitting_are_one_notice(
    thread: CommentPage, paula: User, as_viewer: Client, clock: Clock, work: Work
) -> None:
    ben = CommentPage(logged_in(person("ben")))
    for _ in range(3):
        CommentPage(as_viewer).reply("A thought")
        ben.reply("Another one")
    work(0.1)
    assert notices_of(paula) == []
    end_sitting(clock)
    assert notices_of(paula) == ["6 new comments on Brightwater Foods by vera, ben."]


@pytest.mark.usefixtures("_email_on")
def test_two_hundred_comments_are_one_short_mail(
    thread: CommentPage, vera: User, paula: User, clock: Clock
) -> None:
    comment = Comment.objects.get()
    for number in range(200):
        add_comment(vera, comment.thread, f"Comment {number}")
    end_sitting(clock)
    [message] = mail.outbox
    assert message.subject == "200 new comments on Brightwater Foods by vera"
    assert len(str(message.body).splitlines()) <= 50
    assert "Comment 7" not in message.body


@pytest.mark.usefixtures("_email_on")
def test_many_threads_are_one_mail_of_50_lines(
    as_publisher: Client, vera: User, paula: User, clock: Clock
) -> None:
    for number in range(30):
        CommentPage(as_publisher).comment(f"Question {number}")
        add_comment(vera, Comment.objects.latest("pk").thread, "An idea")
    end_sitting(clock)
    [message] = mail.outbox
    assert "and 29 more" in message.subject
    assert len(str(message.body).splitlines()) <= 50


def test_own_comments_send_no_notice(thread: CommentPage, paula: User, clock: Clock) -> None:
    thread.reply("@paula and me")
    thread.press("resolve")
    end_sitting(clock)
    assert notices_of(paula) == []


def test_a_mention_does_not_follow_the_audience(
    as_viewer: Client, paula: User, clock: Clock
) -> None:
    there = CommentPage(as_viewer)
    there.comment("@paula, is this right?")
    there.reply("And this?")
    end_sitting(clock)
    assert notices_of(paula) == ["vera mentioned you in a comment on Brightwater Foods."]


@pytest.mark.usefixtures("_email_on")
def test_resolving_is_in_app_alone(
    thread: CommentPage, paula: User, as_viewer: Client, work: Work
) -> None:
    CommentPage(as_viewer).press("resolve")
    work(0.5)
    assert notices_of(paula) == ["vera resolved a thread on Brightwater Foods."]
    assert mail.outbox == []


def test_a_comment_is_saved_while_the_mail_server_is_away(
    mail_server: MailServer, paula: User, as_viewer: Client, work: Work
) -> None:
    mail_server.stop()
    CommentPage(as_viewer).comment("@paula, is this right?")
    work(0.5)
    assert CommentPage(as_viewer).comments() == ["@paula, is this right?"]
    mail_server.start()
    work(0.5)
    assert mail_server.subjects == ["vera mentioned you in a comment on Brightwater Foods"]


def test_the_notice_leads_to_the_thread(
    paula: User, as_viewer: Client, as_publisher: Client, work: Work
) -> None:
    CommentPage(as_viewer).comment("@paula?")
    work(0.1)
    path = Notification.objects.get(user=paula).event.path
    thread_id = Comment.objects.get().thread_id
    assert path == f"/pages/page_1/audiences/aud_1/comments/#thread-{thread_id}"


def test_an_assignee_is_notified_once(vera: User, paula: User, work: Work) -> None:
    keys = [("page_1", "aud_1"), ("page_1", "aud_2")]
    assert assign(paula, keys[:1], vera) == 1
    work(0.1)
    assert assign(paula, keys, vera) == 1
    assert assign(vera, keys, paula) == 2
    work(0.1)
    assert notices_of(vera) == [
        "paula assigned Brightwater Foods to you.",
        "paula assigned Nordlys to you.",
    ]
    assert notices_of(paula) == ["vera assigned 2 audiences to you."]
