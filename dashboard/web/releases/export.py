"""The items of a release as rows of a CSV file."""

from collections.abc import Iterator
from datetime import UTC, datetime

from dashboard.releases.models import Release
from dashboard.releases.reviewing import light_items

COLUMNS = (
    *("order", "page", "audience", "version number", "live version number before"),
    *("words added", "words removed", "state", "reason"),
    *("reviewed at (UTC)", "reviewed by", "sent at (UTC)", "settled at (UTC)"),
    *("page ID", "audience ID", "version ID", "live version ID before", "operation key"),
)


def export_rows(release: Release) -> Iterator[list[object]]:
    """Yield each item, in order, as a row of COLUMNS."""
    for item in light_items(release):
        yield [
            item.position,
            item.page_name,
            item.audience_name,
            item.version_number,
            item.live_version_number,
            item.words_added,
            item.words_removed,
            item.get_state_display(),
            item.reason,
            _utc(item.reviewed_at),
            item.reviewed_by_name,
            _utc(item.sent_at),
            _utc(item.settled_at),
            item.page_id,
            item.audience_id,
            item.version_id,
            item.live_version_id,
            item.operation_key,
        ]


def _utc(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds") if moment else ""
