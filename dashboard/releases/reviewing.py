"""What a person reviews in an item, and what changed since. Pure except for two queries.

`checking.py` reads and records it.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.db.models import QuerySet

from dashboard.contract.audiences import AudienceVersion, VersionStatus, text_of
from dashboard.contract.pages import PageItem
from dashboard.ledger.models import Publication
from dashboard.operations.publish_preflight import (
    NO_VERDICTS,
    Finding,
    PageReading,
    PendingChanges,
    Severity,
    VersionVerdicts,
    findings,
)
from dashboard.operations.publish_review import page_status, reviewed_digest, reviewed_fields
from dashboard.releases.models import Release, ReleaseItem
from dashboard.service.reading import AudienceLookup, ReadResult


@dataclass(frozen=True)
class ItemReview:
    version: AudienceVersion | None
    """None if the service did not return it and it isn't recorded."""
    live: AudienceVersion | None
    latest: AudienceVersion | None
    page_status: str
    is_archived: bool
    pending_change_ids: list[str] | None
    """Sorted; None if the conversation can't be read."""
    findings: list[Finding] = field(default_factory=list)
    """The most severe first."""
    live_by: str = ""
    """Name of the user who published the live version with Pressroom; "" if none is recorded."""

    @property
    def digest(self) -> str:
        """Hash of the reviewed content without the findings; those are compared by headline."""
        return reviewed_digest(
            self.version,
            self.live,
            page_status=self.page_status,
            is_archived=self.is_archived,
            pending_change_ids=self.pending_change_ids,
        )

    @property
    def stop(self) -> Finding | None:
        return next(
            (finding for finding in self.findings if finding.severity is Severity.STOP), None
        )

    @property
    def risks(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is Severity.RISK]


def review_item(
    reading: ReadResult[AudienceLookup],
    version: AudienceVersion | None,
    *,
    page: PageReading,
    pending: PendingChanges,
    pending_change_ids: list[str] | None,
    others_in_flight: Iterable[int | None] = (),
    rolled_back_by: Publication | None = None,
    verdicts: VersionVerdicts = NO_VERDICTS,
    more: Iterable[Finding] = (),
    is_list_complete: bool = True,
) -> ItemReview:
    """Return the review of an item from what was read.

    It has the findings of a single publish, and `more`. A canceled version stops the item. So does
    an audience that is missing from a complete list.
    """
    audience = reading.value.audience
    unexpected = findings(
        reading,
        version,
        page=page,
        pending=pending,
        others_in_flight=others_in_flight,
        rolled_back_by=rolled_back_by,
        verdicts=verdicts,
    )
    stops = []
    if is_list_complete and not reading.value.listed:
        headline = "This audience no longer exists."
        stops.append(Finding(Severity.STOP, headline, "The service doesn’t list it."))
    canceled = f"{_name(version)} was canceled."
    if version and version.status == VersionStatus.CANCELLED:
        stops.append(Finding(Severity.STOP, canceled, "It can’t be published.", "versions"))
    if stops:
        # Drop the milder findings that say the same.
        milder = (canceled, "This audience isn’t in the service’s list.")
        unexpected = [finding for finding in unexpected if finding.headline not in milder]
    return ItemReview(
        version=version,
        live=audience.published_version,
        latest=audience.latest_version,
        page_status=page_status(page.page),
        is_archived=bool(audience.archived_at),
        pending_change_ids=pending_change_ids,
        findings=sorted(
            [*stops, *unexpected, *more],
            key=lambda finding: list(reversed(Severity)).index(finding.severity),
        ),
    )


def stopped_review(item: ReleaseItem, stop: Finding, *, page: PageItem | None) -> ItemReview:
    return ItemReview(
        version=item.version,
        live=item.live_version,
        latest=None,
        page_status=page_status(page),
        is_archived=False,
        pending_change_ids=None,
        findings=[stop],
    )


def changes_since(item: ReleaseItem, review: ItemReview) -> str:
    """Return a sentence on how a review differs from the recorded one; "" if it doesn't.

    A stop counts as a difference, and so does a new risk. A note doesn't.
    """
    if not item.digest:
        return "It was never checked."
    if review.stop:
        return review.stop.sentence
    seen = {finding["headline"] for finding in item.findings}
    new_risks = [risk for risk in review.risks if risk.headline not in seen]
    latest, number = review.latest, item.version_number
    if latest and any(risk.headline == f"{_name(latest)} is newer." for risk in new_risks):
        return f"Version {latest.version_number} was created after you reviewed version {number}."
    if item.digest != review.digest:
        return next(_differences(item, review))
    return new_risks[0].sentence if new_risks else ""


def changes_since_planned(item: ReleaseItem, review: ItemReview) -> str:
    """Return a sentence on how an unreviewed rollback differs from its plan; "" if it doesn't.

    It differs if it has a stop, another version is live, or the version's content changed. Risks
    hold nothing.
    """
    if review.stop:
        return review.stop.sentence
    if item.live_version_id != (review.live.version_id if review.live else ""):
        return _live_difference(item, review)
    if _content(review.version) != _content(item.version):
        return f"{_name(item.version)} has changed since it was live."
    return ""


def _content(version: AudienceVersion | None) -> tuple[object, ...]:
    return (version.supplementary_context, version.is_new_page_agent) if version else ()


def blocked(item: ReleaseItem) -> bool:
    return any(finding["severity"] == Severity.STOP for finding in item.findings)


