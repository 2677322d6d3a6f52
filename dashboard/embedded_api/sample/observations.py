"""The versions that a dashboard in use for six weeks would have recorded.

A version that was replaced between two visits was never seen: those are the gaps.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby, zip_longest

from dashboard.contract.audiences import AudienceVersion
from dashboard.embedded_api.ids import last_uuid7_of
from dashboard.embedded_api.models import Version
from dashboard.embedded_api.sample.audiences import AudienceStory
from dashboard.embedded_api.sample.randomness import seeded_random, shift_to_weekday
from dashboard.embedded_api.serializers import version_json

IN_USE = timedelta(days=43)

SeenVersion = tuple[str, AudienceVersion, datetime, datetime]
"""A page's id, a version as last seen, and the times when it was first and last seen."""


def seen_versions(stories: Iterable[AudienceStory], now: datetime) -> Iterator[SeenVersion]:
    """Yield every version that was seen, in its last seen state."""
    for page_id, page_stories in groupby(stories, key=lambda story: story.audience.page_id):
        visits = [(visit, last_uuid7_of(visit)) for visit in _visits_to(page_id, now)]
        for story in page_stories:
            for version, newer in zip_longest(story.versions, story.versions[1:]):
                newer_from = newer.created_at if newer else "~"
                seen = [v for v, until in visits if _was_listed(version, newer_from, until)]
                if seen:
                    content = version_json(version, seen[-1])
                    yield page_id, AudienceVersion.model_validate(content), seen[0], seen[-1]


def _visits_to(page_id: str, now: datetime) -> list[datetime]:
    """Return the sorted times of visits to a page: 3 to 40 of them."""
    rng = seeded_random("looks", page_id)
    count = int(rng.triangular(3, 40, 12))
    began = now - IN_USE
    visits = (shift_to_weekday(rng, began + IN_USE * rng.random()) for _ in range(count))
    return sorted(max(began, visit) for visit in visits)


def _was_listed(version: Version, newer_from: str, until: str) -> bool:
    """Whether the version was the latest or the live one at the mark `until`.

    `newer_from` is the mark at which a newer version was created.
    """
    if version.created_at > until:
        return False
    is_live = (version.published_at or "~") <= until < (version.archived_at or "~")
    return is_live or until < newer_from
