"""Make and undo decisions in a review.

A decision compares what its form showed with the recorded state. If somebody else decided first or
the text has changed, nothing is decided, and the response says what has changed.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.dispatch import Signal

from dashboard import clock
from dashboard.clock import in_words
from dashboard.contract.audiences import AudienceVersion, text_of
from dashboard.ledger import feed
from dashboard.ledger.models import AudienceRecord, Operation
from dashboard.ledger.models.operations import Outcome, actor_name
from dashboard.ledger.operations import OPEN
from dashboard.ledger.queries.audiences import of_audiences
from dashboard.ledger.queries.rows import AudienceKey
from dashboard.ledger.recording import lock_pages, set_rejected
from dashboard.review.models import DecisionKind, ReviewDecision, ReviewRun

NOTICE_AFTER = timedelta(seconds=10)
"""How long a user can undo a decision before anybody is notified of it. Source: our choice."""
JUST_NOW = timedelta(minutes=1)

_IS_PLANNED = Q(release_item__isnull=False) & ~Q(release_item__state="canceled")
IN_FORCE = Q(undone_at=None) & (~Q(kind=DecisionKind.RELEASE) | _IS_PLANNED)
"""Decisions that were neither undone nor removed from their release, nor canceled with it."""
SHARED = ~(Q(kind=DecisionKind.SKIPPED) | Q(kind=DecisionKind.LATER, is_for_team=False))
"""Decisions that apply to everybody; see `ReviewDecision.is_shared`."""

ACTS = {
    DecisionKind.RELEASE: "added it to a release",
    DecisionKind.NEEDS_WORK: "wrote what needs work",
    DecisionKind.REJECTED: "rejected it",
    DecisionKind.LATER: "put it off",
    DecisionKind.SKIPPED: "skipped it",
}

version_rejected = Signal()
"""Argument: `decision`. Both signals are sent with `send_robust`, in the caller's transaction."""
rejection_undone = Signal()


class DecidedError(Exception):
    """Nothing was decided. `str(error)` is a sentence for the user."""


@dataclass(frozen=True)
class DecisionBasis:
    """The recorded state on which a user decides about the latest version of an audience."""

    record: AudienceRecord
    decision: ReviewDecision | None
    """The last shared decision on the current text."""
    own: ReviewDecision | None
    """The user's last decision on the current text that isn't shared: skipped, or later for me."""
    publish: Operation | None
    """The last publish of any of its versions that was accepted, or may have been."""

    @property
    def version(self) -> AudienceVersion | None:
        return self.record.audience.latest_version

    @property
    def digest(self) -> str:
        """A hash that tells whether anything has changed since a form was shown."""
        content = (
            version_digest(self.version),
            self.record.live_version_id,
            self.decision.pk if self.decision else None,
            self.own.pk if self.own else None,
            self.publish.pk if self.publish else None,
        )
        return hashlib.sha256(repr(content).encode()).hexdigest()


def version_digest(version: AudienceVersion | None) -> str:
    """Return a hash of a version and its text; "" without a version."""
    if version is None:
        return ""
    text = (version.version_id, text_of(version), version.is_new_page_agent)
    return hashlib.sha256(repr(text).encode()).hexdigest()


def read_basis(record: AudienceRecord, user_id: int) -> DecisionBasis:
    """Read what a user's decision on an audience is based on; two queries."""
    ids = {"page_id": record.page_id, "audience_id": record.audience_id}
    visible = ReviewDecision.objects.filter(IN_FORCE, SHARED | Q(user=user_id), **ids)
    decisions = [row for row in visible.order_by("pk") if is_on_text_of(row, record)]
    shared = [decision for decision in decisions if decision.is_shared]
    own = [decision for decision in decisions if not decision.is_shared]
    publishes = Operation.publishes.filter(outcome__in=(*OPEN, Outcome.ACCEPTED), **ids)
    return DecisionBasis(
        record,
        decision=shared[-1] if shared else None,
        own=own[-1] if own else None,
        publish=publishes.order_by("-pk").first(),
    )


def is_on_text_of(decision: ReviewDecision, record: AudienceRecord) -> bool:
    if decision.record_digest == record.digest:
        return True
    return decision.text_digest == version_digest(record.audience.latest_version)


def rejections(keys: Sequence[AudienceKey]) -> dict[tuple[str, str, str], ReviewDecision]:
    """Return the rejections in force, by the ids of page, audience and version; one query.

    A rejection is no longer in force after it was undone or followed by another shared decision.
    """
    decisions = ReviewDecision.objects.filter(IN_FORCE, SHARED, of_audiences(keys))
    last = {
        (decision.page_id, decision.audience_id, decision.version_id): decision
        for decision in decisions.order_by("pk")
    }
    return {key: row for key, row in last.items() if row.kind == DecisionKind.REJECTED}


