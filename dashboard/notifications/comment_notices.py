"""Notify of comments. Messages don't contain the text of a comment.

Mentioned users are notified at once. Others get one message for each sitting: the comments in a
thread within COMMENT_WINDOW_S of the first one. A sitting is one event for each user, which waits
until the sitting ends. A user's sittings in several threads end together.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse

from dashboard import clock
from dashboard.comments.models import Comment, LineKind, Thread
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.operations import actor_name
from dashboard.notifications.comment_places import CommentPlace, find_place
from dashboard.notifications.models import Event, Follow
from dashboard.notifications.recording import Subject, drop_events, record_event

GATHERED = "commented"
WAITING = Q(worker_id="", wake_at__isnull=False)
"""Events that no worker has claimed yet."""
MAX_NAMES = 3


@transaction.atomic
def on_comment_added(
    comment: Comment, mentioned: Sequence[User], *, is_edit: bool = False, **_: Any
) -> None:
    thread = comment.thread
    place = find_place(thread.place)
    if place is None:
        return
    subject = _subject(place, thread)
    for user in mentioned:
        record_event(
            "mentioned",
            f"comment:{comment.pk}:mentions:{user.pk}",
            subject,
            {"actor": comment.author_name, "place": place.name},
            actor=comment.author,
            owners=[user],
        )
    if is_edit:
        return
    left_out = {comment.author_id, *(user.pk for user in mentioned)}
    for user in _active(_concerned(thread, place) - left_out):
        _gather(user, comment, place, subject)


@transaction.atomic
def on_thread_resolved(line: Comment, thread: Thread, **_: Any) -> None:
    if place := find_place(thread.place):
        record_event(
            "thread_resolved",
            f"comment:{line.pk}:resolved",
            _subject(place, thread),
            {"actor": line.author_name, "place": place.name},
            actor=line.author,
            owners=_active(_authors(thread) - {line.author_id}),
        )


@transaction.atomic
def on_audiences_assigned(
    user: User, actor: User, keys: Sequence[tuple[str, str]], **_: Any
) -> None:
    """Notify the assignee, once for a whole selection."""
    if user == actor:
        return
    page_id, audience_id = keys[0]
    subject = Subject(f"{reverse('audience-list')}?assignee=me")
    what = f"{len(keys)} audiences"
    if len(keys) == 1:
        record = AudienceRecord.objects.filter(page_id=page_id, audience_id=audience_id).first()
        path = reverse("audience-detail", args=[page_id, audience_id])
        subject = Subject(path, page_id=page_id, audience_id=audience_id)
        what = str(record or audience_id)
    record_event(
        "assigned",
        f"assigned:{user.pk}:{clock.now():%Y%m%d%H%M%S%f}",
        subject,
        {"actor": actor_name(actor), "what": what, "audience": what},
        actor=actor,
        owners=[user],
    )


def _gather(user: User, comment: Comment, place: CommentPlace, subject: Subject) -> None:
    """Add a comment to a user's open sitting in its thread, or begin one."""
    now, mine = clock.now(), f"comments:{user.pk}:"
    of_thread = f"{mine}{comment.thread_id}:"
    waiting = Event.objects.filter(kind=GATHERED, worker_id="", wake_at__gt=now)
    sitting = waiting.select_for_update().filter(key__startswith=of_thread).first()
    if sitting:
        sitting.facts |= _facts([*sitting.facts["authors"], comment.author_name])
        sitting.save(update_fields=["facts"])
        return
    others = waiting.filter(key__startswith=mine).order_by("wake_at")
    ends_at = others.values_list("wake_at", flat=True).first()
    record_event(
        GATHERED,
        f"{of_thread}{comment.pk}",
        subject,
        {"place": place.name} | _facts([comment.author_name]),
        owners=[user],
        wake_at=ends_at or now + timedelta(seconds=settings.COMMENT_WINDOW_S),
    )


def _facts(authors: Sequence[str]) -> dict[str, Any]:
    """Return the facts of a sitting. `authors` has one name for each comment."""
    names = list(dict.fromkeys(authors))
    named, more = names[:MAX_NAMES], len(names) - MAX_NAMES
    count = f"{len(authors)} new comment{'s' if len(authors) > 1 else ''}"
    listed = ", ".join(named) + (f" and {more} more" if more > 0 else "")
    return {"count": count, "names": listed, "authors": [*authors]}


def _concerned(thread: Thread, place: CommentPlace) -> set[int | None]:
    """Return the ids of a thread's authors, the place's owner and the audience's followers.

    A mention doesn't make the user follow the thread.
    """
    concerned = _authors(thread) | {place.owner_id}
    if place.audience_id:
        follows = Follow.objects.filter(page_id=place.page_id, audience_id=place.audience_id)
        concerned |= {*follows.values_list("user_id", flat=True)}
    return concerned


def _authors(thread: Thread) -> set[int | None]:
    return {*thread.comments.filter(kind=LineKind.COMMENT).values_list("author_id", flat=True)}


def _active(user_ids: Collection[int | None]) -> Iterable[User]:
    ids = [pk for pk in user_ids if pk]
    return User.objects.filter(pk__in=ids, is_active=True) if ids else []


def _subject(place: CommentPlace, thread: Thread) -> Subject:
    path = f"{place.path}#thread-{thread.pk}"
    return Subject(path, page_id=place.page_id, audience_id=place.audience_id)


@transaction.atomic
def drop_notices(comment: Comment) -> None:
    """Drop the waiting notices of an undone comment, which began its thread."""
    drop_events(waiting_mentions(comment))
    begun = f":{comment.thread_id}:{comment.pk}"
    waiting = Event.objects.filter(WAITING, kind=GATHERED)
    for sitting in waiting.select_for_update().filter(key__endswith=begun):
        if replies := sitting.facts["authors"][1:]:
            sitting.facts |= _facts(replies)
            sitting.save(update_fields=["facts"])
        else:
            sitting.delete()


def waiting_mentions(comment: Comment) -> QuerySet[Event]:
    return Event.objects.filter(WAITING, key__startswith=f"comment:{comment.pk}:mentions:")


def waiting_assignment(user_id: int, page_id: str, audience_id: str) -> QuerySet[Event]:
    """Return the waiting notice that one audience was assigned to a user."""
    return Event.objects.filter(
        WAITING,
        key__startswith=f"assigned:{user_id}:",
        page_id=page_id,
        audience_id=audience_id,
    )
