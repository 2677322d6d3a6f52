"""The threads of a place as its page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404

from dashboard.accounts.permissions import AuthenticatedRequest
from dashboard.comments.models import Thread
from dashboard.comments.queries import OpenThreads, open_threads_of, threads_of
from dashboard.live.presence import place_of
from dashboard.notifications.comment_places import CommentPlace, find_place
from dashboard.web.ui.urls import cached_reverse


@dataclass(frozen=True)
class Discussion:
    place: str
    threads: Sequence[Thread]

    @property
    def url(self) -> str:
        """The URL from which an open page fetches the threads again."""
        return discussion_url(self.place)

    @property
    def open_count(self) -> int:
        return sum(thread.is_open for thread in self.threads)


def discussion_url(place: str) -> str:
    return f"{cached_reverse('discussion')}?{urlencode({'place': place}, safe=':')}"


def place_or_404(place: str) -> CommentPlace:
    if match := find_place(place):
        return match
    raise Http404


def discussion_at(kind: str, *ids: object) -> Discussion:
    """Return the threads of a page's place; three queries, or one if there are none."""
    place = place_of(kind, *ids)
    return Discussion(place, threads_of(place))


def open_comments(request: AuthenticatedRequest, kind: str, *ids: object) -> OpenThreads:
    """Return the number of open threads of a place; one query."""
    place = place_of(kind, *ids)
    return open_threads_of([place], request.user.pk).get(place, OpenThreads())
