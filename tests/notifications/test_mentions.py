"""A mention reaches the user in each channel, whatever the comment is on, as names and a link."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from dashboard.comments.anchors import text_digest
from dashboard.comments.models import Thread
from dashboard.notifications import targets
from dashboard.notifications.models import WebhookFormat
from tests.notifications.conftest import Work
from tests.support import wire
from tests.support.comment_page import PLACE, CommentPage
from tests.support.fake_service import FakeService
from tests.support.hook_receiver import HookReceiver
from tests.support.html import text
from tests.support.one_audience import serve
from tests.support.operations import operation
from tests.support.seeding import seed_approval, seed_audiences, seed_pages, seed_release

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_subjects", "_channels")]

TEXT = "Runs 71 trucks out of four depots."
BODY = "@paula, where does 71 come from?"
PASSAGE = {"kind": "passage", "version": "ver_2", "start": 5, "end": 14}
MESSAGE = {"kind": "message", "object_id": "msg_1", "digest": text_digest("A secret of a visitor")}
SUBJECTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "audience": (PLACE, {}, "Brightwater Foods"),
    "passage": (PLACE, PASSAGE | {"digest": text_digest(TEXT)}, "Brightwater Foods"),
    "field": (PLACE, {"about": "field title"}, "Brightwater Foods"),
    "message": (PLACE, MESSAGE, "Brightwater Foods"),
    "change": (PLACE, MESSAGE | {"kind": "change", "object_id": "chg_1"}, "Brightwater Foods"),
    "release": ("release:1", {}, "the release Release 1"),
    "request": ("request:1", {}, "the request Publish Release 1"),
    "operation": ("operation:op_1", {}, "Publish version 2, Brightwater Foods"),
}
"""The place of a comment on each subject, the fields of its form, and its name in notices."""


@pytest.fixture
def _subjects(fake_service: FakeService, paula: User) -> None:
    version = wire.version(supplementaryContext=TEXT)
    audience = wire.audience(latestVersion=version, effectiveMetadata={"title": "Every truck"})
    seed_pages(wire.page())
    seed_audiences(audience)
    serve(fake_service, audience)
    seed_release()
    seed_approval()
    operation(paula, "op_1", ending=None)


@pytest.fixture
def _channels(_email_on: None, paula: User, receiver: HookReceiver) -> None:
    """E-mail, and a webhook of each format of Paula's and of a team, which mentions no one."""
    for format_ in WebhookFormat.values:
        for is_team in (False, True):
            targets.add_target(
                paula, is_team=is_team, name="Desk", url=receiver.url, format=format_
            )


def comment(client: Client, subject: str) -> None:
    place, fields, _ = SUBJECTS[subject]
    CommentPage(client, place).comment(BODY, **fields)
    assert Thread.objects.latest("pk").kind == subject


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_mention_is_a_sentence_and_a_link(
    subject: str, as_viewer: Client, as_publisher: Client, receiver: HookReceiver, work: Work
) -> None:
    comment(as_viewer, subject)
    work(0.5)
    sentence = f"vera mentioned you in a comment on {SUBJECTS[subject][2]}."
    [message] = mail.outbox
    signed = next(post.json["data"]["events"] for post in receiver.received if "data" in post.json)
    [event] = signed
    path = event["url"].removeprefix("http://testserver")
    assert event["text"] == sentence
    assert f"{message.subject}." == sentence
    assert str(message.body).startswith(f"{sentence}\n{event['url']}\n")
    slack = next(post.json["text"] for post in receiver.received if "text" in post.json)
    assert slack == f"{sentence} <{event['url']}|Open>"
    assert len(receiver.received) == 2, "a team is not mentioned"
    inbox = as_publisher.get("/notifications/").text
    assert sentence in text(inbox)
    assert f'href="{path}"' in inbox
    sent = repr([message.body, receiver.received, text(inbox)])
    assert "come from" not in sent
    assert "trucks" not in sent
    assert f'id="{path.partition("#")[2]}"' in as_publisher.get(path).text


@pytest.mark.parametrize("turned_off_after", ["the comments", "the notices"])
def test_without_access_no_channel_mentions_anyone(
    turned_off_after: str, paula: User, as_viewer: Client, receiver: HookReceiver, work: Work
) -> None:
    for subject in SUBJECTS:
        comment(as_viewer, subject)
    if turned_off_after == "the notices":
        work(0.1)
    User.objects.filter(pk=paula.pk).update(is_active=False)
    work(0.5)
    assert (mail.outbox, receiver.received) == ([], [])
