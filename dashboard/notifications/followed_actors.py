"""Who made the changes of what is followed: users are not notified of what they did themselves."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.contrib.auth.models import User

from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.queries.operations import publishes_of
from dashboard.notifications.models import Followed
from dashboard.notifications.snapshots import PAGE, Change, Snapshot

NOT_FAILED = (Outcome.SENDING, Outcome.ACCEPTED)


def by_actor(
    followed: Followed, changes: Sequence[Change], since: datetime
) -> list[tuple[User | None, list[Change]]]:
    """Return the changes that each follower made, and with None those of all others.

    `since` is when it was last compared. Three queries at most, none without changes.
    """
    if not changes:
        return []
    followers = set(followed.follows.values_list("user_id", flat=True))
    actors = _actors(followed, changes, since)
    found: dict[User | None, list[Change]] = defaultdict(list)
    for change in changes:
        actor = actors.get(change.key)
        found[actor if actor and actor.pk in followers else None].append(change)
    return list(found.items())


def _actors(
    followed: Followed, changes: Sequence[Change], since: datetime
) -> Mapping[str, User | None]:
    """Return who made the changes, by their keys, if that is known."""
    keys = [change.key for change in changes]
    match followed.view.list_name if followed.view else "":
        case ListName.ACTIVITY:
            return _senders(keys)
        case ListName.WEBHOOKS:
            return _updaters(keys, since)
    return _publisher(changes, followed.snapshot)


def _senders(operation_keys: Sequence[str]) -> dict[str, User | None]:
    """Return who sent these operations. Failures are left out: their senders are notified too."""
    found = Operation.objects.filter(operation_key__in=operation_keys, outcome__in=NOT_FAILED)
    return {each.operation_key: each.actor for each in found.select_related("actor")}


def _updaters(subscription_ids: Sequence[str], since: datetime) -> dict[str, User | None]:
    """Return who added or last updated these subscriptions after this time."""
    records = SubscriptionRecord.objects.filter(subscription_id__in=subscription_ids)
    added = records.filter(first_seen_at__gt=since).select_related("added_by")
    updates = Operation.objects.filter(
        kind=OperationKind.UPDATE_SUBSCRIPTION,
        subscription_id__in=subscription_ids,
        outcome=Outcome.ACCEPTED,
        changed_at__gt=since,
    )
    last = updates.select_related("actor").order_by("changed_at", "pk")
    return {each.subscription_id: each.added_by for each in added} | {
        each.subscription_id: each.actor for each in last
    }


def _publisher(changes: Sequence[Change], snapshot: Snapshot) -> dict[str, User | None]:
    """Return who published what went live, if that is all that changed."""
    key, _, what, _ = changes[0]
    # What has left a saved view is in its snapshot no more.
    if len(changes) > 1 or len(what) > 1 or key == PAGE or key not in snapshot:
        return {}
    page_id, _, audience_id = key.partition("\n")
    number = snapshot[key][2]
    if what != [f"version {number} is live"]:
        return {}
    publishes = publishes_of(page_id, audience_id).filter(
        kind=OperationKind.PUBLISH_VERSION, version_number=number, outcome=Outcome.ACCEPTED
    )
    last = publishes.select_related("actor").order_by("-requested_at").first()
    return {key: last.actor if last else None}
