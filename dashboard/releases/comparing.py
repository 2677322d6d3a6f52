"""What was reviewed of an item and what it is now, side by side. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.contract.audiences import AudienceVersion
from dashboard.operations.publish_preflight import Severity
from dashboard.operations.publish_review import reviewed_digest
from dashboard.releases.models import ReleaseItem
from dashboard.releases.reviewing import ItemReview


@dataclass(frozen=True)
class ComparedField:
    """One thing that a review is bound to, in words: as reviewed, and as read now."""

    name: str
    then: str
    now: str
    is_changed: bool


def compare_review(item: ReleaseItem, review: ItemReview) -> list[ComparedField]:
    """Return all that an item's review is bound to, as reviewed and as read now."""
    return [*_version_fields(item, review), *_other_fields(item, review)]


def _version_fields(item: ReleaseItem, review: ItemReview) -> Iterator[ComparedField]:
    then, now, number = item.version, review.version, item.version_number
    if now is None:
        yield ComparedField(f"Version {number}", "As reviewed", "Not found", is_changed=True)
        return
    is_rewritten = _text(then) != _text(now)
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
    seen = {each["headline"] for each in item.findings}
    new = [
        each.headline
        for each in review.findings
        if each.severity is not Severity.NOTE and each.headline not in seen
    ]
    if new:
        yield ComparedField("Warnings", "As reviewed", " ".join(new), is_changed=True)


def _compared(name: str, then: str, now: str) -> ComparedField:
    return ComparedField(name, then, now, is_changed=then != now)


def _was_archived(item: ReleaseItem) -> bool:
    """Return whether the audience was archived at the review, which only the digest tells."""
    return item.digest == reviewed_digest(
        item.version,
        item.live_version,
        page_status=item.page_status,
        is_archived=True,
        pending_change_ids=item.pending_change_ids,
    )


def _text(version: AudienceVersion) -> str:
    return version.supplementary_context or ""


def _words(version: AudienceVersion) -> str:
    count = len(_text(version).split())
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