def blocked_reason(item: ReleaseItem) -> str:
    for finding in item.findings:
        if finding["severity"] == Severity.STOP:
            return f"{finding['headline']} {finding['detail']}".strip()
    return ""


def risks(item: ReleaseItem) -> list[dict[str, str]]:
    return [finding for finding in item.findings if finding["severity"] == Severity.RISK]


def can_roll_back(item: ReleaseItem) -> bool:
    return bool(item.live_version_id)


def light_items(release: Release) -> QuerySet[ReleaseItem]:
    """Return the items of a release in order, without the bodies of versions."""
    return release.items.defer("version_body", "live_body")


def board_digest(release: Release, items: Iterable[ReleaseItem] | None = None) -> str:
    """Return a hash of what the board of a release shows, to detect changes before a decision.

    `items` are all items of the release in order, if they are loaded already.
    """
    content = [
        (
            *(item.pk, item.version_id, item.live_version_id, item.state, item.digest),
            [finding["headline"] for finding in item.findings],
        )
        for item in (light_items(release) if items is None else items)
    ]
    return hashlib.sha256(repr(content).encode()).hexdigest()


def _name(version: AudienceVersion | None) -> str:
    return f"Version {version.version_number}" if version else "This version"


def _differences(item: ReleaseItem, review: ItemReview) -> Iterator[str]:
    reviewed, version = item.version, review.version
    if version and reviewed.status != version.status:
        yield f"{_name(version)} is now {version.status}."
    if reviewed_fields(reviewed) != reviewed_fields(version):
        yield f"{_name(reviewed)} has changed since the review."
    if item.live_version_id != (review.live.version_id if review.live else ""):
        yield _live_difference(item, review)
    if item.page_status != review.page_status:
        yield f"The page’s status is now {review.page_status or 'unknown'}."
    if item.pending_change_ids != review.pending_change_ids:
        yield (
            "The pending changes can’t be read, so they couldn’t be compared."
            if review.pending_change_ids is None
            else "The pending changes in the conversation differ from those at the review."
        )
    yield "This audience was archived." if review.is_archived else "This audience was restored."


def _live_difference(item: ReleaseItem, review: ItemReview) -> str:
    if review.live is None:
        return f"Version {item.live_version_number} is no longer live."
    by = f"by {review.live_by}" if review.live_by else "outside Pressroom"
    return f"Version {review.live.version_number} went live after the review, published {by}."


@dataclass(frozen=True)
class ComparedField:
    name: str
    then: str
    now: str
    is_changed: bool


def compare_review(item: ReleaseItem, review: ItemReview) -> list[ComparedField]:
    return [*_version_fields(item, review), *_other_fields(item, review)]


def _version_fields(item: ReleaseItem, review: ItemReview) -> Iterator[ComparedField]:
    then, now, number = item.version, review.version, item.version_number
    if now is None:
        yield ComparedField(f"Version {number}", "As reviewed", "Not found", is_changed=True)
        return
    is_rewritten = text_of(then) != text_of(now)
    yield ComparedField(
        f"Text of version {number}", _words(then), _words(now), is_changed=is_rewritten
    )
    yield _compared(
        f"Status of version {number}", _or_unknown(then.status), _or_unknown(now.status)
    )
    yield _compared("New page agent", _yes_no(then), _yes_no(now))


def _other_fields(item: ReleaseItem, review: ItemReview) -> Iterator[ComparedField]:
    live_id = review.live.version_id if review.live else ""
    yield ComparedField(
        "Live version",
        _number(item.live_version_number),
        _number(review.live.version_number if review.live else None),
        is_changed=item.live_version_id != live_id,
    )
    yield _compared("Page status", _or_unknown(item.page_status), _or_unknown(review.page_status))
    archived = {True: "Archived", False: "Not archived"}
    yield _compared("Audience", archived[_was_archived(item)], archived[review.is_archived])
    then, now = item.pending_change_ids, review.pending_change_ids
    yield ComparedField("Pending changes", _count(then), _count(now), is_changed=then != now)
    seen = {finding["headline"] for finding in item.findings}
    new = [
        finding.headline
        for finding in review.findings
        if finding.severity is not Severity.NOTE and finding.headline not in seen
    ]
    if new:
        yield ComparedField("Warnings", "As reviewed", " ".join(new), is_changed=True)


def _compared(name: str, then: str, now: str) -> ComparedField:
    return ComparedField(name, then, now, is_changed=then != now)


def _was_archived(item: ReleaseItem) -> bool:
    """Return whether the audience was archived at the review. Only the digest records it."""
    return item.digest == reviewed_digest(
        item.version,
        item.live_version,
        page_status=item.page_status,
        is_archived=True,
        pending_change_ids=item.pending_change_ids,
    )


def _words(version: AudienceVersion) -> str:
    count = len(text_of(version).split())
    return "1 word" if count == 1 else f"{count:,} words"


def _yes_no(version: AudienceVersion) -> str:
    return "Yes" if version.is_new_page_agent else "No"


def _number(version_number: int | None) -> str:
    return "None" if version_number is None else f"Version {version_number}"


def _or_unknown(status: str) -> str:
    return status.capitalize() if status else "Unknown"


def _count(ids: list[str] | None) -> str:
    if ids is None:
        return "Couldn’t be read"
    return str(len(ids)) if ids else "None"
