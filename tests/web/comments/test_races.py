"""Two people write in one thread at the same moment."""

from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from dashboard.comments.models import Comment, Mention, Thread
from dashboard.notifications.models import Event as NotificationEvent
from tests.support import wire
from tests.support.comment_page import CommentPage
from tests.support.html import response_text
from tests.support.interleaving import (
    before_commit,
    before_statement,
    before_transaction,
    begun,
    held_at,
)
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)
POSTGRESQL = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")


@pytest.fixture(autouse=True)
def _audience() -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience())


@pytest.fixture
def comments(as_publisher: Client) -> CommentPage:
    """Paula's comments; the first one is "Which depot?"."""
    page = CommentPage(as_publisher)
    page.comment("Which depot?")
    return page


def change(page: CommentPage, act: str, **fields: Any) -> Any:
    """Press "edit" or "delete" at the first comment."""
    url = f"/comments/{Comment.objects.earliest('pk').pk}/{act}/"
    return page.client.post(url, fields)


def test_a_reply_to_a_deleted_thread_is_shown_again(
    comments: CommentPage, as_viewer: Client
) -> None:
    reply = partial(CommentPage(as_viewer).reply, "The northern one.")
    with held_at(before_transaction(), reply) as replying:
        change(comments, "delete")
    response = replying.result()
    assert response.status_code == 422
    assert "This thread was deleted. Nothing was added." in response_text(response)
    assert "The northern one." in response.text
    assert not Thread.objects.exists()


@pytest.mark.parametrize("has_reply", [False, True])
def test_an_edit_of_a_deleted_comment_mentions_nobody(
    comments: CommentPage, as_administrator: Client, vera: User, has_reply: bool
) -> None:
    if has_reply:
        comments.reply("Anybody?")
    edit = partial(change, comments, "edit", body="@vera, which depot?")
    with held_at(before_transaction(), edit) as editing:
        change(CommentPage(as_administrator), "delete")
    assert "This comment was deleted. Nothing was saved." in response_text(editing.result())
    assert "which depot" not in comments.text.casefold()
    assert not Mention.objects.exists()
    assert not NotificationEvent.objects.filter(kind="mentioned").exists()


def test_a_removal_stays_on_record_when_its_author_deletes(
    comments: CommentPage, as_administrator: Client
) -> None:
    with held_at(before_transaction(), change, comments, "delete") as deleting:
        change(CommentPage(as_administrator), "delete")
    assert deleting.result().status_code == 302
    assert Comment.objects.get().deleted_by_name == "ada"


@POSTGRESQL
def test_a_comment_is_deleted_while_its_edit_ends(comments: CommentPage, vera: User) -> None:
    edit = partial(change, comments, "edit", body="@vera, which depot?")
    with held_at(before_commit(), edit):
        at_lock = before_statement("comments_thread", "FOR UPDATE")
        deleting = begun(at_lock, change, comments, "delete")
    assert deleting.result().status_code == 302
    assert not Thread.objects.exists()


def test_a_deleted_account_is_left_out_of_a_comment(comments: CommentPage, vera: User) -> None:
    with held_at(before_transaction(), comments.comment, "@vera, which depot?") as commenting:
        vera.delete()
    assert commenting.result().status_code == 302
    assert "@vera, which depot?" in comments.text
