"""Record an event: once, with the notifications and what is to be delivered, in one transaction."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from dashboard.ledger.models.operations import actor_name
from dashboard.ledger.preferences import email_address_of
from dashboard.notifications.email import is_email_on
from dashboard.notifications.following import visible_to_follower
from dashboard.notifications.kinds import KINDS, Kind, Recipients
from dashboard.notifications.models import (
    Channel,
    DeliveryItem,
    Event,
    Follow,
    Followed,
    Notification,
    NotificationSettings,
    Preference,
    WebhookTarget,
)
from dashboard.notifications.quiet_hours import due_at

BACKEND = "dashboard.accounts.authentication.PreloadingModelBackend"
PERMISSIONS = {
    Recipients.PUBLISHERS: "ledger.publish_version",
    Recipients.ADMINISTRATORS: "notifications.manage_deliveries",
}
MAX_FACT = 200
"""Characters of a name in a notification."""


@dataclass(frozen=True)
class Subject:
    """What an event is about; ids that do not apply are empty."""

    path: str
    page_id: str = ""
    audience_id: str = ""
    version_id: str = ""
    operation_key: str = ""
    release_id: int | None = None
    approval_id: int | None = None
    followed: Followed | None = None


@dataclass(frozen=True)
class Concerned:
    """The users whom an event concerns by what it is about."""

    owners: Collection[User | None] = ()
    approvers: Collection[User] = field(default=())


def digest_of(*ids: object) -> str:
    """Return a part of a key for ids of the service, which are of any length."""
    return sha256("\n".join(map(str, ids)).encode()).hexdigest()


class Draft(NamedTuple):
    """An event to be recorded."""

    key: str
    """Identifies what happened: unique for good."""
    subject: Subject
    facts: Mapping[str, Any]
    """The names and numbers of the kind's sentence."""


def record_event(
    kind: str,
    key: str,
    subject: Subject,
    facts: Mapping[str, Any],
    *,
    actor: User | None = None,
    concerned: Concerned | None = None,
) -> Event | None:
    """Record an event, unless one with this key is on record: then return None."""
    drafts = [Draft(key, subject, facts)]
    return next(iter(record_events(kind, drafts, actor=actor, concerned=concerned)), None)


@transaction.atomic
def record_events(
    kind_name: str,
    drafts: Sequence[Draft],
    *,
    actor: User | None = None,
    concerned: Concerned | None = None,
) -> list[Event]:
    """Record events of one kind, and return those that weren't on record.

    In the transaction of what has happened it is a savepoint of that. Twelve queries at most, for
    any number of events.
    """
    kind, concerned = KINDS[kind_name], concerned or Concerned()
    events = _insert([_event(kind, each, actor) for each in drafts])
    if not events:
        return []
    recipients = _recipients(kind, events, concerned)
    left_out = set() if kind.is_failure or actor is None else {actor.pk}
    ids = set().union(*recipients.values()) - left_out
    users = (
        list(User.objects.select_related("preferences").filter(pk__in=ids, is_active=True))
        if ids
        else []
    )
    pairs = [(event, user) for event in events for user in users if user.pk in recipients[event.pk]]
    items = [*(_notify(kind, pairs, users) if pairs else ()), *_items_for_teams(events)]
    if items:
        owners = {user.pk for user in concerned.owners if user}
        _put_into_outbox(items, urgent_for=owners if kind.is_failure else set())
    return events


def _event(kind: Kind, draft: Draft, actor: User | None) -> Event:
    return Event(
        kind=kind.name,
        key=draft.key,
        at=timezone.now(),
        actor=actor,
        actor_name=actor_name(actor) if actor else "",
        facts={name: _short(fact) for name, fact in draft.facts.items()},
        **vars(draft.subject),
    )


def _short(fact: Any) -> Any:
    is_long = isinstance(fact, str) and len(fact) > MAX_FACT
    return f"{fact[: MAX_FACT - 1]}…" if is_long else fact


def _insert(events: Iterable[Event]) -> list[Event]:
    """Insert events, and return those that are new."""
    by_key = {event.key: event for event in events}
    known = set(Event.objects.filter(key__in=by_key).values_list("key", flat=True))
    new = [event for key, event in by_key.items() if key not in known]
    try:
        with transaction.atomic():
            return Event.objects.bulk_create(new) if new else []
    except IntegrityError:
        # Another process has noticed one of them at the same moment.
        return [event for event in new if _insert_one(event)]


def _insert_one(event: Event) -> bool:
    event.pk = None
    try:
        with transaction.atomic():
            event.save(force_insert=True)
    except IntegrityError:
        return False
    return True


