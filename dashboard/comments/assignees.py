"""The assignee of an audience: nobody, or one user with an active account."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from dashboard.comments.signals import audiences_assigned
from dashboard.ledger import feed
from dashboard.ledger.models import AudienceRecord

AudienceKey = tuple[str, str]
BATCH_SIZE = 100
"""Maximum number of keys in a query, because SQLite limits the depth of an expression."""


def assign(actor: User, keys: Sequence[AudienceKey], user: User | None) -> int:
    """Assign audiences to an active user, or to nobody; return how many changed."""
    changed: list[AudienceKey] = []
    with transaction.atomic():
        for start in range(0, len(keys), BATCH_SIZE):
            batch = Q()
            for page_id, audience_id in keys[start : start + BATCH_SIZE]:
                batch |= Q(page_id=page_id, audience_id=audience_id)
            others = AudienceRecord.objects.filter(batch).exclude(assignee=user)
            if user is None:
                others = AudienceRecord.objects.filter(batch, assignee__isnull=False)
            rows = list(others.values_list("pk", "page_id", "audience_id"))
            AudienceRecord.objects.filter(pk__in=[pk for pk, *_ in rows]).update(assignee=user)
            changed += [(page_id, audience_id) for _, page_id, audience_id in rows]
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
        mine.update(assignee=None)
        feed.add_audiences(*keys)
