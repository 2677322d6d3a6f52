"""Review a version before it is published, from data that is read now."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Case, Q, QuerySet, When

from dashboard.client import APIError, NotFoundError
from dashboard.compiled_query import CompiledQuery
from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.conversations import Conversation
from dashboard.contract.pages import PageItem
from dashboard.ledger import recording
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import OPEN, publish_key
from dashboard.ledger.queries.operations import publishes_of
from dashboard.ledger.queries.pages import page_last_known
from dashboard.observability.request_context import tolerate_write_errors
from dashboard.operations.checking import find_version, load_version
from dashboard.operations.publish_preflight import (
    Finding,
    PreflightInput,
    Severity,
    asks_for_number,
    findings,
    is_off,
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
class PublishTarget:
    """The version that a URL names."""

    page_id: str
    audience_id: str
    version_id: str

    @property
    def ids(self) -> tuple[str, str, str]:
        """The three ids, as a URL and an operation key take them."""
        return self.page_id, self.audience_id, self.version_id

    @property
    def of_audience(self) -> tuple[str, str]:
        """The two ids of its audience."""
        return self.page_id, self.audience_id

    def history(self, live: AudienceVersion | None) -> "PublishHistory":
        """Load the relevant publishes: its own, open ones, and those of the live version."""
        version_ids = [self.version_id, live.version_id if live else self.version_id]
        return PublishHistory(self.version_id, _PUBLISHES.rows(*self.of_audience, version_ids))

    def matches(self, operation: Operation) -> bool:
        """Return whether the operation is a publish of this version."""
        of = (operation.page_id, operation.audience_id, operation.version_id)
        return operation.kind == OperationKind.PUBLISH_VERSION and of == self.ids


@dataclass(frozen=True)
class PublishHistory:
    """Publishes of an audience, with one version to be reviewed."""

    version_id: str
    publishes: list[Any]
    """Rows: open ones first, then the newest."""

    def last(self) -> Operation | None:
        """Return the last publish of the version; an open one takes precedence."""
        own = [each for each in self.publishes if each.version_id == self.version_id]
        found = next(filter(_is_open, own), None) or next(iter(own), None)
        return Operation.objects.filter(pk=found.pk).first() if found else None

    def other_open_versions(self) -> tuple[int | None, ...]:
        """Return the numbers of other versions with an open publish."""
        return tuple(
            each.version_number
            for each in self.publishes
            if _is_open(each) and each.version_id != self.version_id
        )

    def publish_of(self, version: AudienceVersion | None) -> Any:
        """Return the publish that made a version live, or None."""
        return find_publish_of(version, self.publishes) if version else None


@dataclass(frozen=True)
class PendingChanges:
    """The pending changes of the conversation."""

    count: int | None = None
    """None if the conversation was not read."""
    problem: str = ""
    """The reason why it can't be read."""
    has_conversation: bool = True


@dataclass(frozen=True)
class FoundPage:
    """The page as read, or as last known."""

    page: PageItem | None
    problem: str = ""
    """The reason why it can't be read."""


