"""Find the recipients of events: a task of `manage.py worker`.

Each event has its own transaction. If a row it needs is deleted meanwhile, it is tried again.
"""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from threading import Event as StopEvent

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from dashboard import clock
from dashboard.accounts.permissions import MANAGE_APPROVALS, PUBLISH
from dashboard.accounts.preferences import email_address_of
from dashboard.approvals.models import ApprovalKind, ApprovalRequest
from dashboard.approvals.rule import PERMISSIONS, is_same_person
from dashboard.notifications.email import is_email_on
from dashboard.notifications.followed_changes import KIND as FOLLOWED_CHANGED
from dashboard.notifications.inbox import add_to_feed
from dashboard.notifications.kinds import KINDS, Kind, Recipients
from dashboard.notifications.models import (
    Channel,
    DeliveryItem,
    Event,
    Follow,
    Notification,
    NotificationSettings,
    Preference,
    WebhookTarget,
)
from dashboard.notifications.outbox import RETRIED_FOR
from dashboard.notifications.quiet_hours import due_at
from dashboard.work.claims import Claim, back_off, claim_next, earliest
from dashboard.work.tasks import WorkerTask, work_through

BACKEND = "dashboard.accounts.authentication.PreloadingModelBackend"
PERMISSIONS_OF_GROUPS = {
    Recipients.PUBLISHERS: PUBLISH,
    Recipients.ADMINISTRATORS: "notifications.manage_deliveries",
}


def notify_pending(worker_id: str, stop: StopEvent | None = None) -> int:
    return work_through(
        lambda: claim_next(Event.objects.all(), worker_id, clock.now()),
        _notify,
        _record_error,
        stop=stop,
    )


def _notify(claim: Claim[Event]) -> None:
    with claim.locked() as event:
        kind = KINDS[event.kind]
        users = _recipients(kind, event)
        items = list(_notify_users(kind, event, users)) if users else []
        items += [
            DeliveryItem(event=event, channel=Channel.WEBHOOK, target=target)
            for target in WebhookTarget.objects.filter(user=None, is_active=True)
            if event.kind in target.kinds
        ]
        if items:
            now, window = clock.now(), timedelta(seconds=settings.NOTIFICATION_WINDOW_S[0])
            user_ids = {item.user_id for item in items if item.user_id}
            quiet = NotificationSettings.objects.filter(quiet_from__isnull=False)
            choices = {choice.user_id: choice for choice in quiet.filter(user__in=user_ids)}
            for item in items:
                is_urgent = kind.is_failure and item.user_id in event.owner_ids
                choice = choices.get(item.user_id or 0)
                item.due_at = due_at(now, window, choice, is_urgent=is_urgent)
            DeliveryItem.objects.bulk_create(items)
        claim.release(None)


def _record_error(claim: Claim[Event]) -> None:
    """Retry an event when it is twice as old; give it up after RETRIED_FOR."""
    now = clock.now()
    age = now - claim.row.at
    claim.release(None if age > RETRIED_FOR else now + max(age, back_off(1)))


NOTIFY = WorkerTask(notify_pending, due=(partial(earliest, Event.objects.all),))


def _recipients(kind: Kind, event: Event) -> list[User]:
    ids: set[int] = set()
    for group in kind.recipients:
        match group:
            case Recipients.OWNERS:
                ids.update(event.owner_ids)
            case Recipients.FOLLOWERS:
                changed = {event.audience_id}
                followed = changed if event.kind == FOLLOWED_CHANGED else changed | {""}
                follows = Follow.objects.filter(page_id=event.page_id, audience_id__in=followed)
                ids.update(follows.values_list("user_id", flat=True))
            case Recipients.APPROVERS:
                ids.update(user.pk for user in _approvers(event))
            case Recipients.PUBLISHERS | Recipients.ADMINISTRATORS:
                ids.update(users_with(PERMISSIONS_OF_GROUPS[group]).values_list("pk", flat=True))
    if not kind.is_failure:
        ids.discard(event.actor_id or 0)
    users = User.objects.select_related("preferences")
    return list(users.filter(pk__in=ids, is_active=True)) if ids else []


def _approvers(event: Event) -> list[User]:
    """Return users who may decide a request, or could have approved an emergency publish."""
    if event.approval_id is None:
        return [*users_with(PERMISSIONS[ApprovalKind.PUBLISH]), *users_with(MANAGE_APPROVALS)]
    # Lock the request: its decision marks the notifications as read.
    approvals = ApprovalRequest.objects.select_for_update(no_key=True)
    approval = approvals.filter(pk=event.approval_id).first()
    return approvers_of(approval) if approval and approval.is_open else []


def users_with(permission: str) -> QuerySet[User]:
    """Return the active users who have a permission, directly or through a group."""
    users: QuerySet[User] = User.objects.with_perm(permission, backend=BACKEND)
    return users.select_related("preferences")


def approvers_of(approval: ApprovalRequest) -> list[User]:
    """Return the users who may approve a request, except other accounts of its requester."""
    requester = approval.requested_by
    return [
        user
        for user in users_with(PERMISSIONS[ApprovalKind(approval.kind)])
        if not requester or not is_same_person(requester, user)
    ]


def unreachable_approvers(approval: ApprovalRequest) -> list[str]:
    """Return the names of approvers of a request who have no e-mail address."""
    if not is_email_on():
        return []
    return [user.get_username() for user in approvers_of(approval) if not email_address_of(user)]


def _notify_users(kind: Kind, event: Event, users: list[User]) -> Iterator[DeliveryItem]:
    choices = {
        (choice.user_id, choice.channel): choice.is_on
        for choice in Preference.objects.filter(user__in=users, kind=kind.name)
    }

    def with_on(channel: Channel) -> list[User]:
        default = channel in kind.channels
        return [user for user in users if choices.get((user.pk, channel), default)]

    notified = with_on(Channel.IN_APP)
    Notification.objects.bulk_create(
        Notification(user=user, event=event, created_at=event.at) for user in notified
    )
    add_to_feed(user.pk for user in notified)
    for user in with_on(Channel.EMAIL) if is_email_on() else ():
        if email_address_of(user):
            yield DeliveryItem(event=event, channel=Channel.EMAIL, user=user)
    targets = WebhookTarget.objects.filter(user__in=with_on(Channel.WEBHOOK), is_active=True)
    for target in targets:
        yield DeliveryItem(
            event=event, channel=Channel.WEBHOOK, user_id=target.user_id, target=target
        )