def _recipients(kind: Kind, events: Sequence[Event], concerned: Concerned) -> dict[int, set[int]]:
    """Return the ids of the users whom the kind is for, by event. At most three queries."""
    everywhere: set[int] = set()
    for group in kind.recipients:
        match group:
            case Recipients.OWNERS:
                everywhere |= {user.pk for user in concerned.owners if user}
            case Recipients.APPROVERS:
                everywhere |= {user.pk for user in concerned.approvers}
            case Recipients.PUBLISHERS | Recipients.ADMINISTRATORS:
                everywhere |= {*users_with(PERMISSIONS[group]).values_list("pk", flat=True)}
    found = {event.pk: set(everywhere) for event in events}
    if Recipients.FOLLOWERS in kind.recipients:
        _add_followers(found, events)
    return found


def _add_followers(recipients: dict[int, set[int]], events: Sequence[Event]) -> None:
    """Add who follows what an event is about, or its page or audience. One query."""
    followed = {event.followed_id for event in events if event.followed_id}
    pages = {event.page_id for event in events if event.page_id and not event.followed_id}
    follows = Follow.objects.filter(Q(followed__in=followed) | Q(followed__page_id__in=pages))
    follows = follows.filter(visible_to_follower())
    columns = ("user_id", "followed_id", "followed__page_id", "followed__audience_id")
    for user_id, followed_id, page_id, audience_id in follows.values_list(*columns):
        for event in events:
            is_about = event.page_id == page_id and audience_id in ("", event.audience_id)
            if event.followed_id == followed_id if event.followed_id else is_about:
                recipients[event.pk].add(user_id)


def users_with(permission: str) -> QuerySet[User]:
    """Return the active users who have a permission, by themselves or by a group."""
    found: QuerySet[User] = User.objects.with_perm(permission, backend=BACKEND)
    return found.select_related("preferences")


def _notify(
    kind: Kind, pairs: Sequence[tuple[Event, User]], users: Sequence[User]
) -> Iterator[DeliveryItem]:
    """Record the notifications of these users, and return what is to be delivered to them."""
    chosen = {
        (each.user_id, each.channel): each.is_on
        for each in Preference.objects.filter(user__in=users, kind=kind.name)
    }

    def with_on(channel: Channel) -> list[tuple[Event, User]]:
        default = channel in kind.channels
        return [each for each in pairs if chosen.get((each[1].pk, channel), default)]

    Notification.objects.bulk_create(
        Notification(user=user, event=event, created_at=event.at)
        for event, user in with_on(Channel.IN_APP)
    )
    for event, user in with_on(Channel.EMAIL) if is_email_on() else ():
        if email_address_of(user):
            yield DeliveryItem(event=event, channel=Channel.EMAIL, user=user)
    by_webhook = with_on(Channel.WEBHOOK)
    targets = _targets_of({user.pk for _, user in by_webhook})
    for event, user in by_webhook:
        for target in targets.get(user.pk, ()):
            yield DeliveryItem(event=event, channel=Channel.WEBHOOK, user=user, target=target)


def _targets_of(user_ids: Collection[int]) -> dict[int, list[WebhookTarget]]:
    """Return the active targets of users, by user. One query, or none."""
    found: dict[int, list[WebhookTarget]] = defaultdict(list)
    if user_ids:
        for target in WebhookTarget.objects.filter(user__in=user_ids, is_active=True):
            found[target.user_id or 0].append(target)
    return found


def _items_for_teams(events: Sequence[Event]) -> list[DeliveryItem]:
    targets = WebhookTarget.objects.filter(user=None, is_active=True)
    return [
        DeliveryItem(event=event, channel=Channel.WEBHOOK, target=target)
        for target in targets
        for event in events
        if event.kind in target.kinds
    ]


def _put_into_outbox(items: list[DeliveryItem], *, urgent_for: Collection[int]) -> None:
    """Save items, each due after the window and its user's quiet hours."""
    now, window = timezone.now(), bundling_window()
    users = {item.user_id for item in items if item.user_id}
    quiet = Q(quiet_from__isnull=False)
    found = NotificationSettings.objects.filter(quiet, user__in=users) if users else ()
    chosen = {each.user_id: each for each in found}
    for item in items:
        user_id = item.user_id or 0
        is_urgent = user_id in urgent_for
        item.due_at = due_at(now, window, chosen.get(user_id), is_urgent=is_urgent)
    DeliveryItem.objects.bulk_create(items)


def bundling_window() -> timedelta:
    """Return how long an event waits for further ones."""
    return timedelta(seconds=settings.NOTIFICATION_WINDOW_S[0])
