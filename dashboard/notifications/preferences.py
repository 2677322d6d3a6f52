"""A user's matrix of kinds and channels, quiet hours and digest, and what the user follows."""

from collections.abc import Collection
from datetime import time
from zoneinfo import available_timezones

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from dashboard import clock
from dashboard.limits import has_room
from dashboard.notifications.kinds import KINDS
from dashboard.notifications.models import (
    Channel,
    Follow,
    NotificationError,
    NotificationSettings,
    Preference,
)

MAX_FOLLOWS = 200
"""Pages and audiences that a user may follow. Source: our choice."""


def read_matrix(user: User) -> set[tuple[str, str]]:
    """Return the pairs of kind and channel that are on. One query."""
    saved = {(cell.kind, cell.channel): cell.is_on for cell in Preference.objects.filter(user=user)}
    return {
        (kind.name, channel.value)
        for kind in KINDS.values()
        for channel in Channel
        if saved.get((kind.name, channel), channel in kind.channels)
    }


@transaction.atomic
def save_matrix(user: User, checked: Collection[tuple[str, str]]) -> None:
    """Save the whole matrix: the pairs of kind and channel that are on; all others are off.

    Raises NotificationError if a pair is unknown.
    """
    cells = {(kind, str(channel)) for kind in KINDS for channel in Channel}
    if not set(checked) <= cells:
        raise NotificationError("This form is out of date. Reload the page, then save again.")
    Preference.objects.bulk_create(
        [
            Preference(user=user, kind=kind, channel=channel, is_on=(kind, channel) in checked)
            for kind, channel in cells
        ],
        update_conflicts=True,
        unique_fields=["user", "kind", "channel"],
        update_fields=["is_on"],
    )


def get_settings(user: User) -> NotificationSettings:
    return NotificationSettings.objects.filter(user=user).first() or NotificationSettings(user=user)


def save_settings(
    user: User,
    *,
    time_zone: str,
    quiet_from: time | None,
    quiet_to: time | None,
    has_digest: bool,
    digest_hour: int,
) -> NotificationSettings:
    """Save quiet hours and the digest. `time_zone` is an IANA name.

    Raises NotificationError with the invalid `field`.
    """
    if time_zone not in available_timezones():
        raise NotificationError("Choose a time zone.", field="time_zone")
    if (quiet_from is None) != (quiet_to is None):
        missing = "quiet_from" if quiet_from is None else "quiet_to"
        sentence = "Enter when quiet hours start and end, or neither."
        raise NotificationError(sentence, field=missing)
    if quiet_from is not None and quiet_from == quiet_to:
        sentence = "Quiet hours can’t end when they start. Turn channels off in the table instead."
        raise NotificationError(sentence, field="quiet_to")
    if not 0 <= digest_hour <= 23:
        raise NotificationError("Choose an hour from 0 to 23.", field="digest_hour")
    saved, _ = NotificationSettings.objects.update_or_create(
        user=user,
        defaults={
            "time_zone": time_zone,
            "quiet_from": quiet_from,
            "quiet_to": quiet_to,
            "has_digest": has_digest,
            "digest_hour": digest_hour,
        },
    )
    return saved


@transaction.atomic
def follow(user: User, page_id: str, audience_id: str = "") -> None:
    """Follow a page or one of its audiences. Does nothing if the user follows it already.

    The caller checks that it exists. Raises NotificationError at the limit of MAX_FOLLOWS.
    """
    is_full = not has_room(list_follows(user), at_most=MAX_FOLLOWS)
    _, is_new = Follow.objects.get_or_create(
        user=user, page_id=page_id, audience_id=audience_id, defaults={"created_at": clock.now()}
    )
    if is_new and is_full:
        raise NotificationError(
            f"You follow {MAX_FOLLOWS} things, which is the maximum. Unfollow some first."
        )


def unfollow(user: User, page_id: str, audience_id: str = "") -> None:
    list_follows(user).filter(page_id=page_id, audience_id=audience_id).delete()


def is_followed(user: User, page_id: str, audience_id: str = "") -> bool:
    return list_follows(user).filter(page_id=page_id, audience_id=audience_id).exists()


def list_follows(user: User) -> QuerySet[Follow]:
    return Follow.objects.filter(user=user)
