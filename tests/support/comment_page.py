"""The comments of a place in a user's browser."""

import re
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
from django.http import HttpResponse
from django.test import Client

from dashboard.comments.anchors import text_digest
from dashboard.comments.models import Comment
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import text

PLACE = "audience:page_1:aud_1"
URL = "/pages/page_1/audiences/aud_1/comments/"


class CommentPage:
    """The comments of one place, by default the audience `aud_1`."""

    def __init__(self, client: Client, place: str = PLACE) -> None:
        self.client, self.place = client, place

    def html(self) -> str:
        response = self.client.get(f"/comments/?place={quote(self.place)}")
        assert response.status_code == 200
        return str(response.text)

    @property
    def text(self) -> str:
        return text(self.html())

    def comment(self, body: str, *, expect: int = 302, **fields: Any) -> HttpResponse:
        """Start a thread; `fields` say what it is about."""
        fields = {"place": self.place, "form_key": str(uuid4()), "body": body} | fields
        response = self.client.post("/comments/new/", fields)
        assert response.status_code == expect, response.text
        return response

    def on_words(self, words: str, within: str, body: str = "Why?", **fields: Any) -> HttpResponse:
        """Start a thread on the first occurrence of the words in the text of version 2."""
        start = within.index(words)
        range_ = {"start": start, "end": start + len(words), "digest": text_digest(within)}
        return self.comment(body, **{"kind": "passage", "version": "ver_2"} | range_ | fields)

    def reply(self, body: str, thread: int = 0, **fields: Any) -> HttpResponse:
        fields = {"form_key": str(uuid4()), "body": body} | fields
        return self.client.post(f"/comments/threads/{thread or last_thread()}/reply/", fields)

    def press(self, act: str, thread: int = 0) -> HttpResponse:
        """Press "resolve" or "reopen"."""
        return self.client.post(f"/comments/threads/{thread or last_thread()}/{act}/")

    def comments(self) -> list[str]:
        """Return the texts of the visible comments."""
        return [
            text(part) for part in re.findall(r'<div dir="auto">(.*?)</div>', self.html(), re.S)
        ]


def serve_conversation(fake_service: FakeService, conversation: dict[str, Any]) -> None:
    """Make the service return an audience with this conversation, which the test may change."""

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("/messages"):
            return httpx.Response(200, json=conversation)
        if path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(wire.audience()))
        return httpx.Response(200, json=wire.page())

    fake_service.answer = answer


def last_thread() -> int:
    return Comment.objects.latest("pk").thread_id
