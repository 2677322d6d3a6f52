"""The assignee of an audience: nobody, or one user with an active account."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from dashboard.comments.signals import audiences_assigned
from dashboard.comments.threads import CommentError
from dashboard.ledger import feed
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.operations import actor_name
from dashboard.ledger.queries.audiences import of_audiences
from dashboard.ledger.queries.rows import AudienceKey
from dashboard.ledger.recording import lock_pages


def assign(actor: User, keys: Sequence[AudienceKey], user: User | None) -> int:
    """Assign audiences to a user, or to nobody; return how many changed.

    Raises CommentError if the account is turned off.
    """
    wanted, assignee_id = set(keys), user.pk if user else None
    with transaction.atomic():
        # Lock the account: when it is turned off, its audiences are unassigned only once.
        accounts = User.objects.select_for_update(no_key=True).filter(is_active=True)
        if user and not accounts.filter(pk=user.pk).first():
            raise CommentError(f"The account of {actor_name(user)} is turned off.")
        lock_pages(*{page_id for page_id, _ in keys})
        rows = AudienceRecord.objects.filter(of_audiences(keys))
        ids = {
            pk: (page_id, audience_id)
            for pk, page_id, audience_id, before in rows.values_list(
                "pk", "page_id", "audience_id", "assignee"
            )
            if (page_id, audience_id) in wanted and before != assignee_id
        }
        AudienceRecord.objects.filter(pk__in=ids).update(assignee=user)
        changed = list(ids.values())
        feed.add_audiences(*changed, actor_id=actor.pk)
        if user and changed:
            audiences_assigned.send_robust(
                sender=AudienceRecord, user=user, actor=actor, keys=changed
            )
    return len(changed)


def assignee_of(page_id: str, audience_id: str) -> User | None:
    users: QuerySet[User] = User.objects.filter(is_active=True)
    mine = AudienceRecord.objects.filter(page_id=page_id, audience_id=audience_id)
    return users.filter(pk__in=mine.values("assignee")).first()


def clear_if_turned_off(instance: User, **_: Any) -> None:
    """Unassign the audiences of an account that was saved as inactive."""
    if instance.is_active:
        return
    with transaction.atomic():
        mine = AudienceRecord.objects.filter(assignee=instance)
        keys = list(mine.values_list("page_id", "audience_id"))
        lock_pages(*{page_id for page_id, _ in keys})
        mine.update(assignee=None)
        feed.add_audiences(*keys)
