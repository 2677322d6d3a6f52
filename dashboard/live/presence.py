"""Presence: a tab reports itself every 30 seconds, and is gone 90 seconds after its last report.

A change adds an entry to the feed, so that open pages follow; a report without one is one update,
which takes 0.4 ms. All times are the server's.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import quote

from django.db import transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, QuerySet

from dashboard import clock
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.live.models import Doing, Presence
from dashboard.work.tasks import WorkerTask

GONE_AFTER = timedelta(seconds=90)
"""Two reports may be lost. Source: our choice."""
MAX_TABS = 40
"""Per user; the one silent for longest is dropped. Source: our choice."""

_PUBLISH = "publish:"


class Visitor(NamedTuple):
    """Somebody else at a place: of their tabs, the one that says most."""

    user_id: int
    name: str
    """First name, or else the username."""
    full_name: str
    doing: Doing
    version_number: int | None
    is_idle: bool

    @property
    def initials(self) -> str:
        words = self.full_name.split()
        return "".join(word[0] for word in [words[0], words[-1]]) if words[1:] else self.name[:2]


def place_of(kind: str, *ids: object) -> str:
    return ":".join([kind, *(quote(str(value), safe="") for value in ids)])


def subject_of(place: str) -> str:
    """Return the place that a place belongs to: a publish dialog is open over its audience."""
    is_dialog = place.startswith(_PUBLISH)
    return f"audience:{place.removeprefix(_PUBLISH)}" if is_dialog else place


def report(
    user_id: int,
    tab: str,
    place: str,
    doing: Doing,
    *,
    version_number: int | None = None,
    is_idle: bool = False,
) -> None:
    """Record where a tab is, and tell the feed if that is new."""
    state = {
        "user_id": user_id,
        "place": place,
        "doing": doing,
        "version_number": version_number,
        "is_idle": is_idle,
    }
    now = clock.now()
    if _present().filter(tab=tab, **state).update(seen_at=now):
        return
    with transaction.atomic():
        left = Presence.objects.filter(tab=tab).exclude(place=place).values_list("place", flat=True)
        places = [*left, place]
        Presence.objects.update_or_create(tab=tab, defaults={**state, "seen_at": now})
        own = Presence.objects.filter(user_id=user_id).order_by("-seen_at")
        remove(own.filter(pk__in=list(own.values_list("pk", flat=True)[MAX_TABS:])))
        _add_to_feed((place, user_id) for place in places)


def leave(user_id: int, tab: str) -> None:
    remove(Presence.objects.filter(user_id=user_id, tab=tab))


def remove(tabs: QuerySet[Presence]) -> None:
    with transaction.atomic():
        gone = list(tabs.values_list("place", "user_id"))
        tabs.delete()
        _add_to_feed(gone)


def visitors_at(
    places: Collection[str], viewer_id: int, *, may_publish: bool
) -> dict[str, list[Visitor]]:
    """Return who else is at each of these places, what they do first; one query.

    Who may not open the publish dialog is not told that somebody is in it, only who is there.
    """
    keys = [*places, *(place.replace("audience:", _PUBLISH, 1) for place in places)]
    tabs = _present().filter(place__in=keys, user__is_active=True).exclude(user_id=viewer_id)
    order = list(Doing)
    visitors: dict[str, dict[int, Visitor]] = {}
    for tab in sorted(
        tabs.select_related("user"), key=lambda tab: (tab.is_idle, order.index(Doing(tab.doing)))
    ):
        is_secret = tab.place.startswith(_PUBLISH) and not may_publish
        user = tab.user
        visitor = Visitor(
            user.pk,
            user.first_name or user.get_username(),
            user.get_full_name() or user.get_username(),
            Doing.VIEWING if is_secret else Doing(tab.doing),
            None if is_secret else tab.version_number,
            tab.is_idle,
        )
        visitors.setdefault(subject_of(tab.place), {}).setdefault(user.pk, visitor)
    return {place: list(people.values()) for place, people in visitors.items()}


def _present() -> QuerySet[Presence]:
    return Presence.objects.filter(seen_at__gt=clock.now() - GONE_AFTER)


def _add_to_feed(tabs: Any) -> None:
    feed.add(
        *(
            FeedEntry(kind=FeedKind.PRESENCE, object_id=subject_of(place), actor_id=user_id)
            for place, user_id in tabs
        )
    )


def remove_gone() -> None:
    remove(Presence.objects.filter(seen_at__lte=clock.now() - GONE_AFTER))


def earliest_gone() -> "QuerySet[Presence, Any]":
    """Return the time when the tab that has been silent for longest is gone."""
    at = ExpressionWrapper(F("seen_at") + GONE_AFTER, output_field=DateTimeField())
    return Presence.objects.order_by("seen_at").annotate(at=at).values_list("at", named=True)[:1]


REMOVE_GONE = WorkerTask(lambda *_: remove_gone(), due=(earliest_gone,))
