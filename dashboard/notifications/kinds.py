"""The kinds of events: their words, who is notified, and by which channels unless changed.

Source: our choice. One rule holds for all: users are not notified of what they did themselves,
unless it is a failure. During quiet hours, e-mails and webhooks wait, except for failures of the
user's own changes (see `is_failure` and `Recipients.OWNERS`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dashboard.notifications.models import Channel

IN_APP, EMAIL, WEBHOOK = Channel.IN_APP, Channel.EMAIL, Channel.WEBHOOK


class Recipients(StrEnum):
    OWNERS = "owners"
    """Whose change it is: the sender, the owner of a release, who requested or gave an approval."""
    FOLLOWERS = "followers"
    """Of the page or the audience, or of what has changed."""
    APPROVERS = "approvers"
    """Who may decide the request, or might have."""
    PUBLISHERS = "publishers"
    ADMINISTRATORS = "administrators"


OWNERS, FOLLOWERS, APPROVERS = Recipients.OWNERS, Recipients.FOLLOWERS, Recipients.APPROVERS
PUBLISHERS, ADMINISTRATORS = Recipients.PUBLISHERS, Recipients.ADMINISTRATORS


@dataclass(frozen=True)
class Kind:
    name: str
    group: str
    """The heading above it in the matrix."""
    label: str
    """In the matrix, such as "Failed"."""
    sentence: str
    """With the names of facts in braces."""
    recipients: tuple[Recipients, ...]
    channels: tuple[Channel, ...] = (IN_APP, EMAIL, WEBHOOK)
    """On by default."""
    is_failure: bool = False
    """Whether users are notified of it although they did it, and in their quiet hours."""
    is_for_teams: bool = False
    """Whether a team's webhook is notified of it by default."""


_ALL = (
    Kind(
        "publish_finished",
        "Publishing",
        "Accepted",
        "{actor} {did} of {audience}: accepted, not live yet.",
        (FOLLOWERS,),
        (IN_APP,),
        is_for_teams=True,
    ),
    Kind(
        "publish_failed",
        "Publishing",
        "Failed",
        "{doing} failed.",
        (OWNERS, FOLLOWERS),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "publish_unknown",
        "Publishing",
        "Outcome unknown",
        "{doing} has an unknown outcome.",
        (OWNERS, FOLLOWERS),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "publish_stuck",
        "Publishing",
        "Takes longer than usual",
        "{doing} takes longer than usual: {so_far} so far. 95% take at most {usual}.",
        (OWNERS, FOLLOWERS),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "published_outside",
        "Publishing",
        "Published outside Pressroom",
        "Version {version} of {audience} was published outside Pressroom.",
        (FOLLOWERS, PUBLISHERS, ADMINISTRATORS),
        (IN_APP,),
        is_for_teams=True,
    ),
    Kind(
        "release_finished",
        "Releases",
        "Finished",
        "The release {release} is finished: {counts}.",
        (OWNERS,),
        is_for_teams=True,
    ),
    Kind(
        "release_failed",
        "Releases",
        "Finished with failures",
        "The release {release} is finished with failures: {counts}.",
        (OWNERS,),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "release_held",
        "Releases",
        "Held",
        "The release {release} is held: {reason}.",
        (OWNERS,),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "schedule_missed",
        "Releases",
        "Schedule missed",
        "The release {release} wasn’t started when it was due, {due}.",
        (OWNERS, ADMINISTRATORS),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "approval_requested",
        "Approvals",
        "Requested",
        "{actor} requests an approval: {title}.",
        (APPROVERS,),
        is_for_teams=True,
    ),
    Kind(
        "approval_given", "Approvals", "Approved", "{actor} approved a request: {title}.", (OWNERS,)
    ),
    Kind(
        "approval_declined",
        "Approvals",
        "Declined",
        "{actor} declined a request: {title}.",
        (OWNERS,),
        is_failure=True,
    ),
    Kind(
        "approval_void",
        "Approvals",
        "Void or expired",
        "A request for approval {became}: {title}.",
        (OWNERS,),
        is_failure=True,
    ),
    Kind(
        "emergency_publish",
        "Approvals",
        "Published without an approval",
        "{actor} published without an approval: {title}.",
        (APPROVERS,),
        is_for_teams=True,
    ),
    Kind(
        "followed_changed",
        "Following",
        "Something you follow changed",
        "{name}: {changes}.",
        (FOLLOWERS,),
        (IN_APP,),
    ),
    Kind(
        "service_unreachable",
        "Service",
        "Unreachable for 5 minutes",
        "The service has been unreachable for {minutes} min.",
        (PUBLISHERS, ADMINISTRATORS),
        is_for_teams=True,
    ),
    Kind(
        "service_back",
        "Service",
        "Reachable again",
        "The service responds again, after {minutes} min.",
        (PUBLISHERS, ADMINISTRATORS),
        is_for_teams=True,
    ),
    Kind(
        "receiver_silent",
        "Service",
        "No webhook events for longer than usual",
        "The webhook receiver has had no events for {hours} h. The longest pause before was "
        "{usual} h.",
        (ADMINISTRATORS,),
    ),
    Kind(
        "new_deviation",
        "Service",
        "New deviation from the API spec",
        "A response differs from the API spec in a new way: {deviation}, {operation}, {place}.",
        (ADMINISTRATORS,),
        (IN_APP,),
    ),
)

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
"""By name, in the order of the matrix."""

TEAM_KINDS = [kind.name for kind in _ALL if kind.is_for_teams]
"""What a team's webhook is notified of by default."""


TEST = "test"
"""The kind of a test message, which is in no matrix."""


class _Facts(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return "unknown"


def sentence(kind: str, facts: Mapping[str, Any]) -> str:
    """Return what happened, in a sentence; of a kind of an older or newer version, its name."""
    if kind == TEST:
        return "This is a test message from Pressroom."
    kind_words = KINDS.get(kind)
    return kind_words.sentence.format_map(_Facts(facts)) if kind_words else kind.replace("_", " ")
