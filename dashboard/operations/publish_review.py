"""Review a version before it is published, from data that is read now."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Case, Q, QuerySet, When
from django.utils import timezone

from dashboard.client import APIError, NotFoundError
from dashboard.compiled_query import CompiledQuery
from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.conversations import Change, Conversation
from dashboard.contract.pages import PageItem, PageStatus
from dashboard.ledger import recording
from dashboard.ledger.models import Operation
from dashboard.ledger.operations import OPEN, publish_key
from dashboard.ledger.queries.operations import publishes_of
from dashboard.ledger.queries.pages import page_last_known
from dashboard.observability.request_context import tolerate_write_errors
from dashboard.operations.checking import PublishTarget, VersionSnapshot, snapshot_version
from dashboard.operations.publish_preflight import (
    Finding,
    FoundPage,
    PendingChanges,
    Severity,
    findings,
)
from dashboard.operations.verdicts import find_publish_of
from dashboard.service.client import publishing_client
from dashboard.service.concurrency import run_concurrently
from dashboard.service.reading import (
    AudienceLookup,
    ReadResult,
    read_audience,
    read_conversation,
)

NO_CONVERSATION = PendingChanges(0, has_conversation=False, ids=())

MAX_PUBLISHES = 100
"""Of an audience: open ones first, then the newest."""


def _publishes(
    page_id: str, audience_id: str, version_ids: list[str]
) -> "QuerySet[Operation, Any]":
    """Return the open publishes of an audience, and those of these versions."""
    found = publishes_of(page_id, audience_id).filter(
        Q(outcome__in=OPEN) | Q(version_id__in=version_ids)
    )
    open_first = Case(When(outcome__in=OPEN, then=0), default=1)
    columns = ("pk", "version_id", "version_number", "outcome", "actor_name")
    times = ("requested_at", "settled_at", "before")
    rows = found.order_by(open_first, "-requested_at", "-pk").values_list(
        *columns, *times, named=True
    )
    return rows[:MAX_PUBLISHES]


_PUBLISHES = CompiledQuery(_publishes)


@dataclass(frozen=True)
class PublishReview:
    """The data that a user reviews before confirming a publish."""

    target: PublishTarget
    operation_key: str
    reading: ReadResult[AudienceLookup]
    snapshot: VersionSnapshot
    page: PageItem | None
    pending: PendingChanges
    last: Operation | None
    """The last publish of this version, of any outcome."""
    live_since: Any
    """The publish that made the live version live, or None; it has an `actor_name`."""
    findings: list[Finding]

    @property
    def audience(self) -> Audience:
        """The audience, as read."""
        return self.reading.value.audience

    @property
    def is_off(self) -> bool:
        """Whether publishing is off."""
        return any(finding.severity is Severity.STOP for finding in self.findings)

    @property
    def asks_for_number(self) -> bool:
        """Whether the version number has to be typed."""
        return any(finding.severity is Severity.RISK for finding in self.findings)

    @property
    def shown(self) -> str:
        """A hash of what the form displays, to detect changes before it is sent.

        Without notes: pending changes are read for the form, and not again when it is sent.
        """
        headlines = [each.headline for each in self.findings if each.severity is not Severity.NOTE]
        live, version = self.snapshot.live, self.snapshot.version
        shown = repr((_shown_fields(live), _shown_fields(version), headlines))
        return hashlib.sha256(shown.encode()).hexdigest()

    @property
    def digest(self) -> str:
        """A hash of what was read, to compare with what was approved; "" without conversation."""
        if self.pending.ids is None:
            return ""
        return reviewed_digest(
            self.snapshot.version,
            self.snapshot.live,
            page_status=page_status(self.page),
            is_archived=bool(self.audience.archived_at),
            pending_change_ids=[*self.pending.ids],
        )

    @property
    def content_digest(self) -> str:
        """A hash of the version and the live version, to compare a retry with what was sent."""
        live = self.snapshot.live
        return content_digest(self.snapshot.version, live.version_id if live else "")

    @property
    def is_rollback(self) -> bool:
        """Whether an earlier version than the live one would go live."""
        version, live = self.snapshot.version, self.snapshot.live
        return bool(version and live and version.version_number < live.version_number)


def review_publish(target: PublishTarget, *, with_conversation: bool) -> PublishReview:
    """Read the audience and its page, and the conversation if requested.

    A conversation that can't be read becomes a finding. Raises APIError if the audience can't be
    read and is not recorded.
    """
    page_id, audience_id, version_id = target
    operation_key = publish_key(*target)
    read_at = timezone.now()
    page_result = run_concurrently(partial(publishing_client().pages.get, page_id))
    conversation_result = (
        run_concurrently(partial(read_conversation, page_id, audience_id))
        if with_conversation
        else None
    )
    reading = read_audience(page_id, audience_id)
    # If the service has just not responded, the other reads are not waited for.
    page = _read_page(page_id, page_result if reading.is_live else None, read_at)
    pending = _read_pending_changes(conversation_result if reading.is_live else None)
    snapshot = snapshot_version(target, reading)
    version, live = snapshot.version, snapshot.live
    publishes = _PUBLISHES.rows(
        page_id, audience_id, [version_id, live.version_id if live else version_id]
    )
    last, others_in_flight = None, []
    for each in publishes:
        if each.version_id == version_id:
            # An open one takes precedence: those come first.
            last = last or each.pk
        elif each.outcome in OPEN:
            others_in_flight.append(each.version_number)
    return PublishReview(
        target=target,
        operation_key=operation_key,
        reading=reading,
        snapshot=snapshot,
        page=page.page,
        pending=pending,
        last=Operation.objects.filter(pk=last).first() if last else None,
        live_since=find_publish_of(live, publishes) if live else None,
        findings=findings(
            reading, version, page=page, pending=pending, others_in_flight=others_in_flight
        ),
    )


def reviewed_digest(
    version: AudienceVersion | None,
    live: AudienceVersion | None,
    *,
    page_status: str,
    is_archived: bool,
    pending_change_ids: list[str] | None,
) -> str:
    """Return a hash of all that is reviewed of a version but findings. Pure."""
    live_id = live.version_id if live else None
    reviewed = (reviewed_fields(version), live_id, page_status, is_archived, pending_change_ids)
    return hashlib.sha256(repr(reviewed).encode()).hexdigest()


def content_digest(version: AudienceVersion | None, live_version_id: str) -> str:
    """Return a hash of what a publish makes live, and in place of what; "" if unknown. Pure."""
    if version is None:
        return ""
    content = (reviewed_fields(version), live_version_id)
    return hashlib.sha256(repr(content).encode()).hexdigest()


def reviewed_fields(version: AudienceVersion | None) -> tuple[object, ...] | None:
    """Return the fields of a version that a person reviews."""
    if version is None:
        return None
    text = version.supplementary_context or ""
    ids = (version.version_id, version.version_number, str(version.status))
    return *ids, text, version.is_new_page_agent


def page_status(page: PageItem | None) -> str:
    """Return the status of a page, `archived` if it has such a date; "" if it is unknown."""
    if page is None:
        return ""
    return PageStatus.ARCHIVED.value if page.archived_at else str(page.status or "")


def pending_changes(conversation: Conversation) -> PendingChanges:
    """Return the number of pending changes of a conversation, and their ids."""
    for value in conversation.unreadable:
        if value.location == ("pendingChanges",):
            return PendingChanges(problem=f"{value.path}: {value.problem}.")
    ids = sorted(_change_id(change) for change in conversation.pending_changes)
    return PendingChanges(len(ids), ids=tuple(ids))


def _change_id(change: Change) -> str:
    """Return the id of a change, or a hash of its texts, which are never stored."""
    texts = repr((change.previous_value, change.new_value))
    return change.change_id or hashlib.sha256(texts.encode()).hexdigest()


def _shown_fields(version: AudienceVersion | None) -> tuple[object, ...] | None:
    """Return the displayed fields of a version, apart from its status, which findings cover."""
    if version is None:
        return None
    text = version.supplementary_context or ""
    return version.version_id, version.version_number, text, version.is_new_page_agent


def _read_page(page_id: str, read: Callable[[], PageItem] | None, read_at: datetime) -> FoundPage:
    problem = ""
    if read:
        try:
            page = read()
        except APIError as error:
            problem = str(error)
        else:
            with tolerate_write_errors():
                recording.record_page(page, read_at=read_at)
            return FoundPage(page)
    record = page_last_known(page_id)
    return FoundPage(record.page if record else None, problem)


def _read_pending_changes(read: Callable[[], Conversation] | None) -> PendingChanges:
    if read is None:
        return PendingChanges()
    try:
        conversation = read()
    except NotFoundError:
        return NO_CONVERSATION
    except APIError as error:
        return PendingChanges(problem=str(error))
    return pending_changes(conversation)
