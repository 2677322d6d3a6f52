"""Begin, answer and resolve threads. Each change adds an entry to the feed in its transaction."""

from datetime import timedelta
from secrets import token_hex
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from dashboard import clock
from dashboard.accounts.permissions import REMOVE_COMMENTS
from dashboard.comments.mentions import Names, find_names, people
from dashboard.comments.models import (
    MAX_BODY,
    OF_AUDIENCE,
    Comment,
    LineKind,
    Mention,
    TargetKind,
    Thread,
)
from dashboard.comments.signals import comment_added, thread_resolved
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.ledger.models.operations import actor_name
from dashboard.live.presence import place_of
from dashboard.texts import fold

EDITABLE_FOR = timedelta(minutes=15)
"""How long the author can edit a comment. Source: our choice."""


class CommentError(Exception):
    """Nothing was changed. `str(error)` is a sentence for the user."""


def new_thread(
    kind: TargetKind, page_id: str = "", audience_id: str = "", **columns: Any
) -> Thread:
    """Return a thread that is saved with its first comment. TargetKind explains `object_id`."""
    if kind in OF_AUDIENCE:
        place = place_of("audience", page_id, audience_id)
    else:
        place = place_of(kind, columns["object_id"])
    return Thread(place=place, kind=kind, page_id=page_id, audience_id=audience_id, **columns)


def add_comment(author: User, thread: Thread, body: str, *, form_key: str | None = None) -> Comment:
    """Add a comment to a saved or new thread, or return the one that this form already added.

    Raises CommentError.
    """
    body = _valid_body(body)
    names = find_names(body, people())
    try:
        with transaction.atomic():
            return _insert(author, thread, body, names, form_key)
    except IntegrityError:
        # The same form was submitted twice at the same moment.
        return Comment.objects.select_related("thread").get(form_key=form_key or "")


def _insert(author: User, thread: Thread, body: str, names: Names, form_key: str | None) -> Comment:
    if form_key and (earlier := Comment.objects.filter(form_key=form_key).first()):
        return earlier
    now = clock.now()
    if thread.pk is None:
        thread.created_at = thread.changed_at = now
        thread.save()
    elif not Thread.objects.filter(pk=thread.pk).update(changed_at=now):
        raise CommentError("This thread was deleted. Nothing was added.")
    comment = Comment.objects.create(
        thread=thread,
        author=author,
        author_name=actor_name(author),
        body=body,
        searched=fold(body),
        form_key=form_key or token_hex(),
        created_at=now,
    )
    mentioned = _save_mentions(comment, names)
    _add_to_feed(thread, author)
    comment_added.send_robust(sender=Comment, comment=comment, mentioned=mentioned)
    return comment


def _save_mentions(comment: Comment, names: Names) -> list[User]:
    """Save the mentions of a comment; return the users who weren't mentioned before an edit."""
    before = set(comment.mentions.values_list("user_id", flat=True))
    comment.mentions.exclude(user_id__in=names.users).delete()
    # Lock the accounts: one that was just deleted would undo the comment.
    accounts = User.objects.select_for_update(no_key=True).order_by("pk")
    new = accounts.filter(pk__in=names.users.keys() - before)
    mentions = [Mention(comment=comment, user=user, name=names.users[user.pk][1]) for user in new]
    Mention.objects.bulk_create(mentions)
    return [mention.user for mention in mentions]


def set_open(user: User, thread: Thread, *, is_open: bool) -> bool:
    """Resolve or reopen a thread and add a line to it; return whether anything changed."""
    now = clock.now()
    with transaction.atomic():
        rows = Thread.objects.filter(pk=thread.pk, is_open=not is_open)
        if not rows.update(is_open=is_open, changed_at=now):
            return False
        line = Comment.objects.create(
            thread=thread,
            kind=LineKind.REOPENED if is_open else LineKind.RESOLVED,
            author=user,
            author_name=actor_name(user),
            created_at=now,
        )
        _add_to_feed(thread, user)
        if not is_open:
            thread_resolved.send_robust(sender=Thread, line=line, thread=thread)
    return True


def can_edit(comment: Comment, user: User) -> bool:
    is_own = comment.author_id == user.pk and comment.kind == LineKind.COMMENT
    return is_own and not comment.is_deleted and clock.now() < comment.created_at + EDITABLE_FOR


def can_delete(comment: Comment, user: User) -> bool:
    is_text = comment.kind == LineKind.COMMENT and not comment.is_deleted
    return is_text and (comment.author_id == user.pk or user.has_perm(REMOVE_COMMENTS))


def edit_comment(user: User, comment: Comment, body: str) -> None:
    """Replace the text of the user's own comment. Raises CommentError."""
    body = _valid_body(body)
    if not can_edit(comment, user):
        minutes = int(EDITABLE_FOR.total_seconds() // 60)
        raise CommentError(f"A comment can be edited by its author, for {minutes} minutes.")
    if body == comment.body:
        return
    names = find_names(body, people())
    with transaction.atomic():
        _lock(comment.thread)
        if not _present(comment).update(body=body, searched=fold(body), edited_at=clock.now()):
            raise CommentError("This comment was deleted. Nothing was saved.")
        comment.body = body
        mentioned = _save_mentions(comment, names)
        _add_to_feed(comment.thread, user)
        if mentioned:
            comment_added.send_robust(
                sender=Comment, comment=comment, mentioned=mentioned, is_edit=True
            )


def delete_comment(user: User, comment: Comment) -> None:
    """Delete a comment, unless it already is. The caller checks permissions.

    The line stays without its text if others replied, or if it is another user's. A thread without
    lines is deleted, too.
    """
    thread = comment.thread
    with transaction.atomic():
        _lock(thread)
        if not _present(comment).exists():
            return
        later = thread.comments.filter(pk__gt=comment.pk)
        is_first = not thread.comments.filter(pk__lt=comment.pk).exists()
        comment.mentions.all().delete()
        if comment.author_id != user.pk or later.exists():
            _present(comment).update(
                body="", searched="", deleted_at=clock.now(), deleted_by_name=actor_name(user)
            )
        elif is_first:
            thread.delete()
        else:
            comment.delete()
        _add_to_feed(thread, user)


def _lock(thread: Thread) -> None:
    list(Thread.objects.select_for_update().filter(pk=thread.pk))


def _present(comment: Comment) -> QuerySet[Comment]:
    return Comment.objects.filter(pk=comment.pk, deleted_at=None)


def _valid_body(body: str) -> str:
    """Return a body without surrounding whitespace. Raises CommentError if empty or too long."""
    body = body.replace("\r\n", "\n").replace("\0", "").strip()
    if not body:
        raise CommentError("Write something first.")
    if len(body) > MAX_BODY:
        over = len(body) - MAX_BODY
        raise CommentError(f"The maximum is {MAX_BODY:,} characters. Remove {over:,}.")
    return body


def _add_to_feed(thread: Thread, user: User) -> None:
    feed.add(FeedEntry(kind=FeedKind.COMMENT, object_id=thread.place, actor_id=user.pk))
