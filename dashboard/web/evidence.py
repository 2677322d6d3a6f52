"""What a look at a target proves about an operation whose outcome is unknown.

Pure. Only evidence settles: where a look could be explained by the request having been lost, the
outcome stays unknown, with what was found. Source: our choice; the spec shows no way to ask for
the fate of a request.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeGuard

from dashboard.contract.audiences import AudienceVersion, VersionStatus
from dashboard.contract.dates import read_date
from dashboard.contract.pages import PageItem
from dashboard.ledger.models.operations import Outcome

CLOCKS_DIFFER = timedelta(minutes=2)
"""How far the service's clock may be from ours."""

QUEUED_ON = (VersionStatus.QUEUED, VersionStatus.PROCESSING)
WOULD_SHOW = (VersionStatus.DRAFT, VersionStatus.ARCHIVED)
"""A version that had this status, and still has, was not published. For any other, publishing may
change nothing."""
_TOLD_BY_VERSION = ("status", "queuedAt", "publishedAt")


@dataclass(frozen=True)
class Verdict:
    """The outcome that follows, and what was found, in a sentence."""

    outcome: Outcome
    found: str


def version_before(version: AudienceVersion | None) -> dict[str, Any] | None:
    """Return what is kept of a version when publishing it begins, to be compared with later."""
    return {name: version.to_wire().get(name) for name in _TOLD_BY_VERSION} if version else None


def shows_nothing_yet(before: Mapping[str, Any] | None, version: AudienceVersion) -> bool:
    """Tell whether a version that publishing would have changed is still as it was before it."""
    would_show = before is not None and before.get("status") in WOULD_SHOW
    return would_show and version_before(version) == before


def publish_verdict(
    *,
    number: int | None,
    before: Mapping[str, Any] | None,
    version: AudienceVersion | None,
    live: AudienceVersion | None,
    requested_at: datetime,
    is_refused: bool,
) -> Verdict:
    """Say whether a version was published by a request made at `requested_at`.

    `before` is from `version_before`. `version` is None where the service does not name it now,
    being neither the latest nor the live one. `is_refused` tells that the service refused the
    same request sent again, when the first had had its time to arrive.
    """
    name = "the version" if number is None else f"version {number}"
    if version is None:
        return Verdict(
            Outcome.UNKNOWN, f"{name} is neither the latest nor the live one{_live_now(live)}"
        )
    if _went_on(before, version, requested_at):
        return Verdict(Outcome.ACCEPTED, f"{name} is {version.status}: the request was carried out")
    still = "still " if before and before.get("status") == version.status else ""
    found = f"{name} is {still}{version.status}{_live_now(live)}"
    if _was_on_its_way(before):
        found += "; it was on its way before you asked, so that proves nothing"
    if not is_refused:
        return Verdict(Outcome.UNKNOWN, found)
    found += "; the service refused the request when it was sent again"
    would_show = before is not None and before.get("status") in WOULD_SHOW
    return Verdict(Outcome.REJECTED if would_show else Outcome.UNKNOWN, found)


def page_verdict(
    *, body_sent: Mapping[str, Any], newest: Iterable[PageItem], requested_at: datetime
) -> tuple[Verdict, PageItem | None]:
    """Say whether a page among the newest was made by a request, and which.

    `newest` holds only pages that were not known before the request, and that no other made.
    """
    for page in newest:
        if _is_made_from(page, body_sent) and _is_since(page.created_at, requested_at):
            found = f"the page is among the newest, with the id {page.page_id}"
            return Verdict(Outcome.ACCEPTED, found), page
    return Verdict(Outcome.UNKNOWN, "no such page is among the newest"), None


def subscription_verdict(
    *,
    body_sent: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    now: Mapping[str, Any],
) -> Verdict:
    """Say whether a subscription became what a request asked for; all as on the wire."""
    differing = [name for name, wanted in body_sent.items() if now.get(name) != wanted]
    if differing:
        is_not = "is not" if len(differing) == 1 else "are not"
        return Verdict(Outcome.UNKNOWN, f"{_list(differing)} {is_not} as asked for")
    was_so = before is None or all(before.get(name) == body_sent[name] for name in body_sent)
    if was_so:
        return Verdict(
            Outcome.UNKNOWN, "the subscription is as asked for, but may have been before"
        )
    return Verdict(Outcome.ACCEPTED, "the subscription is as asked for, which it was not before")


def _went_on(
    before: Mapping[str, Any] | None, version: AudienceVersion, requested_at: datetime
) -> bool:
    """Tell whether a version was queued or published since, and was not when it began."""
    now = version_before(version)
    if before == now:
        return False
    if _was_on_its_way(before):
        # It goes live without us: being queued anew is the only sign of another request.
        queued_at = version.queued_at
        return before.get("queuedAt") != queued_at and _is_since(queued_at, requested_at)
    dates = {"queuedAt": version.queued_at, "publishedAt": version.published_at}
    if any(read_date(date) for date in dates.values()):
        # A date that was there before is of an earlier request, however young.
        new = [date for name, date in dates.items() if not before or before.get(name) != date]
        return any(_is_since(date, requested_at) for date in new)
    # Without readable dates the status alone has to have moved.
    return before is not None and version.status in (*QUEUED_ON, VersionStatus.PUBLISHED)


def _was_on_its_way(before: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    return before is not None and before.get("status") in QUEUED_ON


def _is_since(date: str | None, requested_at: datetime) -> bool:
    moment = read_date(date)
    return moment is not None and moment >= requested_at - CLOCKS_DIFFER


def _is_made_from(page: PageItem, body_sent: Mapping[str, Any]) -> bool:
    sent = (body_sent.get("name"), body_sent.get("brandId"), body_sent.get("pageContext"))
    return (page.name, page.brand_id, page.page_context) == sent


def _live_now(live: AudienceVersion | None) -> str:
    return f", live version {live.version_number}" if live else ", no version is live"


def _list(names: Collection[str]) -> str:
    return " and ".join([", ".join(list(names)[:-1]), list(names)[-1]] if len(names) > 1 else names)
