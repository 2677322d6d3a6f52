"""Which last known versions can be added to a release, and which are already in one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import F, QuerySet

from dashboard.compiled_query import compiled
from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import AudienceRecord, VersionRecord
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.queries.audiences import audience_last_known, version_last_known
from dashboard.ledger.queries.rows import AudienceKey
from dashboard.operations.checking import PublishTarget
from dashboard.releases.errors import AudienceProblem, ReleaseError
from dashboard.releases.holding import ACTIVE
from dashboard.releases.models import MAX_ITEMS, ItemState, ReleaseItem, ReleaseState


@dataclass(frozen=True)
class PlannedVersion:
    page_id: str
    audience_id: str
    audience_name: str
    version: AudienceVersion
    live: AudienceVersion | None


def audience_records(audiences: Sequence[AudienceKey]) -> dict[AudienceKey, AudienceRecord]:
    """Return these audiences as last known, by their keys; one query a page."""
    of_pages: dict[str, list[str]] = {}
    for page_id, audience_id in audiences:
        if "\0" not in page_id + audience_id:  # PostgreSQL rejects NUL even in a filter.
            of_pages.setdefault(page_id, []).append(audience_id)
    return {
        (page_id, record.audience_id): record
        for page_id, ids in of_pages.items()
        for record in AudienceRecord.objects.filter(page_id=page_id, audience_id__in=ids)
    }


def require_audiences(
    audiences: Sequence[AudienceKey], *, present: Sequence[AudienceKey] = ()
) -> None:
    if not audiences:
        raise ReleaseError("Select at least one audience.", field="audience")
    total = len(audiences) + len(present)
    if total > MAX_ITEMS:
        sentence = f"A release has at most {MAX_ITEMS} versions. This one would have {total:,}."
        raise ReleaseError(sentence, field="audience")
    counts = Counter([*present, *audiences])
    twice = [key for key in dict.fromkeys(audiences) if counts[key] > 1]
    if not twice:
        return
    names = {key: record.name for key, record in audience_records(twice).items()}
    if set(twice) & set(present):
        sentence = "This audience is already in the release."
    else:
        sentence = "This audience is selected twice."
    raise _problems([(key, names.get(key) or key[1], sentence) for key in twice])


def _problems(causes: Iterable[tuple[AudienceKey, str, str]]) -> ReleaseError:
    problems = tuple(AudienceProblem(*key, name, sentence) for key, name, sentence in causes)
    first = f"{problems[0].name}: {problems[0].sentence}"
    others = f" {len(problems) - 1} more can’t be added." if len(problems) > 1 else ""
    return ReleaseError(first + others, field="audience", problems=problems)


def latest_versions(audiences: Sequence[AudienceKey]) -> list[PlannedVersion]:
    """Return the latest version of each audience. Raises ReleaseError for those without."""
    records = audience_records(audiences)
    planned, problems = [], []
    for key in audiences:
        if key not in records:
            problems.append((key, key[1], "This audience isn’t recorded here."))
            continue
        audience, name = records[key].audience, records[key].name or key[1]
        latest, live = audience.latest_version, audience.published_version
        if latest and latest.status not in IN_FLIGHT and not _is_live(latest, live):
            planned.append(PlannedVersion(*key, name, latest, live))
        else:
            problems.append((key, name, _nothing_to_publish(latest)))
    if problems:
        raise _problems(problems)
    return planned


def _is_live(version: AudienceVersion, live: AudienceVersion | None) -> bool:
    return live is not None and live.version_id == version.version_id


def _nothing_to_publish(version: AudienceVersion | None) -> str:
    if version is None:
        return "Nothing to publish: it has no version."
    if version.status in IN_FLIGHT:
        number, status = version.version_number, version.status
        return f"Nothing to publish: version {number} is already in progress ({status})."
    return f"Nothing to publish: version {version.version_number} is already live."


def planned_versions(targets: Sequence[PublishTarget]) -> list[PlannedVersion]:
    """Return these versions, each of another audience. Raises ReleaseError."""
    require_audiences([target[:2] for target in targets])
    return [planned_version(target) for target in targets]


def planned_version(target: PublishTarget) -> PlannedVersion:
    if "\0" in "".join(target):
        raise ReleaseError("This version isn’t recorded here.", field="version")
    record = version_last_known(*target)
    audience_record = audience_last_known(target.page_id, target.audience_id)
    if audience_record is None:
        raise ReleaseError("This audience isn’t recorded here.", field="audience")
    if record is None and VersionRecord.objects.filter(version_id=target.version_id).exists():
        raise ReleaseError("This version belongs to another audience.", field="version")
    if record is None:
        raise ReleaseError("This version isn’t recorded here.", field="version")
    version, live = record.version, audience_record.audience.published_version
    if _is_live(version, live):
        raise ReleaseError(_nothing_to_publish(version), field="version")
    name = audience_record.name or target.audience_id
    return PlannedVersion(target.page_id, target.audience_id, name, version, live)


def version_columns(version: AudienceVersion, live: AudienceVersion | None) -> dict[str, Any]:
    return {
        "version_id": version.version_id,
        "version_number": version.version_number,
        "version_body": version.to_json(),
        "live_body": live.to_json() if live else "",
        "live_version_id": live.version_id if live else "",
        "live_version_number": live.version_number if live else None,
    }


PLANNED = (*ACTIVE, ReleaseState.HELD)
"""States of releases that a person decided to publish, and whose versions may still be sent."""


class PlannedPublish(NamedTuple):
    """A version that waits in a release; one without `due_at` is not scheduled."""

    page_id: str
    audience_id: str
    version_id: str
    version_number: int
    release_id: int
    release_name: str
    release_state: str
    owner_name: str
    note: str
    due_at: datetime | None
    time_zone: str


def planned_publishes(page_ids: Iterable[str]) -> dict[AudienceKey, list[PlannedPublish]]:
    """Return the versions on these pages that wait in a release, by audience; one query.

    The next one due comes first.
    """
    planned: dict[AudienceKey, list[PlannedPublish]] = {}
    for row in _planned_publishes.rows([*set(page_ids)]):
        planned.setdefault((row.page_id, row.audience_id), []).append(row)
    return planned


@compiled(PlannedPublish._make)
def _planned_publishes(page_ids: Sequence[str]) -> "QuerySet[ReleaseItem, Any]":
    items = ReleaseItem.objects.filter(
        page_id__in=page_ids, state=ItemState.WAITING, release__state__in=PLANNED
    )
    columns = ("name", "state", "owner_name", "note", "due_at", "time_zone")
    return items.order_by(F("release__due_at").asc(nulls_first=True), "release_id").values_list(
        *("page_id", "audience_id", "version_id", "version_number", "release_id"),
        *(f"release__{column}" for column in columns),
    )


def releases_of_operations(operation_ids: Iterable[int]) -> dict[int, Any]:
    """Return the item by which each operation was sent, by the operation's key; one query.

    Each has the `release_id`, `release_name` and `position`. Operations without a release are left
    out. If several releases followed an operation, the first counts.
    """
    items = ReleaseItem.objects.filter(operation__in=list(operation_ids)).order_by("-pk")
    rows = items.annotate(release_name=F("release__name")).values_list(
        "operation_id", "release_id", "release_name", "position", named=True
    )
    return {row.operation_id: row for row in rows if row.operation_id}
