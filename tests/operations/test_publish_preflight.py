"""Pre-flight checks report the risks of a publish, and require typing the number if needed."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.client import APIError
from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import UnreadableValue, read_resource
from dashboard.ledger.models import Publication
from dashboard.operations.publish_preflight import (
    Finding,
    PageReading,
    PendingChanges,
    Severity,
    findings,
)
from dashboard.service.reading import AudienceLookup, ReadResult
from tests.support import wire


def version(**differs: Any) -> AudienceVersion:
    return AudienceVersion.model_validate(wire.version(**differs))


def page(**differs: Any) -> PageReading:
    return PageReading(PageItem.model_validate(wire.page(**differs)))


DRAFT, LIVE = version(), AudienceVersion.model_validate(wire.live_version())
PAGE, NO_CHANGES = page(), PendingChanges(0)


def preflight(
    *,
    version: AudienceVersion | None = DRAFT,
    live: AudienceVersion | None = LIVE,
    latest: AudienceVersion | None = DRAFT,
    is_last_known: bool = False,
    is_listed: bool = True,
    is_readable: bool = True,
    archived_at: Any = None,
    page: PageReading = PAGE,
    pending: PendingChanges = NO_CHANGES,
    others_in_flight: Iterable[int | None] = (),
    rolled_back_by: Publication | None = None,
) -> list[Finding]:
    """Return the findings for a draft over a live version. With the defaults there are none."""
    audience = read_resource(Audience, {"archivedAt": archived_at}).model_copy(
        update={"published_version": live, "latest_version": latest}
    )
    unreadable = UnreadableValue(("items", 0), "Broken.", ("items", 0))
    lookup = AudienceLookup(audience, is_listed, None if is_readable else unreadable)
    error = APIError("No response.") if is_last_known else None
    reading = ReadResult(lookup, datetime.now(UTC), error)
    return findings(
        reading,
        version,
        page=page,
        pending=pending,
        others_in_flight=others_in_flight,
        rolled_back_by=rolled_back_by,
    )


def headlines(**differs: Any) -> list[str]:
    return [finding.headline for finding in preflight(**differs)]


def severities(**differs: Any) -> list[Severity]:
    return [finding.severity for finding in preflight(**differs)]


def test_a_draft_over_a_live_version_has_no_findings() -> None:
    assert headlines() == []


def test_the_first_version_of_an_audience_has_no_findings() -> None:
    assert headlines(live=None, page=PageReading(None), pending=PendingChanges()) == []


QUEUED = version(status="queued", versionId="ver_3", versionNumber=3)


@pytest.mark.parametrize(
    ("differs", "headline"),
    [
        ({"live": version()}, "Version 2 is already live."),
        (
            {"version": version(supplementaryContext="Pay \u202eOSLO\u202c now")},
            "Version 2 has text in another order than it seems: U+202E right-to-left override.",
        ),
        ({"version": version(status="queued")}, "Version 2 is already queued."),
        ({"version": version(status="pending")}, "Version 2 is already pending."),
        ({"version": version(status="cancelled")}, "Version 2 was canceled."),
        ({"latest": version(versionId="ver_3", versionNumber=3)}, "Version 3 is newer."),
        ({"latest": QUEUED}, "Version 3 is already being published (queued)."),
        ({"others_in_flight": (3,)}, "Publishing version 3 hasn’t finished."),
        ({"others_in_flight": (None,)}, "Publishing another version hasn’t finished."),
        ({"page": page(status="archived")}, "This page is archived."),
        ({"page": page(archivedAt=wire.MARK, status=None)}, "This page is archived."),
        (
            {"page": PageReading(None, "500")},
            "Couldn’t read the page, so its status wasn’t checked.",
        ),
        ({"archived_at": wire.MARK}, "This audience is archived."),
        ({"archived_at": 1767225600}, "Couldn’t read whether this audience is archived."),
        ({"is_readable": False}, "The service’s data for this audience can’t be read."),
        ({"is_listed": False}, "This audience isn’t in the service’s list."),
    ],
)
def test_a_risk_is_reported_and_requires_the_number(differs: dict[str, Any], headline: str) -> None:
    assert headline in headlines(**differs)
    assert Severity.RISK in severities(**differs)
    assert Severity.STOP not in severities(**differs)


@pytest.mark.parametrize("differs", [{"version": None}, {"is_last_known": True}])
def test_publishing_is_disabled_without_current_data(differs: dict[str, Any]) -> None:
    assert Severity.STOP in severities(**differs)


@pytest.mark.parametrize(
    ("count", "headline"),
    [(1, "1 pending change is not in version 2."), (2, "2 pending changes are not in version 2.")],
)
def test_pending_changes_are_counted_and_are_not_a_risk(count: int, headline: str) -> None:
    assert headlines(pending=PendingChanges(count)) == [headline]
    assert severities(pending=PendingChanges(count)) == [Severity.NOTE]


@given(
    version=st.none() | st.just(DRAFT),
    live=st.none() | st.just(DRAFT),
    latest=st.none() | st.just(QUEUED),
    page=st.builds(
        PageReading,
        st.none() | st.just(page(status="archived").page),
        st.sampled_from(["", "Broken."]),
    ),
    is_last_known=st.booleans(),
    is_listed=st.booleans(),
    is_readable=st.booleans(),
    archived_at=st.sampled_from([None, wire.MARK, 7]),
    others_in_flight=st.lists(st.none() | st.integers(), max_size=2),
    pending=st.builds(
        PendingChanges, st.none() | st.integers(0, 3), st.sampled_from(["", "Broken."])
    ),
)
def test_the_most_severe_findings_come_first(**any_: Any) -> None:
    result = severities(**any_)
    assert result == sorted(result, key=[Severity.STOP, Severity.RISK, Severity.NOTE].index)


def test_returning_to_the_live_text_is_no_risk() -> None:
    earlier = version(versionId="ver_0", versionNumber=0, publishedAt="2026-01-10T00:00:00Z")
    assert headlines(version=earlier) == []
    assert headlines(version=version(versionId="ver_0", versionNumber=0)) == ["Version 2 is newer."]


def test_a_rolled_back_version_is_a_named_risk() -> None:
    at = datetime(2026, 3, 5, 10, 10, tzinfo=UTC)
    rolled_back_by = Publication(actor_name="demo", note="The 8% isn’t signed off", started_at=at)
    [finding] = preflight(rolled_back_by=rolled_back_by)
    assert finding.severity is Severity.RISK
    assert finding.sentence == "demo rolled back version 2: The 8% isn’t signed off"
    assert finding.at == "2026-03-05T10:10:00+00:00"
    [outside] = preflight(rolled_back_by=Publication(started_at=at))
    assert outside.sentence == "Version 2 was rolled back."
