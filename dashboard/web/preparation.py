"""Before a version is published: all that is known at the moment of asking, read at that moment."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dashboard.client import APIError, NotFoundError
from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.conversations import Conversation
from dashboard.contract.pages import PageItem
from dashboard.ledger import recording
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Kind
from dashboard.ledger.operations import OPEN, publish_key
from dashboard.ledger.queries.audiences import version_last_known
from dashboard.ledger.queries.operations import publishes_of
from dashboard.ledger.queries.pages import page_last_known
from dashboard.statements import Statement
from dashboard.web.differences import TextDifference, compare_texts
from dashboard.web.parallel import started
from dashboard.web.preflight import (
    Finding,
    Situation,
    Weight,
    asks_for_number,
    findings,
    is_off,
)
from dashboard.web.publishers import publish_behind
from dashboard.web.readings import (
    FoundAudience,
    Reading,
    read_audience,
    read_conversation,
)
from dashboard.web.service import publishing_client

_PUBLISHES = Statement(
    lambda page_id, audience_id: publishes_of(page_id, audience_id).values_list(
        "pk",
        "version_id",
        "version_number",
        "outcome",
        "actor_name",
        "requested_at",
        "settled_at",
        "before",
        named=True,
    )
)


@dataclass(frozen=True)
class Subject:
    """The version that an address names."""

    page_id: str
    audience_id: str
    version_id: str

    @property
    def ids(self) -> tuple[str, str, str]:
        """The three ids, as an address and an operation key take them."""
        return self.page_id, self.audience_id, self.version_id

    @property
    def of_audience(self) -> tuple[str, str]:
        """The two ids of its audience."""
        return self.page_id, self.audience_id

    def on_record(self) -> "OnRecord":
        """Return the publishes of the audience."""
        return OnRecord(self.version_id, _PUBLISHES.rows(*self.of_audience))

    def is_of(self, operation: Operation) -> bool:
        """Tell whether an operation is a publish of this version."""
        of = (operation.page_id, operation.audience_id, operation.version_id)
        return operation.kind == Kind.PUBLISH_VERSION and of == self.ids


@dataclass(frozen=True)
class OnRecord:
    """The publishes of an audience, of which one version is asked for."""

    version_id: str
    publishes: list[Any]
    """A row each, newest first."""

    def last(self) -> Operation | None:
        """Return the last publish of the version: one that is open before any other."""
        of_version = [each for each in self.publishes if each.version_id == self.version_id]
        found = next(filter(_is_open, of_version), None) or next(iter(of_version), None)
        return Operation.objects.filter(pk=found.pk).first() if found else None

    def open_of_others(self) -> tuple[int | None, ...]:
        """Return the numbers of the other versions that are still being published."""
        return tuple(
            each.version_number
            for each in self.publishes
            if _is_open(each) and each.version_id != self.version_id
        )

    def that_brought(self, version: AudienceVersion | None) -> Any:
        """Return the publish by which a version went live, or None."""
        return publish_behind(version, self.publishes) if version else None


@dataclass(frozen=True)
class Waiting:
    """How many changes wait in the conversation."""

    count: int | None = None
    """None where the conversation was not read."""
    problem: str = ""
    """Why it can't be read."""
    has_conversation: bool = True


