"""Notify followers of the changes to pages and audiences that the ledger records."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.urls import reverse

from dashboard.ledger.models import AudienceRecord, PageRecord, Publication
from dashboard.notifications.models import Follow
from dashboard.notifications.recording import Draft, Subject, digest_of, record_event, record_events

KIND = "followed_changed"
MAX_NAMES = 3
"""Number of changed audiences named in a sentence; the others are counted."""
NEW_FOR = timedelta(days=1)
"""An audience created longer ago isn't reported as new when it is seen for the first time."""


class AudienceChange(NamedTuple):
    audience: AudienceRecord
    words: list[str]
    """What changed, such as "version 6 is live"."""
    before_at: str
    """When it changed before. Two processes that notice the same change have the same value."""

    @property
    def name(self) -> str:
        return self.audience.name or self.audience.audience_id


def on_pages_changed(changes: Sequence[tuple[Any, PageRecord]], **_: Any) -> None:
    drafts = {}
    for before, page in changes:
        words = []
        if before and page.name != before.name:
            words.append(f"was {before.name}")
        if before and page.status != before.status:
            words.append(f"is {page.status or 'without a status'}")
        if words:
            drafts[page.page_id] = Draft(
                f"followed:{digest_of(page.page_id, before.changed_at)}",
                Subject(reverse("page-detail", args=[page.page_id]), page_id=page.page_id),
                {"name": page.name or page.page_id, "changes": ", ".join(words)},
            )
    if drafts:
        with transaction.atomic():
            follows = Follow.objects.filter(page_id__in=drafts, audience_id="")
            followed = set(follows.values_list("page_id", flat=True))
            record_events(KIND, [drafts[page_id] for page_id in followed])


def on_audiences_changed(
    page_id: str, changes: Sequence[tuple[Any, AudienceRecord]], **_: Any
) -> None:
    """Notify the followers of each changed audience, and the page's followers in one event."""
    news = [
        AudienceChange(audience, words, str(before.changed_at) if before else "")
        for before, audience in changes
        if (words := _audience_words(before, audience))
    ]
    if news:
        with transaction.atomic():
            follows = Follow.objects.filter(page_id=page_id).order_by()
            for audience_id in follows.values_list("audience_id", flat=True).distinct():
                changed = [
                    change for change in news if audience_id in ("", change.audience.audience_id)
                ]
                if changed:
                    _record(page_id, audience_id, changed)


def _audience_words(before: Any, audience: AudienceRecord) -> list[str]:
    if before is None:
        created_at = audience.created_at
        is_new = created_at and created_at > audience.changed_at - NEW_FOR
        return ["is new"] if is_new else []
    latest, live = audience.latest_version_number, audience.live_version_number
    words = []
    if latest not in (None, before.latest_version_number):
        words.append(f"version {latest} is the latest")
    if live != before.live_version_number:
        words.append("nothing is live" if live is None else f"version {live} is live")
    if audience.archived != before.archived:
        words.append("is archived" if audience.archived else "is no longer archived")
    return words


def _record(page_id: str, audience_id: str, changes: list[AudienceChange]) -> None:
    """Record changes for the followers of an audience, or of the page if `audience_id` is empty."""
    first, actor = changes[0], None
    if len(changes) == 1:
        name, words = first.name, ", ".join(first.words)
        path = reverse("audience-detail", args=[page_id, first.audience.audience_id])
        if first.words == [f"version {first.audience.live_version_number} is live"]:
            # Users are not notified of what they published themselves.
            publications = Publication.objects.filter(
                page_id=page_id, audience_id=first.audience.audience_id, ended_at=None
            )
            live = publications.select_related("operation__actor").last()
            actor = live.operation.actor if live and live.operation else None
    else:
        page = PageRecord.objects.filter(page_id=page_id).values_list("name", flat=True)
        names = ", ".join(change.name for change in changes[:MAX_NAMES])
        more = len(changes) - MAX_NAMES
        name = page.first() or page_id
        words = f"{len(changes)} changes: {names}" + (f" and {more} more" if more > 0 else "")
        path = reverse("page-detail", args=[page_id])
    ids = [(change.audience.audience_id, change.before_at) for change in changes]
    record_event(
        KIND,
        f"followed:{digest_of(page_id, audience_id, *ids)}",
        Subject(path, page_id=page_id, audience_id=audience_id),
        {"name": name, "changes": words},
        actor=actor,
    )
