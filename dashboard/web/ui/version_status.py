"""The status to show of a version, which depends on the version that is live."""

from dashboard.contract.audiences import VersionStatus

LIVE, SUPERSEDED = "live", "superseded"
"""Statuses derived from which version is live; the service has no names for them."""


def version_status(
    version_id: str, status: str, *, was_published: bool, live_version_id: str | None
) -> str:
    """Return `live`, `superseded`, or the version's own `status`.

    `was_published` tells whether it has a `publishedAt`, and `live_version_id` is that of the
    audience, if anything is live. The service shows only two versions: the last status seen of
    another one may be "published" long after a different version went live.
    """
    if live_version_id and version_id == live_version_id:
        return LIVE
    is_over = status in (VersionStatus.PUBLISHED, VersionStatus.ARCHIVED)
    was_live = was_published or status == VersionStatus.PUBLISHED
    return SUPERSEDED if live_version_id and is_over and was_live else status
