"""Threads: comment, reply, edit, delete, resolve, and place threads beside their words."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from dashboard.comments.models import Comment, Thread
from dashboard.ledger.models import FeedEntry, FeedKind
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.clock import stopped
from tests.support.comment_page import URL, CommentPage, serve_conversation
from tests.support.fake_service import FakeService
from tests.support.hostile_strings import PAYLOADS
from tests.support.html import elements, text
from tests.support.one_audience import serve
from tests.support.operations import operation
from tests.support.seeding import (
    seed_approval,
    seed_audiences,
    seed_pages,
    seed_release,
    seed_thread,
)

pytestmark = pytest.mark.django_db

TEXT = "Runs 71 trucks out of four depots.\n\nNo discount has been approved."


@pytest.fixture(autouse=True)
def _audience() -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience(latestVersion=wire.version(supplementaryContext=TEXT)))


@pytest.fixture
def comments(as_viewer: Client) -> CommentPage:
    return CommentPage(as_viewer)


# Writing


def test_a_viewer_s_comment_is_shown_to_others(comments: CommentPage, as_publisher: Client) -> None:
    comments.comment("Where does 71 come from?")
    others = CommentPage(as_publisher)
    assert others.comments() == ["Where does 71 come from?"]
    assert "1 open" in others.text


@pytest.mark.parametrize("place", ["release:1", "request:1", "operation:op_1"])
def test_other_places_have_threads_too(comments: CommentPage, paula: User, place: str) -> None:
    seed_release()
    seed_approval()
    operation(paula, "op_1")
    there = CommentPage(comments.client, place)
    there.comment("Who reviews this?")
    assert there.comments() == ["Who reviews this?"]
    assert comments.comments() == []


def test_the_page_of_a_discussion_has_a_heading(as_viewer: Client) -> None:
    seed_release()
    assert "<h1>Comments</h1>" in as_viewer.get("/comments/?place=release:1").text


@pytest.mark.parametrize("place", ["audience:page_1:aud_9", "release:9", "release:x", "people:1"])
def test_a_place_that_does_not_exist_has_none(comments: CommentPage, place: str) -> None:
    CommentPage(comments.client, place).comment("Hello", expect=404)
    assert not Thread.objects.exists()


def test_the_same_form_sent_twice_gives_one_comment(comments: CommentPage) -> None:
    key = str(uuid4())
    for _ in range(2):
        comments.comment("Once", form_key=key)
    comments.reply("Twice", form_key=key)
    comments.reply("Twice", form_key=key)
    assert comments.comments() == ["Once", "Twice"]


@pytest.mark.parametrize("body", ["  ", "x" * 4_001])
def test_what_cannot_be_saved_stays_in_the_form(comments: CommentPage, body: str) -> None:
    response = comments.comment(body, expect=422)
    assert body.strip() in response.text
    assert not Comment.objects.exists()


def test_hostile_text_is_only_text(comments: CommentPage) -> None:
    body = " ".join(PAYLOADS).encode(errors="ignore").decode()[:4_000]
    comments.comment(body)
    after = comments.html().partition('id="discussion"')[2]
    assert "<script" not in after.partition("</section>")[0]


def test_links_in_a_comment_can_be_followed(comments: CommentPage) -> None:
    comments.comment("See https://example.com/a?b=1&c=2, or javascript:alert(1).")
    assert '<a href="https://example.com/a?b=1&amp;c=2"' in comments.html()
    assert 'href="javascript' not in comments.html()


def test_each_change_is_in_the_feed_by_its_place(comments: CommentPage) -> None:
    comments.comment("Why?")
    comments.press("resolve")
    entries = FeedEntry.objects.filter(kind=FeedKind.COMMENT)
    assert [entry.object_id for entry in entries] == ["audience:page_1:aud_1"] * 2


# Resolving


def test_resolve_and_reopen_are_lines_of_the_thread(comments: CommentPage) -> None:
    comments.comment("Why?")
    comments.press("resolve")
    assert "vera resolved this" in comments.text
    assert "0 open" in comments.text
    comments.press("reopen")
    assert "vera reopened this" in comments.text
    assert "1 open" in comments.text


def test_only_a_resolved_thread_is_folded(comments: CommentPage) -> None:
    comments.comment("Why?")
    assert '<details class="thread-card' not in comments.html()
    comments.press("resolve")
    assert '<details class="thread-card' in comments.html()


# Editing and deleting


def test_own_text_is_edited_within_15_minutes(
    monkeypatch: pytest.MonkeyPatch, comments: CommentPage, as_publisher: Client
) -> None:
    comments.comment("Wyh?")
    comment = Comment.objects.get()
    url = f"/comments/{comment.pk}/edit/"
    comments.client.post(url, {"body": "Why?"})
    assert comments.comments() == ["Why?"]
    assert "edited" in comments.text
    assert as_publisher.post(url, {"body": "Mine"}).status_code == 422
    stopped(monkeypatch).advance(16 * 60)
    response = comments.client.post(url, {"body": "Later"})
    assert response.status_code == 422
    assert "Later" in response.text
    assert comments.comments() == ["Why?"]


def test_a_deleted_comment_leaves_a_line_if_answered(comments: CommentPage) -> None:
    comments.comment("Never mind")
    first = Comment.objects.get()
    comments.reply("Too late")
    comments.client.post(f"/comments/{first.pk}/delete/")
    assert "Deleted by its author" in comments.text
    assert comments.comments() == ["Too late"]
    assert not Comment.objects.filter(body="Never mind").exists()


def test_a_deleted_comment_without_answers_is_gone(comments: CommentPage) -> None:
    comments.comment("Never mind")
    comments.client.post(f"/comments/{Comment.objects.get().pk}/delete/")
    assert not Thread.objects.exists()


def test_only_administrators_remove_the_text_of_others(
    comments: CommentPage, as_publisher: Client, as_administrator: Client
) -> None:
    comments.comment("His phone number is 555 0100")
    url = f"/comments/{Comment.objects.get().pk}/delete/"
    assert as_publisher.post(url).status_code == 403
    assert url not in CommentPage(as_publisher).html()
    as_administrator.post(url)
    assert "Comment by vera removed by ada" in comments.text
    assert not Comment.objects.filter(body__contains="555").exists()


# Passages


def test_a_passage_is_quoted_in_whole_words(comments: CommentPage) -> None:
    comments.on_words("iscount has been", TEXT)
    assert "On “discount has been”" in comments.text


def test_a_comment_on_changed_text_is_not_lost(comments: CommentPage) -> None:
    response = comments.on_words("discount", TEXT, "Is it 8%?", digest="0" * 32, expect=409)
    assert "The text has changed" in response.text
    assert "Is it 8%?" in response.text
    assert not Thread.objects.exists()


# Mentions


def test_who_is_named_is_marked(comments: CommentPage) -> None:
    ana = person("ana")
    ana.first_name, ana.last_name = "Ana", "Silva"
    ana.save()
    comments.comment("@Ana Silva, is this right? Mail ana@example.com.")
    assert '<span class="mention" translate="no">@Ana Silva</span>' in comments.html()
    [mention] = Comment.objects.get().mentions.all()
    assert mention.user == ana


def test_an_unknown_mention_is_reported_to_the_writer(comments: CommentPage) -> None:
    gone = person("ghost")
    gone.is_active = False
    gone.save()
    response = comments.client.post(
        "/comments/new/", {"place": comments.place, "body": "@ghost and @nobody: why?"}, follow=True
    )
    assert "No one was notified of @ghost, @nobody" in response.text
    assert logged_in(person("ben")) is not None


# Elsewhere


def test_open_comments_are_named_before_a_publish(
    comments: CommentPage, as_publisher: Client, fake_service: FakeService
) -> None:
    serve(fake_service, wire.audience(latestVersion=wire.version(supplementaryContext=TEXT)))
    comments.comment("@paula, is this right?")
    comments.comment("And this?")
    html = as_publisher.get("/pages/page_1/audiences/aud_1/versions/ver_2/publish/").text
    assert "2 open comments, one mentions you." in text(html)
    assert "data-review" not in html


def test_search_finds_comments_without_accents(comments: CommentPage, as_publisher: Client) -> None:
    comments.comment("Call Marisol Peña before noon")
    html = as_publisher.get("/find/?q=marisol+pena").text
    assert "Call Marisol Peña before noon" in text(html)
    assert f"/comments/threads/{Thread.objects.get().pk}/" in html


def test_a_notice_s_link_leads_to_its_thread(comments: CommentPage) -> None:
    comments.comment("Why?")
    pk = Thread.objects.get().pk
    response = comments.client.get(f"/comments/threads/{pk}/")
    assert response["Location"] == f"/pages/page_1/audiences/aud_1/comments/#thread-{pk}"


def test_comments_are_exported_with_their_threads(comments: CommentPage) -> None:
    comments.comment("=SUM(A1)")
    comments.press("resolve")
    response = comments.client.get(f"/comments/export.csv?place={comments.place}")
    lines = b"".join(response).decode().splitlines()
    assert [line.split(",")[8] for line in lines] == ["Line", "comment", "resolved"]
    assert "'=SUM(A1)" in lines[1]


def test_pruning_leaves_all_comments_on_what_exists(comments: CommentPage) -> None:
    seed_release()
    comments.comment("Stays")
    CommentPage(comments.client, "release:1").comment("Stays, too")
    seed_thread(pk=9, object_id="9", place="release:9")
    call_command("prune", "--older-than=30")
    assert {thread.place for thread in Thread.objects.all()} == {comments.place, "release:1"}


def test_a_session_that_ended_loses_no_comment(comments: CommentPage) -> None:
    client = comments.client
    form = client.get(f"/comments/new/?place={comments.place}").text
    ticket = next(e for e in elements(form, "input") if e.attributes.get("name") == "ticket")
    client.logout()
    fields = {"place": comments.place, "body": "Half a thought"}
    response = client.post(
        "/comments/new/", fields | {"ticket": ticket.attributes["value"]}, follow=True
    )
    url = response.redirect_chain[-1][0]
    response = client.post(url, {"username": "vera", "password": "vera"}, follow=True)
    assert "Half a thought" in response.text


# Subjects


def test_a_field_that_is_gone_is_a_state(comments: CommentPage, fake_service: FakeService) -> None:
    titled = wire.audience(effectiveMetadata={"title": "Every truck"})
    seed_audiences(titled)
    comments.comment("Too long", about="field title")
    assert Thread.objects.get().quote == "Every truck"
    for audience, note in [
        (titled, ""),
        (wire.audience(effectiveMetadata={"title": "Trucks"}), "The field has changed since."),
        (wire.audience(), "This field is no longer returned."),
    ]:
        serve(fake_service, audience)
        html = comments.client.get(URL).text
        assert "Too long" in text(html)
        assert note in text(html)


def test_a_message_is_commented_without_its_text(
    comments: CommentPage, fake_service: FakeService
) -> None:
    message = {"messageId": "msg_1", "content": "A secret of a visitor"}
    conversation = {"conversation": {}, "context": {}, "messages": [message], "pendingChanges": []}
    serve_conversation(fake_service, conversation)
    response = comments.client.get(f"{URL}?message=msg_1", follow=True)
    fields = {
        e.attributes["name"]: e.attributes["value"]
        for e in elements(response.text, "input")
        if e.attributes.get("name") in ("kind", "object_id", "digest")
    }
    comments.comment("Who wrote this?", **fields)
    assert "On a message" in text(comments.client.get(URL).text)
    assert "secret" not in repr(Thread.objects.values())
    conversation["messages"] = []
    assert "This message is no longer returned." in text(comments.client.get(URL).text)


# Versions


def test_threads_follow_their_words_into_a_version(
    comments: CommentPage, fake_service: FakeService
) -> None:
    comments.on_words("four depots", TEXT, "Which four?")
    comments.on_words("No discount has been", TEXT, "8% by now")
    new = "New: Runs 71 trucks out of four depots.\n\nA discount of 8% is approved."
    audience = wire.audience(
        latestVersion=wire.version(versionId="ver_3", versionNumber=3, supplementaryContext=new)
    )
    serve(fake_service, audience)
    html = comments.client.get(URL).text
    assert re.search(r"<mark[^>]*>four depots</mark>", html)
    gone = html[html.index('id="gone-h"') :]
    assert "8% by now" in gone
    assert "Version 2: “No discount has been”" in text(gone)
    assert "?version=ver_2#thread-" in gone
    before = comments.client.get(f"{URL}?version=ver_2").text
    assert re.search(r"<mark[^>]*>No discount has been</mark>", before)


def test_many_threads_take_few_queries(
    comments: CommentPage, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        comments.comment(f"Question {number}")
    comments.html()
    with django_assert_max_num_queries(19):
        comments.html()