@contextmanager
def deciding(
    run: ReviewRun, key: AudienceKey, user: User, expected: str, *, accounts: Iterable[int] = ()
) -> Iterator[DecisionBasis]:
    """Lock an audience for a decision, and before it the accounts that the decision names.

    `expected` is the digest that the form showed. Raises DecidedError if the digest has changed or
    the audience is no longer on record.
    """
    with transaction.atomic():
        named = User.objects.select_for_update(no_key=True).filter(pk__in=accounts)
        list(named.order_by("pk").values_list("pk"))
        lock_pages(key[0])
        records = AudienceRecord.objects.select_for_update().filter(
            page_id=key[0], audience_id=key[1]
        )
        record = records.first()
        if record is None:
            raise DecidedError("This audience is no longer on record. Nothing was decided.")
        basis = read_basis(record, user.pk)
        if basis.digest != expected:
            raise DecidedError(f"{what_changed(run, basis, user)} Nothing was decided.")
        yield basis


def decide(
    run: ReviewRun, basis: DecisionBasis, user: User, kind: DecisionKind, **columns: Any
) -> ReviewDecision:
    """Record a decision on an audience that `deciding` has locked.

    Raises DecidedError if the audience has no version.
    """
    record, version, now = basis.record, basis.version, clock.now()
    if version is None:
        raise DecidedError("There is no version to decide on.")
    decision = ReviewDecision.objects.create(
        run=run,
        user=user,
        user_name=actor_name(user),
        page_id=record.page_id,
        audience_id=record.audience_id,
        audience_name=str(record),
        version_id=version.version_id,
        version_number=version.version_number,
        text_digest=version_digest(version),
        record_digest=record.digest,
        basis_digest=basis.digest,
        kind=kind,
        at=now,
        **columns,
    )
    if kind == DecisionKind.REJECTED:
        set_rejected(*_target(decision), is_rejected=True)
        version_rejected.send_robust(sender=ReviewDecision, decision=decision)
    _add_to_feed(decision)
    return decision


def is_decided_by(run: ReviewRun, kind: DecisionKind, digest: str) -> bool:
    """Return whether the form already made this decision, as after a double click."""
    decisions = ReviewDecision.objects.filter(run=run, kind=kind, basis_digest=digest)
    return decisions.filter(undone_at=None).exists()


def last_of_run(run: ReviewRun) -> ReviewDecision | None:
    """Return the last decision of a review that was not undone."""
    decisions = ReviewDecision.objects.filter(run=run, undone_at=None)
    return decisions.select_related("assignee").order_by("-pk").first()


def undo(decision: ReviewDecision) -> bool:
    """Undo a decision in the caller's transaction; return False if it was already undone."""
    undone = ReviewDecision.objects.filter(pk=decision.pk, undone_at=None).update(
        undone_at=clock.now()
    )
    if not undone:
        return False
    if decision.kind == DecisionKind.REJECTED:
        set_rejected(*_target(decision), is_rejected=False)
        rejection_undone.send_robust(sender=ReviewDecision, decision=decision)
    if decision.assignee_id:
        before = decision.assignee_before
        # Somebody may have assigned it to another person since.
        AudienceRecord.objects.filter(
            page_id=decision.page_id,
            audience_id=decision.audience_id,
            assignee=decision.assignee_id,
        ).update(assignee=before if before and before.is_active else None)
    _add_to_feed(decision)
    return True


def ago(moment: datetime) -> str:
    elapsed = clock.now() - moment
    seconds = int(elapsed.total_seconds())
    return f"{seconds} s ago" if elapsed < JUST_NOW else f"{in_words(elapsed)} ago"


def what_changed(run: ReviewRun, basis: DecisionBasis, user: User) -> str:
    """Return a sentence on what changed since the review began."""
    decisions = [decision for decision in (basis.decision, basis.own) if decision]
    decision = max(decisions, key=lambda decision: decision.pk, default=None)
    publish = basis.publish
    is_publish_newer = publish and (decision is None or publish.requested_at > decision.at)
    if publish and is_publish_newer and publish.requested_at > run.created_at:
        who = "You" if publish.actor_id == user.pk else publish.actor_name
        number, at = publish.version_number, ago(publish.requested_at)
        return f"{who} published version {number} {at}."
    if decision and decision.at > run.created_at:
        who = "You" if decision.user_id == user.pk else decision.user_name
        for_whom = " for everybody" if decision.is_for_team else ""
        return f"{who} {ACTS[DecisionKind(decision.kind)]}{for_whom} {ago(decision.at)}."
    return "The text has changed since you opened it."


def _target(decision: ReviewDecision) -> tuple[str, str, str]:
    return decision.page_id, decision.audience_id, decision.version_id


def _add_to_feed(decision: ReviewDecision) -> None:
    if decision.is_shared:
        feed.add_audiences((decision.page_id, decision.audience_id), actor_id=decision.user_id)
