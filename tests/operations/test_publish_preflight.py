"""Pre-flight checks report the risks of a publish, and require the number when they should."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.pages import PageItem
from dashboard.operations.publish_preflight import (
    PreflightInput,
    Severity,
    asks_for_number,
    findings,
    is_off,
)
from tests.support import wire


def version(**differs: Any) -> AudienceVersion:
    return AudienceVersion.model_validate(wire.version(**differs))


def page(**differs: Any) -> PageItem:
    return PageItem.model_validate(wire.page(**differs))


def preflight_input(**differs: Any) -> PreflightInput:
    """Return the input of a draft over a live version, without findings."""
    defaults: dict[str, Any] = {
        "version": version(),
        "latest": version(),
        "live": AudienceVersion.model_validate(wire.live_version()),
        "page": page(),
        "is_last_known": False,
        "is_listed": True,
        "is_readable": True,
        "is_archived": False,
        "others_in_flight": (),
        "pending_changes": 0,
    }
    return PreflightInput(**defaults | differs)


def headlines(**differs: Any) -> list[str]:
    return [finding.headline for finding in findings(preflight_input(**differs))]


def test_a_draft_over_a_live_version_has_no_findings() -> None:
    assert headlines() == []


def test_the_first_version_of_an_audience_has_no_findings() -> None:
    assert headlines(live=None, page=None, pending_changes=None) == []


QUEUED = version(status="queued", versionId="ver_3", versionNumber=3)


@pytest.mark.parametrize(
    ("differs", "headline"),
    [
        ({"live": version()}, "Version 2 is already live."),
        ({"version": version(status="queued")}, "Version 2 is already queued."),
        ({"version": version(status="pending")}, "Version 2 is already pending."),
        ({"version": version(status="cancelled")}, "Version 2 was canceled."),
        ({"latest": version(versionId="ver_3", versionNumber=3)}, "Version 3 is newer."),
        ({"latest": QUEUED}, "Version 3 is already being published (queued)."),
        ({"others_in_flight": (3,)}, "Publishing version 3 hasn’t finished."),
        ({"others_in_flight": (None,)}, "Publishing another version hasn’t finished."),
        ({"page": page(status="archived")}, "This page is archived."),
        ({"page": page(archivedAt=wire.MARK, status=None)}, "This page is archived."),
        ({"page_problem": "500"}, "Couldn’t read the page, so its status wasn’t checked."),
        ({"is_archived": True}, "This audience is archived."),
        ({"is_readable": False}, "The service’s data for this audience can’t be read."),
        ({"is_listed": False}, "This audience isn’t in the service’s list."),
    ],
)
def test_a_risk_is_reported_and_requires_the_number(differs: dict[str, Any], headline: str) -> None:
    found = findings(preflight_input(**differs))
    assert headline in [finding.headline for finding in found]
    assert asks_for_number(found)
    assert not is_off(found)


@pytest.mark.parametrize("differs", [{"version": None}, {"is_last_known": True}])
def test_publishing_is_disabled_without_current_data(differs: dict[str, Any]) -> None:
    assert is_off(findings(preflight_input(**differs)))


@pytest.mark.parametrize(
    ("count", "headline"),
    [
        (1, "1 pending change is not in version 2."),
        (2, "2 pending changes are not in version 2."),
    ],
)
def test_pending_changes_are_counted_and_are_not_a_risk(count: int, headline: str) -> None:
    assert headlines(pending_changes=count) == [headline]
    assert not asks_for_number(findings(preflight_input(pending_changes=count)))


@given(
    version=st.none() | st.just(version()),
    live=st.none() | st.just(version()),
    latest=st.none() | st.just(QUEUED),
    page=st.none() | st.just(page(status="archived")),
    page_problem=st.sampled_from(["", "Broken."]),
    is_last_known=st.booleans(),
    is_listed=st.booleans(),
    is_readable=st.booleans(),
    is_archived=st.booleans(),
    others_in_flight=st.lists(st.none() | st.integers(), max_size=2).map(tuple),
    pending_changes=st.none() | st.integers(0, 3),
    conversation_problem=st.sampled_from(["", "Broken."]),
)
def test_the_most_severe_findings_come_first(**any_: Any) -> None:
    severities = [finding.severity for finding in findings(PreflightInput(**any_))]
    assert severities == sorted(severities, key=[Severity.STOP, Severity.RISK, Severity.NOTE].index)
