"""Verdicts on operations of unknown outcome, from the state of their target. Pure.

Only proof settles an operation: if a lost request also explains the state, the outcome stays
unknown. Source: our choice; the spec shows no way to query the outcome of a request.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeGuard

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.pages import PageItem
from dashboard.contract.wire import read_date
from dashboard.ledger.models.operations import Outcome

CLOCK_TOLERANCE = timedelta(minutes=2)
"""How far the service's clock may differ from ours."""

IN_QUEUE = (VersionStatus.QUEUED, VersionStatus.PROCESSING)
UNPUBLISHED = (VersionStatus.DRAFT, VersionStatus.ARCHIVED)
"""A version that had such a status and still has it was not published. With any other status,
publishing may change nothing.
"""


@dataclass(frozen=True)
class Verdict:
    """The resulting outcome, and what the check found, as a clause."""

    outcome: Outcome
    detail: str


def is_unchanged(before: Mapping[str, Any] | None, version: AudienceVersion) -> bool:
    """Return whether a version that publishing must change is still as before."""
    would_show = before is not None and before.get("status") in UNPUBLISHED
    return would_show and version.publish_state == before


def publish_verdict(
    *,
    number: int | None,
    before: Mapping[str, Any] | None,
    version: AudienceVersion | None,
    live: AudienceVersion | None,
    requested_at: datetime,
    is_rejected: bool,
) -> Verdict:
    """Return whether a request made at `requested_at` published a version.

    `before` is the `publish_state` of the version before the request. `version` is None if the
    service does not return it now, as it is neither the latest nor the live one. `is_rejected`
    means that the service rejected a retry after the first request had time to arrive.
    """
    name = "the version" if number is None else f"version {number}"
    if version is None:
        return Verdict(
            Outcome.UNKNOWN,
            f"{name} is neither the latest nor the live version{_live_suffix(live)}",
        )
    if _has_progressed(before, version, requested_at):
        return Verdict(
            Outcome.ACCEPTED, f"{name} is now {version.status}, so the publish went through"
        )
    still = "still " if before and before.get("status") == version.status else ""
    sentence = f"{name} is {still}{version.status}{_live_suffix(live)}"
    if _was_in_flight(before):
        sentence += "; it was already in progress before this request, so this proves nothing"
    if not is_rejected:
        return Verdict(Outcome.UNKNOWN, sentence)
    sentence += "; the service rejected the retry"
    would_show = before is not None and before.get("status") in UNPUBLISHED
    return Verdict(Outcome.REJECTED if would_show else Outcome.UNKNOWN, sentence)


def page_verdict(
    *,
    body_sent: Mapping[str, Any],
    newest: Iterable[PageItem],
    requested_at: datetime,
    duplicates: Iterable[datetime] = (),
) -> tuple[Verdict, PageItem | None]:
    """Return whether a request created one of the newest pages, and which.

    `newest` has only pages that were not recorded before, and that no other request created.
    `duplicates` are the times of identical requests that are also open. Only if there are more
    pages than such requests is one of the pages this request's.
    """
    identity = page_identity(body_sent)
    pages = [
        page
        for page in newest
        if (page.name, page.brand_id, page.page_context) == identity
        and _is_since(page.created_at, requested_at)
    ]
    if not pages:
        return Verdict(Outcome.UNKNOWN, "not found among the newest pages"), None
    possible = [at for at in duplicates if any(_is_since(page.created_at, at) for page in pages)]
    if len(pages) <= len(possible):
        sentence = (
            f"a matching page is among the newest (ID {pages[0].page_id}), but an identical "
            "request is open too, and either may have created it"
        )
        return Verdict(Outcome.UNKNOWN, sentence), None
    # Earlier requests created the older pages.
    pages.sort(key=lambda page: read_date(page.created_at) or requested_at)
    page = pages[sum(at < requested_at for at in possible)]
    return Verdict(Outcome.ACCEPTED, f"found among the newest pages (ID {page.page_id})"), page


def page_identity(body_sent: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return body_sent.get("name"), body_sent.get("brandId"), body_sent.get("pageContext")


def subscription_verdict(
    *, body_sent: Mapping[str, Any], before: Mapping[str, Any] | None, now: Mapping[str, Any]
) -> Verdict:
    """Return whether a request updated a subscription; all values are as on the wire."""
    differing = [name for name, wanted in body_sent.items() if now.get(name) != wanted]
    if differing:
        verb = "differs" if len(differing) == 1 else "differ"
        names = " and ".join(filter(None, [", ".join(differing[:-1]), differing[-1]]))
        return Verdict(Outcome.UNKNOWN, f"{names} {verb} from the request")
    was_so = before is None or all(before.get(name) == body_sent[name] for name in body_sent)
    if was_so:
        return Verdict(Outcome.UNKNOWN, "the subscription matches the request, but may have before")
    return Verdict(Outcome.ACCEPTED, "the subscription matches the request, and didn’t before")


def _has_progressed(
    before: Mapping[str, Any] | None, version: AudienceVersion, requested_at: datetime
) -> bool:
    now = version.publish_state
    if before == now:
        return False
    if _was_in_flight(before):
        # It goes live anyway: only being queued again proves another request.
        queued_at = version.queued_at
        return before.get("queuedAt") != queued_at and _is_since(queued_at, requested_at)
    dates = {"queuedAt": version.queued_at, "publishedAt": version.published_at}
    if any(read_date(date) for date in dates.values()):
        # A date that was there before belongs to an earlier request.
        new = [date for name, date in dates.items() if not before or before.get(name) != date]
        return any(_is_since(date, requested_at) for date in new)
    # Without readable dates, the status must have changed.
    return before is not None and version.status in (*IN_QUEUE, VersionStatus.PUBLISHED)


def _was_in_flight(before: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    return before is not None and before.get("status") in IN_QUEUE


def _is_since(date: str | None, requested_at: datetime) -> bool:
    moment = read_date(date)
    return moment is not None and moment >= requested_at - CLOCK_TOLERANCE


def _live_suffix(live: AudienceVersion | None) -> str:
    return f" (live: version {live.version_number})" if live else " (nothing is live)"
