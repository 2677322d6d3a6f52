"""The kinds of events: their words, recipients and default channels.

Source: our choice. One rule applies to all kinds: users are not notified of what they did
themselves, unless it is a failure. During quiet hours, e-mails and webhooks wait, except for
failures of the user's own changes (see `is_failure` and `Recipients.OWNERS`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dashboard.notifications.models import Channel

IN_APP, EMAIL, WEBHOOK = Channel.IN_APP, Channel.EMAIL, Channel.WEBHOOK


class Recipients(StrEnum):
    OWNERS = "owners"
    """Users whose change it is: who sent it, owns the release, or requested or gave the approval.
    """
    FOLLOWERS = "followers"
    """Users who follow the page or the audience; for `followed_changed`, what has changed."""
    APPROVERS = "approvers"
    """Users who may decide the request, or could have."""
    PUBLISHERS = "publishers"
    ADMINISTRATORS = "administrators"


OWNERS, FOLLOWERS, APPROVERS = Recipients.OWNERS, Recipients.FOLLOWERS, Recipients.APPROVERS
PUBLISHERS, ADMINISTRATORS = Recipients.PUBLISHERS, Recipients.ADMINISTRATORS


@dataclass(frozen=True)
class Kind:
    name: str
    group: str
    """Heading above it in the matrix."""
    label: str
    """Label in the matrix, such as "Failed"."""
    sentence: str
    """Sentence with the names of facts in braces."""
    recipients: tuple[Recipients, ...]
    channels: tuple[Channel, ...] = (IN_APP, EMAIL, WEBHOOK)
    """Channels that are on by default."""
    is_failure: bool = False
    """Whether users are notified of it even if they did it, and in their quiet hours."""
    is_for_teams: bool = False
    """Whether a team's webhook is notified of it by default."""
    is_personal: bool = False
    """Whether each event is for one user, so that no team can be notified of it."""


_ALL = (
    Kind(
        "publish_finished",
        "Publishing",
        "Accepted",
        "{actor} {did} of {audience}{by}: accepted, not live yet.",
        (FOLLOWERS,),
        (IN_APP,),
        is_for_teams=True,
    ),
    Kind(
        "publish_failed",
        "Publishing",
        "Failed",
        "{doing}{by} failed{why}.",
        (OWNERS, FOLLOWERS),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "publish_unknown",
        "Publishing",
        "Outcome unknown",
        "{doing}{by} has an unknown outcome.",
        (OWNERS, FOLLOWERS),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "publish_stuck",
        "Publishing",
        "Takes longer than usual",
        "{doing}{by} takes longer than usual: {so_far} so far. 95% take at most {usual}.",
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
        "The release {release}{by} is finished: {counts}.",
        (OWNERS,),
        is_for_teams=True,
    ),
    Kind(
        "release_failed",
        "Releases",
        "Finished with failures",
        "The release {release}{by} is finished with failures: {counts}.",
        (OWNERS,),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "release_held",
        "Releases",
        "Held",
        "The release {release}{by} is held: {reason}.",
        (OWNERS,),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "schedule_missed",
        "Releases",
        "Schedule missed",
        "The release {release}{by} wasn’t started when it was due, {due}.",
        (OWNERS, ADMINISTRATORS),
        is_failure=True,
        is_for_teams=True,
    ),
    Kind(
        "approval_requested",
        "Approvals",
        "Requested",
        "{actor} requests an approval{by}: {title}.",
        (APPROVERS,),
        is_for_teams=True,
    ),
    Kind(
        "approval_given",
        "Approvals",
        "Approved",
        "{actor} approved a request{by}: {title}.",
        (OWNERS,),
    ),
    Kind(
        "approval_declined",
        "Approvals",
        "Declined",
        "{actor} declined a request{by}: {title}.",
        (OWNERS,),
        is_failure=True,
    ),
    Kind(
        "approval_void",
        "Approvals",
        "Void or expired",
        "A request for approval{by} {became}: {title}.",
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
        "mentioned",
        "Comments",
        "Mentions you",
        "{actor} mentioned you in a comment on {place}.",
        (OWNERS,),
        is_personal=True,
    ),
    Kind(
        "commented",
        "Comments",
        "New comments",
        "{count} on {place} by {names}.",
        (OWNERS,),
        is_personal=True,
    ),
    Kind(
        "thread_resolved",
        "Comments",
        "Resolved",
        "{actor} resolved a thread on {place}.",
        (OWNERS,),
        (IN_APP,),
        is_personal=True,
    ),
    Kind(
        "assigned",
        "Comments",
        "Assigned to you",
        "{actor} assigned {what} to you.",
        (OWNERS,),
        is_personal=True,
    ),
    Kind(
        "version_rejected",
        "Review",
        "Rejected",
        "{actor} rejected version {version} of {audience}.",
        (OWNERS, FOLLOWERS),
        (IN_APP,),
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
        "token_expires",
        "Tokens",
        "Expires soon",
        "The token {token} expires on {day}.",
        (OWNERS,),
        (IN_APP, EMAIL),
        is_failure=True,
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
"""Kinds by name, in the order of the matrix."""

TEAM_KINDS = [kind.name for kind in _ALL if kind.is_for_teams]
"""Names of the kinds that a team's webhook is notified of by default."""


TEST = "test"
"""Kind of a test message, which isn't in the matrix."""


class _Facts(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return "unknown"


def sentence(kind: str, facts: Mapping[str, Any]) -> str:
    """Return what happened in a sentence, or the name of the kind if it is unknown."""
    if kind == TEST:
        return "This is a test message from Pressroom."
    kind_words = KINDS.get(kind)
    facts = _Facts({"by": "", "why": "", **facts})  # Not every event has them.
    return kind_words.sentence.format_map(facts) if kind_words else kind.replace("_", " ")
