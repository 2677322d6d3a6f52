"""Begin, answer and resolve threads. Each change adds an entry to the feed in its transaction."""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from dashboard import clock
from dashboard.accounts.permissions import REMOVE_COMMENTS
from dashboard.comments.anchors import Anchor
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


@dataclass(frozen=True)
class ThreadTarget:
    """What a thread is about. TargetKind explains `object_id`."""

    kind: TargetKind
    page_id: str = ""
    audience_id: str = ""
    object_id: str = ""
    version_id: str = ""
    version_number: int | None = None

    @property
    def place(self) -> str:
        if self.kind in OF_AUDIENCE:
            return place_of("audience", self.page_id, self.audience_id)
        return place_of(self.kind, self.object_id)


def begin_thread(
    author: User,
    target: ThreadTarget,
    body: str,
    *,
    anchor: Anchor | None = None,
    digest: str = "",
    form_key: str | None = None,
) -> Comment:
    """Begin a thread with a comment, or return the comment that this form already added.

    Passages and fields have an `anchor`. Messages and changes have only a `digest` of their text.
    Raises CommentError.
    """
    now = clock.now()
    thread = Thread(
        place=target.place,
        **vars(target),
        start=anchor.start if anchor else None,
        end=anchor.end if anchor else None,
        quote=anchor.quote if anchor else "",
        text_digest=anchor.digest if anchor else digest,
        created_at=now,
        changed_at=now,
    )
    return add_comment(author, thread, body, form_key=form_key)


def add_comment(author: User, thread: Thread, body: str, *, form_key: str | None = None) -> Comment:
    """Add a comment to a thread, or return the one that this form already added.

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
        thread.save()
    else:
        Thread.objects.filter(pk=thread.pk).update(changed_at=now)
    comment = Comment(
        thread=thread,
        author=author,
        author_name=actor_name(author),
        body=body,
        searched=fold(body),
        created_at=now,
    )
    if form_key:
        comment.form_key = form_key
    comment.save(force_insert=True)
    mentioned = _save_mentions(comment, names)
    _add_to_feed(thread, author)
    comment_added.send_robust(sender=Comment, comment=comment, mentioned=mentioned)
    return comment


def _save_mentions(comment: Comment, names: Names) -> list[User]:
    """Save the mentions of a comment; return the users who weren't mentioned before an edit."""
    before = set(comment.mentions.values_list("user_id", flat=True))
    comment.mentions.exclude(user_id__in=names.users).delete()
    new = [(user, name) for pk, (user, name) in names.users.items() if pk not in before]
    Mention.objects.bulk_create(
        Mention(comment=comment, user=user, name=name) for user, name in new
    )
    return [user for user, _ in new]


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
        Comment.objects.filter(pk=comment.pk, deleted_at=None).update(
            body=body, searched=fold(body), edited_at=clock.now()
        )
        comment.body = body
        mentioned = _save_mentions(comment, names)
        _add_to_feed(comment.thread, user)
        if mentioned:
            comment_added.send_robust(
                sender=Comment, comment=comment, mentioned=mentioned, is_edit=True
            )


def delete_comment(user: User, comment: Comment) -> None:
    """Delete a comment. The caller checks permissions.

    The line stays without its text if others replied, or if it is another user's. A thread without
    lines is deleted, too.
    """
    thread = comment.thread
    with transaction.atomic():
        list(Thread.objects.select_for_update().filter(pk=thread.pk))
        later = thread.comments.filter(pk__gt=comment.pk)
        is_first = not thread.comments.filter(pk__lt=comment.pk).exists()
        comment.mentions.all().delete()
        if comment.author_id != user.pk or later.exists():
            Comment.objects.filter(pk=comment.pk).update(
                body="", searched="", deleted_at=clock.now(), deleted_by_name=actor_name(user)
            )
        elif is_first:
            thread.delete()
        else:
            comment.delete()
        _add_to_feed(thread, user)


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
