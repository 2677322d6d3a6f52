"""What a person reviews of an item, and whether that has changed since. Pure, but for two queries.

Read and recorded in `checking.py`.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.db.models import QuerySet

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.pages import PageItem
from dashboard.operations.publish_preflight import (
    Finding,
    FoundPage,
    PendingChanges,
    Severity,
    findings,
)
from dashboard.operations.publish_review import page_status, reviewed_digest, reviewed_fields
from dashboard.releases.models import Release, ReleaseItem
from dashboard.service.reading import AudienceLookup, ReadResult


@dataclass(frozen=True)
class ItemReview:
    """The data that a person reviews of one item, as read at one time."""

    version: AudienceVersion | None
    """None if the service did not return it and it is not recorded."""
    live: AudienceVersion | None
    latest: AudienceVersion | None
    page_status: str
    is_archived: bool
    """Whether the audience is archived."""
    pending_change_ids: list[str] | None
    """Sorted; None if the conversation can't be read."""
    findings: list[Finding] = field(default_factory=list)
    """The most severe first."""
    live_by: str = ""
    """Who published the live version from here, if it is another than at the last review."""

    @property
    def digest(self) -> str:
        """A hash of all that was reviewed but findings, which are compared by their headlines."""
        return reviewed_digest(
            self.version,
            self.live,
            page_status=self.page_status,
            is_archived=self.is_archived,
            pending_change_ids=self.pending_change_ids,
        )

    @property
    def stop(self) -> Finding | None:
        """The first finding for which it can't be published."""
        return next((each for each in self.findings if each.severity is Severity.STOP), None)

    @property
    def risks(self) -> list[Finding]:
        """The findings that a person has to confirm."""
        return [each for each in self.findings if each.severity is Severity.RISK]


def review_item(
    reading: ReadResult[AudienceLookup],
    version: AudienceVersion | None,
    *,
    page: FoundPage,
    pending: PendingChanges,
    pending_change_ids: list[str] | None,
    others_in_flight: Iterable[int | None] = (),
    more: Iterable[Finding] = (),
    is_list_complete: bool = True,
) -> ItemReview:
    """Return the review of an item from what was read.

    The findings are those of a single publish, and `more`. Also, a canceled version stops the
    item, and so does an audience that a complete list does not have.
    """
    audience = reading.value.audience
    is_gone = is_list_complete and not reading.value.listed
    found = findings(
        reading, version, page=page, pending=pending, others_in_flight=others_in_flight
    )
    stops = list(_stops(version, is_gone=is_gone))
    if stops:
        # The findings that say the same less severely.
        milder = {f"{_name(version)} was canceled.", "This audience isn’t in the service’s list."}
        found = [*stops, *(each for each in found if each.headline not in milder)]
    return ItemReview(
        version=version,
        live=audience.published_version,
        latest=audience.latest_version,
        page_status=page_status(page.page),
        is_archived=bool(audience.archived_at),
        pending_change_ids=pending_change_ids,
        findings=sorted([*found, *more], key=_rank),
    )


def stopped_review(item: ReleaseItem, stop: Finding, *, page: PageItem | None) -> ItemReview:
    """Return the review of an item about which nothing else is known."""
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
    """Return how a review differs from the one on record, in a sentence; "" if it does not.

    A stop counts as a difference, and so does a risk that no person has seen; a note does not.
    """
    if not item.digest:
        return "It was never checked."
    if review.stop:
        return _in_full(review.stop)
    seen = {each["headline"] for each in item.findings}
    new_risks = [each for each in review.risks if each.headline not in seen]
    latest, number = review.latest, item.version_number
    if latest and any(each.headline == f"{_name(latest)} is newer." for each in new_risks):
        return f"Version {latest.version_number} was created after you reviewed version {number}."
    if item.digest != review.digest:
        return next(_differences(item, review))
    return _in_full(new_risks[0]) if new_risks else ""


def blocked(item: ReleaseItem) -> bool:
    """Return whether an item can't be published, by its last check."""
    return any(each["severity"] == Severity.STOP for each in item.findings)


def blocked_reason(item: ReleaseItem) -> str:
    """Return why an item can't be published, in a sentence; "" if it can."""
    for each in item.findings:
        if each["severity"] == Severity.STOP:
            return f"{each['headline']} {each['detail']}".strip()
    return ""


def risks(item: ReleaseItem) -> list[dict[str, str]]:
    """Return the risks that the last check of an item found, as stored."""
    return [each for each in item.findings if each["severity"] == Severity.RISK]


def can_roll_back(item: ReleaseItem) -> bool:
    """Return whether publishing an item can be taken back: a version was live at the review."""
    return bool(item.live_version_id)


def light_items(release: Release) -> QuerySet[ReleaseItem]:
    """Return the items of a release in order, without the bodies of versions."""
    return release.items.defer("version_body", "live_body")


def board_digest(release: Release, items: Iterable[ReleaseItem] | None = None) -> str:
    """Return a hash of what the board of a release shows, to detect changes before a decision.

    `items` are all items of the release in order, if they are loaded already.
    """
    shown = [
        (
            *(item.pk, item.version_id, item.live_version_id, item.state, item.digest),
            [each["headline"] for each in item.findings],
        )
        for item in (light_items(release) if items is None else items)
    ]
    return hashlib.sha256(repr(shown).encode()).hexdigest()


def _rank(finding: Finding) -> int:
    return list(reversed(Severity)).index(finding.severity)


def _name(version: AudienceVersion | None) -> str:
    return f"Version {version.version_number}" if version else "This version"


def _in_full(finding: Finding) -> str:
    return f"{finding.headline} {finding.detail}".strip()


def _stops(version: AudienceVersion | None, *, is_gone: bool) -> Iterator[Finding]:
    if is_gone:
        headline = "This audience no longer exists."
        yield Finding(Severity.STOP, headline, "The service doesn’t list it.")
    if version and version.status == VersionStatus.CANCELLED:
        headline = f"{_name(version)} was canceled."
        yield Finding(Severity.STOP, headline, "It can’t be published.", "versions")


def _differences(item: ReleaseItem, review: ItemReview) -> Iterator[str]:
    """Yield how an item differs from its review, in sentences."""
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
