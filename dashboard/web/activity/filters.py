"""Filters of the lists in Activity: operations, and publications outside Pressroom."""

from contextlib import suppress
from datetime import UTC, date, datetime, time

from django.db.models import Q, QuerySet
from django.utils import timezone

from dashboard.contract.wire import MAX_IDENTIFIER_BYTES
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.queries.operations import find_operations
from dashboard.ledger.states import OperationState
from dashboard.releases.models import Release
from dashboard.saved_views.models import ListName
from dashboard.web.activity.records import EXPORT, of_release
from dashboard.web.lists.definition import ListDefinition
from dashboard.web.lists.filters import Choice, Day, Filter, choice_among, parse_day
from dashboard.web.lists.state import ListState
from dashboard.web.ui.csv import Cell
from dashboard.web.ui.query_params import int_param


def _existing_releases(ids: list[str]) -> set[str]:
    return {pk for pk in ids if Release.objects.filter(pk=int_param(pk)).exists()}


def find_matches(state: ListState) -> QuerySet[Operation]:
    """Return the matching operations, newest first."""
    matches = find_operations(
        kind=state.value(KIND),
        outcome=state.value(OUTCOME),
        actor=state.value(ACTOR),
        since=since_moment(state),
        target=state.value(TARGET),
    ).filter(state.condition)
    release = state.value(RELEASE)
    return of_release(matches, int_param(release)) if release else matches


def since_day(state: ListState) -> date | None:
    return parse_day(state.value(SINCE))


def release_of(state: ListState) -> Release | None:
    pk = int_param(state.value(RELEASE))
    return Release.objects.filter(pk=pk).first() if pk else None


def since_moment(state: ListState) -> datetime | None:
    """Return the start of the first day in the list, in UTC; None if the list is unlimited."""
    if not (day := since_day(state)):
        return None
    # East of Greenwich, 0001-01-01 begins before datetime.min in UTC.
    with suppress(OverflowError):
        return timezone.make_aware(datetime.combine(day, time.min)).astimezone(UTC)
    return None


def are_grouped(state: ListState) -> bool:
    """Return whether a release is one entry. A filter might match only some of its operations."""
    return not state.is_filtered_besides(SINCE)


KIND = choice_among("kind", "Type", OperationKind.choices, all_label="All types")
OUTCOME = choice_among(
    "outcome",
    "Outcome",
    [(state.value, state.label) for state in OperationState],
    all_label="All outcomes",
)
ACTOR = Choice("actor", "User", is_open=True, all_label="All users")
SINCE = Day("since")
"""First day in the list, in the viewer's time zone."""
TARGET = Filter("target", "Target", max_length=MAX_IDENTIFIER_BYTES)
"""ID of a page, audience, version or subscription."""
RELEASE = Choice("release", "Release", find=_existing_releases)
"""ID of the release that sent the operations."""
APPROVAL = Choice("approval", "Approval", values=("none",), where=lambda _: ~Q(emergency_reason=""))
"""`none` matches operations that were sent without the approval they needed."""
BY = Choice("by", "By", values=("machines",), where=lambda _: Q(by_program__gt=""))
"""`machines` matches operations that a token published or requested."""
ACTIVITY = ListDefinition(
    name=ListName.ACTIVITY,
    filters=(KIND, OUTCOME, ACTOR, SINCE, TARGET, RELEASE, APPROVAL, BY),
    csv=EXPORT,
    start="after",
    find=find_matches,
)
OUTSIDE = ListDefinition(
    filters=(SINCE, TARGET),
    csv=(
        Cell("went live at (UTC)", lambda row: None if row.is_start_seen else row.started_at),
        Cell("noticed at (UTC)", "seen_at"),
        Cell("page", "page_name"),
        Cell("audience", "audience_name"),
        Cell("version number", "version_number"),
        Cell("page ID", "page_id"),
        Cell("audience ID", "audience_id"),
        Cell("version ID", "version_id"),
    ),
    start="after",
)
"""The list of publications outside Pressroom."""
