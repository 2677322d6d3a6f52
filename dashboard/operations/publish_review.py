"""Review a version before it is published, from data read at this moment."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db.models import Case, Q, When
from django.utils.functional import cached_property

from dashboard import clock
from dashboard.approvals.models import ApprovalRule
from dashboard.approvals.rule import current_rule, is_rollback, publish_kind
from dashboard.client import APIError, NotFoundError
from dashboard.contract.audiences import Audience, AudienceVersion, text_of
from dashboard.contract.conversations import Conversation
from dashboard.contract.pages import PageItem, PageStatus
from dashboard.ledger.models import Operation, Publication
from dashboard.ledger.operations import OPEN, publish_key
from dashboard.ledger.queries.audiences import live_publication, rolled_back_by
from dashboard.ledger.queries.operations import publishes_of
from dashboard.ledger.queries.pages import page_last_known
from dashboard.ledger.recording import record_page
from dashboard.ledger.states import version_state
from dashboard.observability.request_context import tolerate_write_errors
from dashboard.operations.checking import PublishTarget, VersionSnapshot, snapshot_version
from dashboard.operations.publish_preflight import (
    Finding,
    PageReading,
    PendingChanges,
    Severity,
    VersionVerdicts,
    findings,
)
from dashboard.review.decisions import rejections
from dashboard.review.models import ChangeVerdict
from dashboard.review.verdicts import change_key, judged, verdicts_on
from dashboard.service.client import publishing_client, run_concurrently
from dashboard.service.reading import AudienceLookup, ReadResult, read_audience, read_conversation

NOTHING: Mapping[str, ChangeVerdict] = {}
MAX_PUBLISHES = 100
"""Publishes of an audience that are read: open ones first, then the newest."""


@dataclass(frozen=True)
class PublishReview:
    target: PublishTarget
    operation_key: str
    reading: ReadResult[AudienceLookup]
    snapshot: VersionSnapshot
    page: PageItem | None
    pending: PendingChanges
    last: Operation | None
    """The last publish of this version, with any outcome."""
    live_publication: Publication | None
    """The publication that made the live version live; None if nothing is live."""
    rolled_back_by: Publication | None
    """The publication that replaced this version by a rollback; None without a rollback."""
    findings: list[Finding]

    @property
    def audience(self) -> Audience:
        return self.reading.value.audience

    @property
    def state(self) -> str:
        version, live = self.snapshot.version, self.snapshot.live
        if version is None:
            return ""
        return version_state(
            version.status,
            is_live=live is not None and live.version_id == version.version_id,
            was_live=bool(version.published_at),
            is_rolled_back=self.rolled_back_by is not None,
        )

    @property
    def is_off(self) -> bool:
        return any(finding.severity is Severity.STOP for finding in self.findings)

    @property
    def asks_for_number(self) -> bool:
        return any(finding.severity is Severity.RISK for finding in self.findings)

    @property
    def display_digest(self) -> str:
        """Hash of what the form displays, to detect changes before it is sent.

        Notes are left out: pending changes are read for the form, but not again when it is sent.
        """
        headlines = [
            finding.headline for finding in self.findings if finding.severity is not Severity.NOTE
        ]
        live, version = self.snapshot.live, self.snapshot.version
        content = repr((_displayed_fields(live), _displayed_fields(version), headlines))
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def digest(self) -> str:
        """Hash of what was read, to compare with what was approved; "" without conversation."""
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
        """Hash of the version and the live version, to compare a retry with what was sent."""
        live = self.snapshot.live
        return content_digest(self.snapshot.version, live.version_id if live else "")

    @property
    def is_rollback(self) -> bool:
        """Whether the version was live before the live one, and wasn't rolled back itself."""
        is_back = is_rollback(self.snapshot.version, self.snapshot.live)
        return is_back and self.rolled_back_by is None

    @cached_property
    def rule(self) -> ApprovalRule:
        """The approval rule, read once; `send` reads it again."""
        return current_rule()

    @property
    def needs_approval(self) -> bool:
        return self.rule.covers(publish_kind(self.snapshot.version, self.snapshot.live))


