"""Presence: a tab reports itself every 30 seconds, and is gone 90 seconds after its last report.

A change adds an entry to the feed, so that open pages follow. A report without a change is one
update, which takes 0.4 ms. All times are the server's.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, Q, QuerySet
from django.db.models.functions import Coalesce, Greatest

from dashboard import clock
from dashboard.compiled_query import compiled
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.ledger.models.operations import actor_name
from dashboard.live.models import Doing, Presence
from dashboard.work.tasks import WorkerTask

GONE_AFTER = timedelta(seconds=90)
"""Long enough to lose two reports. Source: our choice."""
CLAIM = timedelta(minutes=5)
"""A claim is renewed once less than half of it is left. Source: Langfuse's annotation queue."""
MAX_TABS = 40
"""Maximum per user. The tabs silent for longest are dropped. Source: our choice."""

_PUBLISH = "publish:"


class Visitor(NamedTuple):
    """Somebody else at a place, by the most informative of their tabs."""

    user_id: int
    name: str
    """First name, or else the username."""
    full_name: str
    doing: Doing
    version_number: int | None
    is_idle: bool


class _OpenTab(NamedTuple):
    place: str
    doing: str
    version_number: int | None
    is_idle: bool
    user_id: int
    username: str
    first_name: str
    last_name: str


class PlaceClaim(NamedTuple):
    """Who is deciding at a place. It locks nothing: others are just offered something else."""

    user_id: int
    name: str
    full_name: str
    until: datetime


def place_of(kind: str, *ids: object) -> str:
    return ":".join([kind, *(quote(str(value), safe="") for value in ids)])


def subject_of(place: str) -> str:
    """Return the place that shows the visitors: for a publish dialog, its audience."""
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
    """Record where a tab is, and add it to the feed if it changed."""
    state = {
        "user_id": user_id,
        "place": place,
        "doing": doing,
        "version_number": version_number,
        "is_idle": is_idle,
    }
    now = clock.now()
    is_deciding = doing == Doing.DECIDING and not is_idle
    unchanged = Presence.objects.filter(tab=tab, seen_at__gt=now - GONE_AFTER, **state)
    if is_deciding and not holder_at(place, but=user_id):
        if unchanged.filter(claimed_until__gt=now + CLAIM / 2).update(seen_at=now):
            return
    elif unchanged.update(seen_at=now):
        return
    with transaction.atomic():
        left = Presence.objects.filter(tab=tab).exclude(place=place).values_list("place", flat=True)
        places = [*left, place]
        # An idle or hidden tab keeps its claim until the claim ends.
        if doing != Doing.DECIDING or left:
            Presence.objects.filter(tab=tab).update(claimed_until=None)
        Presence.objects.update_or_create(tab=tab, defaults={**state, "seen_at": now})
        if is_deciding:
            _claim(user_id, tab, place, now)
        own = Presence.objects.filter(user_id=user_id).order_by("-seen_at")
        remove(own.filter(pk__in=list(own.values_list("pk", flat=True)[MAX_TABS:])))
        _add_to_feed((place, user_id) for place in places)


def _claim(user_id: int, tab: str, place: str, now: datetime) -> None:
    """Claim a place unless somebody else has. The database lets one of two at once succeed."""
    at_place = Presence.objects.filter(place=place)
    is_free = Q(claimed_until__lte=now) | Q(user_id=user_id) | Q(user__is_active=False)
    at_place.filter(is_free).update(claimed_until=None)
    try:
        with transaction.atomic():
            at_place.filter(tab=tab).update(claimed_until=now + CLAIM)
    except IntegrityError:
        return


def claim(user_id: int, tab: str, place: str) -> bool:
    """Report that a user is deciding at a place; return whether nobody else has the claim."""
    report(user_id, tab, place, Doing.DECIDING)
    return holder_at(place, but=user_id) is None


def take_over(user_id: int, tab: str, place: str) -> None:
    with transaction.atomic():
        others = Presence.objects.filter(place=place).exclude(user_id=user_id)
        others.update(claimed_until=None)
        report(user_id, tab, place, Doing.DECIDING)


def claims_by_place() -> dict[str, PlaceClaim]:
    """Return all claims; each place has at most one. One query."""
    return _claims(Presence.objects.all())


def holder_at(place: str, *, but: int) -> PlaceClaim | None:
    return _claims(Presence.objects.filter(place=place).exclude(user_id=but)).get(place)


def _claims(tabs: QuerySet[Presence]) -> dict[str, PlaceClaim]:
    claimed = tabs.filter(claimed_until__gt=clock.now(), user__is_active=True)
    return {
        tab.place: PlaceClaim(
            tab.user_id, _short_name(tab.user), actor_name(tab.user), tab.claimed_until
        )
        for tab in claimed.select_related("user")
        if tab.claimed_until
    }


def _short_name(user: User) -> str:
    return user.first_name or user.get_username()


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
    """Return who else is at each place: active users first, then by what they do. One query.

    Viewers who can't open the publish dialog see who is there, but not who is publishing.
    """
    keys = [*places, *(place.replace("audience:", _PUBLISH, 1) for place in places)]
    tabs = _tabs_of_others.rows(keys, clock.now() - GONE_AFTER, viewer_id)
    order = list(Doing)
    visitors: dict[str, dict[int, Visitor]] = {}
    for tab in sorted(tabs, key=lambda tab: (tab.is_idle, order.index(Doing(tab.doing)))):
        is_secret = tab.place.startswith(_PUBLISH) and not may_publish
        user = User(username=tab.username, first_name=tab.first_name, last_name=tab.last_name)
        visitor = Visitor(
            tab.user_id,
            _short_name(user),
            actor_name(user),
            Doing.VIEWING if is_secret else Doing(tab.doing),
            None if is_secret else tab.version_number,
            tab.is_idle,
        )
        visitors.setdefault(subject_of(tab.place), {}).setdefault(tab.user_id, visitor)
    return {place: list(people.values()) for place, people in visitors.items()}


@compiled(_OpenTab._make)
def _tabs_of_others(
    places: Sequence[str], seen_after: datetime, viewer_id: int
) -> "QuerySet[Presence, Any]":
    tabs = Presence.objects.filter(place__in=places, seen_at__gt=seen_after, user__is_active=True)
    names = ("user__username", "user__first_name", "user__last_name")
    return tabs.exclude(user_id=viewer_id).values_list(
        "place", "doing", "version_number", "is_idle", "user_id", *names
    )


def _add_to_feed(tabs: Any) -> None:
    feed.add(
        *(
            FeedEntry(kind=FeedKind.PRESENCE, object_id=subject_of(place), actor_id=user_id)
            for place, user_id in tabs
        )
    )


def remove_gone() -> None:
    now = clock.now()
    is_over = Q(claimed_until=None) | Q(claimed_until__lte=now)
    remove(Presence.objects.filter(is_over, seen_at__lte=now - GONE_AFTER))


def earliest_gone() -> "QuerySet[Presence, Any]":
    """Return when the next tab can be removed: it is silent, and its claim is over."""
    gone = ExpressionWrapper(F("seen_at") + GONE_AFTER, output_field=DateTimeField())
    at = Greatest(gone, Coalesce("claimed_until", "seen_at"))
    return Presence.objects.annotate(at=at).order_by("at").values_list("at", named=True)[:1]


REMOVE_GONE = WorkerTask(lambda *_: remove_gone(), due=(earliest_gone,))
