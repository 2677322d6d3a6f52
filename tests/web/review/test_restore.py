"""A restored database keeps comments, decisions and assignees, and sends no notices of them."""

from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import call_command

from dashboard.comments.models import Thread
from dashboard.notifications.sending import deliver_pending
from tests.support import wire
from tests.support.clock import stopped
from tests.support.comment_page import CommentPage
from tests.support.html import text
from tests.support.release_service import PublishingAudiences
from tests.support.review_desk import ReviewDesk
from tests.web.review.conftest import CONVERSATION, judge

CHANGE = {"changeId": "chg_1", "previousValue": "Old", "newValue": "New"}


@pytest.fixture
def decided(desk: ReviewDesk, ben: User, service: PublishingAudiences) -> ReviewDesk:
    """Paula's review, whose first item needs work by Ben, and whose second is rejected."""
    desk.decide("needs-work", comment="@ben, see the price line.", assignee=str(ben.pk))
    desk.decide("reject", reason="Too narrow.")
    messages = CONVERSATION.replace("conversation", "messages").strip("/")
    conversation = wire.conversation(pendingChanges=[CHANGE])
    service.responses[f"/v0/{messages}"] = httpx.Response(200, json=conversation)
    judge(desk.client, CHANGE, "rejected")
    return desk


def test_what_people_decided_and_wrote_stays(decided: ReviewDesk) -> None:
    call_command("after_restore", verbosity=0)
    for url, words in {
        "/pages/page_1/audiences/aud_1/comments/": "@ben, see the price line.",
        CONVERSATION: "Rejected by you",
        "/audiences/?live=rejected": "Name of aud_2",
        "/audiences/?assignee=@ben": "Name of aud_1",
        f"/review/{decided.run_id}/": "1 of 3 left",
    }.items():
        assert words in text(decided.client.get(url).text)


def test_nobody_is_notified_of_what_is_old(
    decided: ReviewDesk, ben: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_IS_ON = True
    User.objects.filter(pk=ben.pk).update(email="ben@kestrel.example")
    call_command("after_restore", verbosity=0)
    clock = stopped(monkeypatch)
    for _ in range(2):
        clock.advance(400)
        deliver_pending("worker")
    assert mail.outbox == []


def test_nobody_is_deciding_after_a_restore(decided: ReviewDesk, bens: ReviewDesk) -> None:
    assert "paula is on it" in bens.open(3).text
    call_command("after_restore", verbosity=0)
    assert "is on it" not in bens.open(3).text


def test_a_page_left_open_reaches_no_other_thread(decided: ReviewDesk) -> None:
    missing = Thread.objects.latest("pk").pk + 1  # It was given to a thread after the backup.
    call_command("after_restore", verbosity=0)
    CommentPage(decided.client).comment("Which depot?")
    reply = decided.client.post(f"/comments/threads/{missing}/reply/", {"body": "The other."})
    assert reply.status_code == 404
