"""The states of a version and of an operation, each with its word, shape and tone.

Every screen, export and notification uses these words, so that a state has one name everywhere.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Any, Self

from dashboard.contract.audiences import VersionStatus
from dashboard.ledger.models.objects import AudienceRecord, LiveStatus
from dashboard.ledger.models.operations import OperationKind


class State(StrEnum):
    """A state. Its text value is its key."""

    label: str
    icon: str
    """Name of its shape in our sprite."""
    tone: str

    def __new__(cls, key: str, label: str, icon: str, tone: str) -> Self:
        state = str.__new__(cls, key)
        state._value_ = key
        state.label, state.icon, state.tone = label, icon, tone
        return state

    @property
    def badge(self) -> tuple[str, str, str]:
        return self.label, self.icon, self.tone


class VersionState(State):
    """The state of a version. The keys are the service's statuses where it has one."""

    DRAFT = "draft", "Draft", "st-draft", "plain"
    PENDING = "pending", "Pending", "st-pending", "info"
    QUEUED = "queued", "Queued", "st-queued", "info"
    PROCESSING = "processing", "Processing", "st-processing", "work"
    LIVE = "live", "Live", "st-live", "ok"
    SUPERSEDED = "superseded", "Superseded", "st-obsolete", "plain"
    """It was live, and a newer version replaced it."""
    ROLLED_BACK = "rolled-back", "Rolled back", "st-rolled-back", "warn"
    """It was live, and was rolled back in favor of an older version."""
    CANCELED = "cancelled", "Canceled", "st-cancelled", "plain"
    ARCHIVED = "archived", "Archived", "st-archived", "plain"
    """It was archived, and never live."""


VERSION_STATES = {str(state): state for state in VersionState}


class OperationState(State):
    """The state of an operation. The keys are the outcomes, and two more for publishes."""

    IN_PROGRESS = "sending", "In progress", "st-processing", "work"
    ACCEPTED = "accepted", "Accepted", "st-published", "ok"
    NOT_LIVE_YET = "not-live-yet", "Accepted, not live yet", "st-queued", "info"
    """A publish that the service accepted, before its version is live."""
    LIVE = "live", "Live", "st-live", "ok"
    """A publish whose version is live."""
    FAILED = "rejected", "Failed", "st-failed", "bad"
    UNKNOWN = "unknown", "Outcome unknown", "st-unknown", "warn"
    NOT_SENT = "not_sent", "Not sent", "st-off", "plain"


OPERATION_STATES = {str(state): state for state in OperationState}


def version_state(
    status: str, *, is_live: bool, was_live: bool = False, is_rolled_back: bool = False
) -> str:
    """Return the state of a version with this status; an unknown status is returned unchanged.

    `was_live` is whether it was live before, for example by its `publishedAt`. The service returns
    only the latest and the live version of an audience. The last seen status of another version may
    be "published" long after a different one went live.
    """
    if is_live:
        return VersionState.LIVE
    if is_rolled_back:
        return VersionState.ROLLED_BACK
    if status == VersionStatus.PUBLISHED or (was_live and status == VersionStatus.ARCHIVED):
        return VersionState.SUPERSEDED
    return VERSION_STATES.get(status, status)


def operation_state(operation: Any) -> State:
    """Return the state of an operation from `with_publications`.

    An accepted publish has the state of its version: it isn't over before the version is live.
    """
    state = OPERATION_STATES[operation.outcome]
    if state != OperationState.ACCEPTED or operation.kind != OperationKind.PUBLISH_VERSION:
        return state
    if operation.live_from is None:
        is_canceled = operation.version_status == VersionStatus.CANCELLED
        return VersionState.CANCELED if is_canceled else OperationState.NOT_LIVE_YET
    if operation.live_until is None:
        return OperationState.LIVE
    return VersionState.ROLLED_BACK if operation.is_rolled_back else VersionState.SUPERSEDED


def time_to_live(operation: Any) -> timedelta | None:
    """Return the time from a publish request until its version was live.

    None if it wasn't live, or if another operation published it. `operation` comes from
    `with_publications`.
    """
    if operation.live_from is None or operation.live_operation != operation.pk:
        return None
    took = operation.live_from - operation.requested_at
    return took if took >= timedelta() else None


def latest_state(record: AudienceRecord) -> str:
    if not record.latest_version_id:
        return ""
    is_live = record.latest_version_id == record.live_version_id
    is_rolled_back = record.live_status == LiveStatus.ROLLED_BACK
    return version_state(record.latest_status, is_live=is_live, is_rolled_back=is_rolled_back)


def state_label(state: str) -> str:
    return state.label if isinstance(state, State) else state
