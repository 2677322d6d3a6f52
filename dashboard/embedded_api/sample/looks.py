"""What a dashboard in use for six weeks would have seen: the versions, at the times it looked.

A version that came and went between two looks was never seen: those are the gaps.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby

from dashboard.contract.audiences import AudienceVersion
from dashboard.embedded_api.marks import last_mark_of
from dashboard.embedded_api.models import Version
from dashboard.embedded_api.sample.audiences import AudienceStory
from dashboard.embedded_api.sample.chance import chance, on_a_weekday
from dashboard.embedded_api.wire import Wire

IN_USE = timedelta(days=43)

Sight = tuple[str, AudienceVersion, datetime, datetime]
"""A page's id, a version as it was when last seen, and when it was first and last seen."""


def sights(stories: Iterable[AudienceStory], now: datetime) -> Iterator[Sight]:
    """Return every version that was seen, as it was when it was seen last."""
    for page_id, of_page in groupby(stories, key=lambda story: story.audience.page_id):
        looks = [(look, last_mark_of(look)) for look in looks_at(page_id, now)]
        for story in of_page:
            for version in story.versions:
                newer = [
                    v.created_at
                    for v in story.versions
                    if v.version_number > version.version_number
                ]
                seen = [
                    look
                    for look, until in looks
                    if _was_shown(version, min(newer, default="~"), until)
                ]
                if seen:
                    shown = Wire(seen[-1]).version(version)
                    yield page_id, AudienceVersion.model_validate(shown), seen[0], seen[-1]


def looks_at(page_id: str, now: datetime) -> list[datetime]:
    """Return when somebody opened a page, in order; some pages are opened often, some hardly."""
    dice = chance("looks", page_id)
    count = int(dice.triangular(3, 40, 12))
    began = now - IN_USE
    looks = (on_a_weekday(dice, began + IN_USE * dice.random()) for _ in range(count))
    return sorted(max(began, look) for look in looks)


def _was_shown(version: Version, newer_from: str, until: str) -> bool:
    """Whether a list of audiences had it at a moment: as the latest version, or as the live one.

    All are marks: when a newer version came, and the last mark of the moment.
    """
    if version.created_at > until:
        return False
    is_live = (version.published_at or "~") <= until < (version.archived_at or "~")
    return is_live or until < newer_from
