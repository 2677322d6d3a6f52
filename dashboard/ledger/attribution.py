"""Explain publications: by which operation a version went live, by whom and why.

A version that Pressroom published must never count as published outside, so an operation counts
unless it certainly wasn't carried out. After a restore (`manage.py after_restore`), the operations
since the backup are missing. It isn't known who published a version that was queued or went live
before the restore.

Source: our choice; the service does not say who published.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.wire import read_date
from dashboard.ledger.models import Attempt, Operation, Publication
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.queries.audiences import is_rollback
from dashboard.ledger.signals import published_outside

CLOCK_TOLERANCE = timedelta(minutes=2)
"""How far the service's clock may differ from ours. Source: our choice."""
MAY_HAVE_PUBLISHED = (Outcome.SENDING, Outcome.ACCEPTED, Outcome.UNKNOWN)
"""Outcomes of operations that the service may have carried out."""


@dataclass(frozen=True)
class AudienceRead:
    audience: Audience
    history: list[Publication]
    """Publications of the audience, oldest first."""
    before_at: datetime | None
    """When the read before this one began; None if there was none."""
    at: datetime
    """When this read began."""

    @property
    def live(self) -> AudienceVersion | None:
        return self.audience.published_version

    @property
    def latest(self) -> AudienceVersion | None:
        return self.audience.latest_version

    @property
    def last(self) -> Publication | None:
        return self.history[-1] if self.history else None


def explain(
    publication: Publication,
    read: AudienceRead,
    publishes: Sequence[Any],
    restored_at: datetime | None,
) -> None:
    """Set why, by whom and by which operation a version went live.

    `publishes` are the version's publishes that may have been carried out, newest first.
    """
    version = read.live
    if version is None or version.version_id != publication.version_id:
        version = read.latest
    if read.before_at is None or version is None:
        publication.reason = PublicationReason.FIRST_SEEN
        return
    earlier = [
        before
        for before in read.history
        if before.version_id == publication.version_id
        and before.reason != PublicationReason.SEEN_AGAIN
    ]
    # A publish explains only the first publication that is seen after it was sent.
    unused = [
        publish for publish in publishes if not earlier or publish.sent_at >= earlier[-1].seen_at
    ]
    if publication.published_at and publication.published_at in {
        before.published_at for before in earlier
    }:
        publication.reason = PublicationReason.SEEN_AGAIN
    elif unused:
        # Accepted publishes come first. None matches if the dates differ: the version may have been
        # published elsewhere.
        behind = [publish for publish in unused if has_published(publish, version, read.at)]
        behind.sort(key=lambda publish: publish.outcome != Outcome.ACCEPTED)
        _attribute(publication, next(iter(behind), None), read)
    elif publish := _publish_that_returned(version, publishes):
        _attribute(publication, publish, read)
    elif may_be_lost(version, read_before_at=read.before_at, restored_at=restored_at):
        publication.reason = PublicationReason.AFTER_RESTORE
    else:
        publication.reason = PublicationReason.OUTSIDE


def _attribute(publication: Publication, publish: Operation | None, read: AudienceRead) -> None:
    publication.reason = PublicationReason.PUBLISH
    if is_rollback(publication, read.history):
        publication.reason = PublicationReason.ROLLBACK
    if publish is None:
        return
    publication.operation, publication.actor_name = publish, publish.actor_name
    publication.note = publish.emergency_reason or publish.note
    if publish.emergency_reason:
        publication.reason = PublicationReason.EMERGENCY
    elif publication.reason == PublicationReason.PUBLISH and publish.reason:
        publication.reason = publish.reason


def possible_publishes(
    page_id: str, publications: Iterable[Publication]
) -> Mapping[tuple[str, str], list[Any]]:
    """Return the publishes of these versions that may have been carried out, newest first.

    Each has `sent_at`, when it was last sent. They are locked until the publications are saved, so
    that a publish that is rejected at this moment detaches them.
    """
    ids = {(publication.audience_id, publication.version_id) for publication in publications}
    publishes = Operation.publishes.filter(
        outcome__in=MAY_HAVE_PUBLISHED,
        page_id=page_id,
        audience_id__in={audience_id for audience_id, _ in ids},
        version_id__in={version_id for _, version_id in ids},
    )
    attempts = Attempt.objects.filter(operation=OuterRef("pk")).order_by("-sent_at")
    last_sent_at = Subquery(attempts.values("sent_at")[:1])
    sent = publishes.annotate(sent_at=Coalesce(last_sent_at, "requested_at"))
    of_version = defaultdict(list)
    # In the order in which `mark_unknown` locks them.
    locked = list(sent.select_for_update(no_key=True).order_by("pk"))
    for publish in reversed(locked):
        of_version[publish.audience_id, publish.version_id].append(publish)
    return of_version


def _publish_that_returned(
    version: AudienceVersion, publishes: Sequence[Operation]
) -> Operation | None:
    """Return the publish whose response had the date at which a version went live.

    The version may have been published elsewhere before the publish arrived, and seen live then.
    """
    if not publishes or not version.published_at:
        return None
    attempts = Attempt.objects.filter(operation__in=publishes, outcome=Outcome.ACCEPTED)
    attempt = attempts.filter(response_body__contains=version.published_at).first()
    return attempt.operation if attempt else None


def has_published(publish: Operation, version: AudienceVersion, read_at: datetime) -> bool:
    """Return whether a version's dates agree with its publish. Pure.

    Publishing a version that is already queued changes nothing, so the publish that queued it
    counts.
    """
    before, since = publish.before or {}, publish.requested_at - CLOCK_TOLERANCE
    if queued_at := read_date(version.queued_at):
        is_new = before.get("queuedAt") != version.queued_at
        return is_new and since <= queued_at <= (publish.settled_at or read_at) + CLOCK_TOLERANCE
    if published_at := read_date(version.published_at):
        return before.get("publishedAt") != version.published_at and since <= published_at
    return True


def may_be_lost(
    version: AudienceVersion, *, read_before_at: datetime, restored_at: datetime | None
) -> bool:
    """Return whether the operation that published a version may be missing after a restore.

    `read_before_at` is the time of the last read before the version was found live.
    """
    if restored_at is None:
        return False
    began_at = read_date(version.queued_at) or read_date(version.published_at)
    return read_before_at <= restored_at or (began_at is not None and began_at <= restored_at)


def detach_publications(operation: Operation) -> None:
    """Detach the publications of an operation that certainly didn't publish them."""
    publications = Publication.objects.filter(operation=operation)
    if keys := list(publications.values_list("pk", flat=True)):
        publications.update(
            reason=PublicationReason.OUTSIDE, operation=None, actor_name="", note=""
        )
        outside = list(Publication.objects.filter(pk__in=keys))
        published_outside.send_robust(sender=Publication, publications=outside)