@dataclass(frozen=True)
class PublishReview:
    """The data that a user reviews before confirming a publish."""

    target: PublishTarget
    operation_key: str
    reading: ReadResult[AudienceLookup]
    version: AudienceVersion | None
    is_returned: bool
    """Whether the service returned the version just now."""
    page: PageItem | None
    pending: PendingChanges
    last: Operation | None
    """The last publish of this version, of any outcome."""
    live_since: Any
    """The publish that made the live version live, or None; it has an `actor_name`."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def audience(self) -> Audience:
        """The audience, as read."""
        return self.reading.value.audience

    @property
    def live(self) -> AudienceVersion | None:
        """The live version."""
        return self.audience.published_version

    @property
    def is_off(self) -> bool:
        """Whether publishing is off."""
        return is_off(self.findings)

    @property
    def asks_for_number(self) -> bool:
        """Whether the version number has to be typed."""
        return asks_for_number(self.findings)

    @property
    def shown(self) -> str:
        """A hash of what the form displays, to detect changes before it is sent.

        Without notes: pending changes are read for the form, and not again when it is sent.
        """
        headlines = [each.headline for each in self.findings if each.severity is not Severity.NOTE]
        shown = repr((_shown_fields(self.live), _shown_fields(self.version), headlines))
        return hashlib.sha256(shown.encode()).hexdigest()

    @property
    def is_rollback(self) -> bool:
        """Whether an earlier version than the live one would go live."""
        version, live = self.version, self.live
        return bool(version and live and version.version_number < live.version_number)


def review_publish(target: PublishTarget, *, with_conversation: bool) -> PublishReview:
    """Read the audience and its page, and the conversation if requested.

    A conversation that can't be read becomes a finding. Raises APIError if the audience can't be
    read and is not recorded.
    """
    operation_key = publish_key(*target.ids)
    page_result = run_concurrently(lambda: publishing_client().pages.get(target.page_id))
    conversation_result = _start_reading_conversation(target) if with_conversation else None
    reading = read_audience(target.page_id, target.audience_id)
    found = reading.value
    named = find_version(found.audience, target.version_id) if found.is_as_listed else None
    # If the service has just not responded, the other reads are not waited for.
    page = _read_page(target.page_id, page_result if reading.is_live else None)
    pending = _read_pending_changes(conversation_result if reading.is_live else None)
    version = named or load_version(*target.ids)
    history = target.history(found.audience.published_version)
    return PublishReview(
        target=target,
        operation_key=operation_key,
        reading=reading,
        version=version,
        is_returned=named is not None and reading.is_live,
        page=page.page,
        pending=pending,
        last=history.last(),
        live_since=history.publish_of(found.audience.published_version),
        findings=findings(
            _preflight_input(reading, version, page, history.other_open_versions(), pending)
        ),
    )


def _preflight_input(
    reading: ReadResult[AudienceLookup],
    version: AudienceVersion | None,
    page: FoundPage,
    others_in_flight: tuple[int | None, ...],
    pending: PendingChanges,
) -> PreflightInput:
    found = reading.value
    return PreflightInput(
        version=version,
        latest=found.audience.latest_version,
        live=found.audience.published_version,
        page=page.page,
        page_problem=page.problem,
        is_last_known=not reading.is_live,
        is_listed=found.listed,
        is_readable=found.unreadable is None,
        is_archived=bool(found.audience.archived_at),
        others_in_flight=others_in_flight,
        pending_changes=pending.count,
        conversation_problem=pending.problem,
    )


def _shown_fields(version: AudienceVersion | None) -> tuple[object, ...] | None:
    """Return the displayed fields of a version, apart from its status, which findings cover."""
    if version is None:
        return None
    text = version.supplementary_context or ""
    return version.version_id, version.version_number, text, version.is_new_page_agent


def _read_page(page_id: str, read: Callable[[], PageItem] | None) -> FoundPage:
    problem = ""
    if read:
        try:
            page = read()
        except APIError as error:
            problem = str(error)
        else:
            with tolerate_write_errors():
                recording.record_page(page)
            return FoundPage(page)
    record = page_last_known(page_id)
    return FoundPage(record.page if record else None, problem)


def _start_reading_conversation(target: PublishTarget) -> Callable[[], Conversation]:
    return run_concurrently(lambda: read_conversation(target.page_id, target.audience_id))


def _read_pending_changes(read: Callable[[], Conversation] | None) -> PendingChanges:
    if read is None:
        return PendingChanges()
    try:
        conversation = read()
    except NotFoundError:
        return PendingChanges(0, has_conversation=False)
    except APIError as error:
        return PendingChanges(problem=str(error))
    return PendingChanges(len(conversation.pending_changes))


def _is_open(publish: Any) -> bool:
    return publish.outcome in OPEN
