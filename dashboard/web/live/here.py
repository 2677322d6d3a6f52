"""Who else is at a place, for a page, a row of a list, or the report of a tab."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import unquote, urlencode

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404

from dashboard.accounts.permissions import PUBLISH, AuthenticatedRequest, may
from dashboard.approvals.models import ApprovalRequest
from dashboard.ledger.models import AudienceRecord
from dashboard.live.models import Doing
from dashboard.live.presence import Visitor, place_of, subject_of, visitors_at
from dashboard.releases.models import Release
from dashboard.web.live.topics import presence_topic
from dashboard.web.ui.query_params import int_param
from dashboard.web.ui.urls import cached_reverse, is_identifier

DOING = {
    "audience": (Doing.VIEWING, Doing.DECIDING),
    "publish": (Doing.PUBLISHING, Doing.ROLLING_BACK),
    "release": (Doing.REVIEWING, Doing.VIEWING),
    "request": (Doing.REVIEWING, Doing.VIEWING),
}
"""What users can do at each kind of place."""


class KeyedRow(Protocol):
    page_id: str
    audience_id: str
    key: str


@dataclass(frozen=True)
class Here:
    """A place, and who else is there."""

    place: str
    visitors: list[Visitor] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return self.place.partition(":")[0]

    @property
    def topic(self) -> str:
        """The topic of its changes in the poll of the page."""
        return presence_topic(subject_of(self.place))

    @property
    def url(self) -> str:
        # Keep colons as in the topic, so that the two compress well in each row.
        return f"{cached_reverse('here')}?{urlencode({'place': self.place}, safe=':')}"


def here_at_page(request: AuthenticatedRequest, kind: str, *ids: object) -> Here | None:
    """Return who else is at the place of a page that the user opened; None if presence is off."""
    return who_is_at(request, place_of(kind, *ids)) if settings.PRESENCE else None


def who_is_at(request: AuthenticatedRequest, place: str) -> Here:
    visitors = visitors_at([subject_of(place)], request.user.pk, may_publish=may(request, PUBLISH))
    return Here(place, visitors.get(subject_of(place), []))


def here_in_rows(request: AuthenticatedRequest, rows: Iterable[KeyedRow]) -> dict[str, Here]:
    """Return who else has the audiences of a list open, by the keys of its rows; one query."""
    if not settings.PRESENCE:
        return {}
    places = {row.key: place_of("audience", row.page_id, row.audience_id) for row in rows}
    visitors = visitors_at(places.values(), request.user.pk, may_publish=may(request, PUBLISH))
    return {key: Here(place, visitors.get(place, [])) for key, place in places.items()}


def openable_place(request: AuthenticatedRequest, place: str) -> str:
    """Return the place if the user may open its page. Raises Http404 otherwise."""
    kind, *ids = place.split(":")
    ids = [unquote(text) for text in ids]
    rows: QuerySet[Any] | None = None
    match kind, ids:
        case (("audience" | "publish"), [page_id, audience_id]):
            if kind == "audience" or may(request, PUBLISH):
                rows = AudienceRecord.objects.filter(page_id=page_id, audience_id=audience_id)
        case "release", [pk]:
            rows = Release.objects.filter(pk=int_param(pk))
        case "request", [pk]:
            rows = ApprovalRequest.objects.filter(pk=int_param(pk))
    is_valid = place == place_of(kind, *ids) and all(map(is_identifier, ids))
    if rows is None or not is_valid or not rows.exists():
        raise Http404
    return place
