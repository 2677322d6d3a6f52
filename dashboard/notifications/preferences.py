"""A user's matrix of kinds and channels, quiet hours and digest."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import time
from zoneinfo import available_timezones

from django.contrib.auth.models import User
from django.db import transaction

from dashboard.notifications.errors import NotificationError
from dashboard.notifications.kinds import KINDS, Kind
from dashboard.notifications.models import Channel, NotificationSettings, Preference


@dataclass(frozen=True)
class MatrixRow:
    """One kind, and whether each channel is on."""

    kind: Kind
    channels: Mapping[Channel, bool]


def read_matrix(user: User) -> list[MatrixRow]:
    """Return the matrix, a row for each kind, in the order of `KINDS`. One query."""
    saved = {(each.kind, each.channel): each.is_on for each in Preference.objects.filter(user=user)}
    return [
        MatrixRow(
            kind,
            {
                channel: saved.get((kind.name, channel), channel in kind.channels)
                for channel in Channel
            },
        )
        for kind in KINDS.values()
    ]


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
    """Return quiet hours and digest; the defaults, not saved, without a row."""
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
    """Save quiet hours and digest, in a time zone by its name in the IANA database.

    Raises NotificationError with the `field` that is invalid.
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