def review_publish(target: PublishTarget, *, with_conversation: bool) -> PublishReview:
    """Read the audience and its page, and the conversation if requested.

    A conversation that can't be read becomes a finding. Raises APIError if the audience can't be
    read and is not recorded.
    """
    page_id, audience_id = target.page_id, target.audience_id
    operation_key = publish_key(*target)
    read_at = clock.now()
    page_result = run_concurrently(partial(publishing_client().pages.get, page_id))
    conversation_result = (
        run_concurrently(partial(read_conversation, page_id, audience_id))
        if with_conversation
        else None
    )
    reading = read_audience(page_id, audience_id)
    # If the service didn't respond, don't wait for the other reads.
    page = read_and_record_page(page_id, page_result if reading.is_live else None, read_at)
    verdicts = verdicts_on(page_id, audience_id)
    pending = read_pending_changes(conversation_result if reading.is_live else None, verdicts)
    snapshot = snapshot_version(target, reading)
    version, live = snapshot.version, snapshot.live
    publication = live_publication(page_id, audience_id)
    last, others_in_flight = _earlier_publishes(target)
    rollback = rolled_back_by(*target)
    return PublishReview(
        target=target,
        operation_key=operation_key,
        reading=reading,
        snapshot=snapshot,
        page=page.page,
        pending=pending,
        last=last,
        # They differ if the read couldn't be recorded.
        live_publication=(
            publication
            if publication and live and publication.version_id == live.version_id
            else None
        ),
        rolled_back_by=rollback,
        findings=findings(
            reading,
            version,
            page=page,
            pending=pending,
            others_in_flight=others_in_flight,
            rolled_back_by=rollback,
            with_content=with_conversation,  # when the form is shown, as it stops nothing
            verdicts=VersionVerdicts(rejections([target[:2]]).get(target), list(verdicts.values())),
        ),
    )


def _earlier_publishes(target: PublishTarget) -> tuple[Operation | None, list[int | None]]:
    """Return the last publish of a version, and the numbers of others that are in progress."""
    is_relevant = Q(outcome__in=OPEN) | Q(version_id=target.version_id)
    publishes = publishes_of(target.page_id, target.audience_id).filter(is_relevant)
    # Open ones first, so that an open publish of this version takes precedence.
    open_first = Case(When(outcome__in=OPEN, then=0), default=1)
    columns = publishes.values_list("pk", "version_id", "version_number")
    rows = list(columns.order_by(open_first, "-requested_at", "-pk")[:MAX_PUBLISHES])
    last = next((pk for pk, version_id, _ in rows if version_id == target.version_id), None)
    return (
        Operation.objects.filter(pk=last).first() if last else None,
        [number for _, version_id, number in rows if version_id != target.version_id],
    )


def reviewed_digest(
    version: AudienceVersion | None,
    live: AudienceVersion | None,
    *,
    page_status: str,
    is_archived: bool,
    pending_change_ids: list[str] | None,
) -> str:
    """Return a hash of everything reviewed except the findings. Pure."""
    live_id = live.version_id if live else None
    reviewed = (reviewed_fields(version), live_id, page_status, is_archived, pending_change_ids)
    return hashlib.sha256(repr(reviewed).encode()).hexdigest()


def content_digest(version: AudienceVersion | None, live_version_id: str) -> str:
    """Return a hash of a version and the live version it replaces; "" if unknown. Pure."""
    if version is None:
        return ""
    content = (reviewed_fields(version), live_version_id)
    return hashlib.sha256(repr(content).encode()).hexdigest()


def reviewed_fields(version: AudienceVersion | None) -> tuple[object, ...] | None:
    if version is None:
        return None
    text = text_of(version)
    ids = (version.version_id, version.version_number, str(version.status))
    return *ids, text, version.is_new_page_agent


def page_status(page: PageItem | None) -> str:
    """Return the status of a page; `archived` if it has an archive date, "" if unknown."""
    if page is None:
        return ""
    return PageStatus.ARCHIVED.value if page.archived_at else str(page.status or "")


def _displayed_fields(version: AudienceVersion | None) -> tuple[object, ...] | None:
    """Return the displayed fields of a version, apart from its status, which findings cover."""
    if version is None:
        return None
    text = text_of(version)
    return version.version_id, version.version_number, text, version.is_new_page_agent


def read_and_record_page(
    page_id: str, read: Callable[[], PageItem] | None, read_at: datetime
) -> PageReading:
    """Read and record a page; return its last known state if it can't be read."""
    problem = ""
    if read:
        try:
            page = read()
        except APIError as error:
            problem = str(error)
        else:
            with tolerate_write_errors():
                record_page(page, read_at=read_at)
            return PageReading(page)
    record = page_last_known(page_id)
    return PageReading(record.page if record else None, problem)


def read_pending_changes(
    read: Callable[[], Conversation] | None, verdicts: Mapping[str, ChangeVerdict] = NOTHING
) -> PendingChanges:
    if read is None:
        return PendingChanges()
    try:
        conversation = read()
    except NotFoundError:
        return PendingChanges(0, has_conversation=False, ids=())
    except APIError as error:
        return PendingChanges(problem=str(error))
    for value in conversation.unreadable:
        if value.location == ("pendingChanges",):
            return PendingChanges(problem=f"{value.path}: {value.problem}.")
    changes = conversation.pending_changes
    ids = sorted(change_key(change) for change in changes)
    rejected = sum(change.is_rejected for change in judged(changes, verdicts))
    return PendingChanges(len(ids), ids=tuple(ids), conversation=conversation, rejected=rejected)
