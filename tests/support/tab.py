"""A tab that reports presence, as here.js does."""

from itertools import count
from typing import Any

from django.test import Client

from tests.support.html import text

AUDIENCE, PUBLISH = "audience:page_1:aud_1", "publish:page_1:aud_1"
BACKGROUND = {"HX-Request": "true", "X-Background": "1"}
_NUMBERS = count()


class Tab:
    """A tab of a client's user."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._id = f"tab{next(_NUMBERS)}"

    def report(self, place: str = AUDIENCE, doing: str = "viewing", **fields: str) -> Any:
        """Report a place; return the response."""
        form = {"tab": self._id, "place": place, "doing": doing, **fields}
        return self._client.post("/live/here/", form, headers=BACKGROUND)

    def leave(self) -> Any:
        return self._client.post("/live/here/", {"tab": self._id}, headers=BACKGROUND)


def who_is_at(client: Client, place: str = AUDIENCE, *, row: str = "") -> str:
    """Return the text about who is at a place, or the mark of a row."""
    target = row or f"here-{place.partition(':')[0]}"
    headers = BACKGROUND | {"HX-Target": target}
    response = client.get("/live/here/", {"place": place}, headers=headers)
    assert response.status_code == 200
    return text(response.content.decode())