@dataclass(frozen=True)
class Preparation:
    """All that is known at the moment of asking whether to publish."""

    subject: Subject
    operation_key: str
    reading: Reading[FoundAudience]
    version: AudienceVersion | None
    is_named: bool
    """Whether the service named the version just now."""
    page: PageItem | None
    waiting: Waiting
    last: Operation | None
    """The last publish of this version, whatever its outcome."""
    live_since: Any
    """The publish that brought the live version here, or None; it has an `actor_name`."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def audience(self) -> Audience:
        """The audience, as read."""
        return self.reading.value.audience

    @property
    def live(self) -> AudienceVersion | None:
        """The version that is live now."""
        return self.audience.published_version

    @property
    def difference(self) -> TextDifference:
        """What changes in the supplementary context."""
        live, version = self.live, self.version
        return compare_texts(
            live.supplementary_context if live else None,
            version.supplementary_context if version else None,
        )

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
        """What a form carries to say what its reader saw: it changes with what bears on a yes.

        Notes do not: what waits in the conversation is asked for before, and not again after.
        """
        headlines = [each.headline for each in self.findings if each.weight is not Weight.NOTE]
        seen = repr((_words(self.live), _words(self.version), headlines))
        return hashlib.sha256(seen.encode()).hexdigest()

    @property
    def is_rollback(self) -> bool:
        """Whether an earlier version than the live one would go live."""
        version, live = self.version, self.live
        return bool(version and live and version.version_number < live.version_number)


def prepare(subject: Subject, *, with_conversation: bool) -> Preparation:
    """Read the audience and its page now, and the conversation where wanted.

    A conversation that can't be read is a finding. Raises APIError where the audience can't be
    read and was never seen.
    """
    operation_key = publish_key(*subject.ids)
    page_asked = started(lambda: publishing_client().pages.get(subject.page_id))
    conversation_asked = _conversation(subject) if with_conversation else None
    reading = read_audience(subject.page_id, subject.audience_id)
    found = reading.value
    named = _named(found.audience, subject.version_id) if found.is_as_listed else None
    # A service that just gave no answer is not waited for two times more.
    page = _page(subject.page_id, page_asked if reading.is_live else None)
    waiting = _waiting(conversation_asked if reading.is_live else None)
    version, on_record = named or _last_known(subject), subject.on_record()
    return Preparation(
        subject=subject,
        operation_key=operation_key,
        reading=reading,
        version=version,
        is_named=named is not None and reading.is_live,
        page=page,
        waiting=waiting,
        last=on_record.last(),
        live_since=on_record.that_brought(found.audience.published_version),
        findings=findings(_situation(reading, version, page, on_record.open_of_others(), waiting)),
    )


def _situation(
    reading: Reading[FoundAudience],
    version: AudienceVersion | None,
    page: PageItem | None,
    others_under_way: tuple[int | None, ...],
    waiting: Waiting,
) -> Situation:
    found = reading.value
    return Situation(
        version=version,
        latest=found.audience.latest_version,
        live=found.audience.published_version,
        page=page,
        is_last_known=not reading.is_live,
        is_listed=found.listed,
        is_readable=found.unreadable is None,
        is_archived=bool(found.audience.archived_at),
        others_under_way=others_under_way,
        pending_changes=waiting.count,
        conversation_problem=waiting.problem,
    )


def _named(audience: Audience, version_id: str) -> AudienceVersion | None:
    named = (audience.published_version, audience.latest_version)
    return next(
        (version for version in named if version and version.version_id == version_id), None
    )


def _last_known(subject: Subject) -> AudienceVersion | None:
    record = version_last_known(*subject.ids)
    return record.version if record else None


def _words(version: AudienceVersion | None) -> tuple[object, ...] | None:
    """Return what a reader is told of a version, apart from its status: findings tell of that."""
    if version is None:
        return None
    text = version.supplementary_context or ""
    return version.version_id, version.version_number, text, version.is_new_page_agent


def _page(page_id: str, asked: Callable[[], PageItem] | None) -> PageItem | None:
    if asked:
        with suppress(APIError):
            recording.remember_page(page := asked())
            return page
    record = page_last_known(page_id)
    return record.page if record else None


def _conversation(subject: Subject) -> Callable[[], Conversation]:
    return started(lambda: read_conversation(subject.page_id, subject.audience_id))


def _waiting(asked: Callable[[], Conversation] | None) -> Waiting:
    if asked is None:
        return Waiting()
    try:
        conversation = asked()
    except NotFoundError:
        return Waiting(0, has_conversation=False)
    except APIError as error:
        return Waiting(problem=str(error))
    return Waiting(len(conversation.pending_changes))


def _is_open(publish: Any) -> bool:
    return publish.outcome in OPEN
