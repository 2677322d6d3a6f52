"""Search results from the database: pages, audiences, versions, releases and more."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator

from dashboard.comments.queries import search_comments
from dashboard.ledger.models import (
    AudienceRecord,
    Operation,
    PageRecord,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.models.objects import IN_FLIGHT
from dashboard.ledger.queries import find
from dashboard.ledger.queries.audiences import rolled_back_versions
from dashboard.ledger.queries.pages import page_names
from dashboard.ledger.states import version_state
from dashboard.releases.models import Release, ReleaseState
from dashboard.saved_views.models import ListName
from dashboard.saved_views.queries import ViewOfUser
from dashboard.texts import fold
from dashboard.web.lists.saved_views import view_url
from dashboard.web.search.recent_visits import Visit
from dashboard.web.ui.formats import active_formats

MAX_COMMENT = 80
"""Maximum length of a comment's text in a hit, in characters."""
MAX_RELEASES = 1_000
"""How many of the newest releases are searched."""


@dataclass(frozen=True)
class Hit:
    icon: str
    name: str
    url: str
    note: str = ""
    status: str = ""
    form: str = ""
    """HTML id of a form to submit instead of opening `url`."""
    field: tuple[str, str] | None = None
    """Name and value of the field that the form is submitted with."""
    audience: AudienceRecord | None = None
    """Audience whose state is shown instead of `status`."""


def comment_hits(words: str, limit: int) -> list[Hit]:
    return [
        Hit(
            "comment",
            Truncator(" ".join(comment.body.split())).chars(MAX_COMMENT),
            reverse("thread-detail", args=[comment.thread_id]),
            f"Comment by {comment.author_name}",
        )
        for comment in search_comments(words, limit)
    ]


def exact_hits(identifier: str) -> list[Hit]:
    """Return all objects in the ledger with exactly this id."""
    matches = find.find_by_id(identifier)
    return [
        *map(page_hit, matches.pages),
        *audience_hits(matches.audiences),
        *_version_hits(matches.versions),
        *map(subscription_hit, matches.subscriptions),
        *_operation_hits(matches.operations),
    ]


def visit_hits(visits: list[Visit]) -> list[Hit]:
    """Return the visited pages and audiences, in order, without those missing from the ledger."""
    hits = hits_by_visit(visits)
    return [hits[visit] for visit in visits if visit in hits]


def hits_by_visit(visits: list[Visit]) -> dict[Visit, Hit]:
    """Return the visited pages and audiences that are in the ledger. Makes three queries."""
    pages = find.pages_by_id([page_id for page_id, audience_id in visits if not audience_id])
    audiences = find.audiences_by_id([visit for visit in visits if visit[1]])
    hits = {(page_id, ""): page_hit(record) for page_id, record in pages.items()}
    hits |= zip(audiences, audience_hits([*audiences.values()]), strict=True)
    return hits


def page_hit(record: PageRecord, words: str = "") -> Hit:
    """Return a page. Its title or id is a note if it contains words that the name lacks."""
    url = reverse("page-detail", args=[record.page_id])
    name = record.name or record.page_id
    missing = [word for word in fold(words).split() if word not in fold(name)]
    texts = (record.title, record.page_id)
    note = next((text for text in texts if any(word in fold(text) for word in missing)), "")
    return Hit("page", name, url, note=note, status=record.status)


def audience_hits(records: list[AudienceRecord]) -> list[Hit]:
    """Return audiences, each with its state and its page, as names of audiences aren't unique."""
    pages = page_names([record.page_id for record in records])
    hits = []
    for record in records:
        page = pages.get(record.page_id) or record.page_id
        hit = Hit(
            "audience",
            str(record),
            reverse("audience-detail", args=[record.page_id, record.audience_id]),
            note=f"{page}, archived" if record.archived else page,
            audience=record,
        )
        hits.append(hit)
    return hits


def _version_hits(records: list[VersionRecord]) -> list[Hit]:
    pages = page_names([record.page_id for record in records])
    keys = [(record.page_id, record.audience_id) for record in records]
    audiences = find.audiences_by_id(keys)
    rolled_back = rolled_back_versions(keys)
    hits = []
    for record in records:
        ids = (record.page_id, record.audience_id)
        version = record.version_number
        note = f"{audiences.get(ids, ids[1])}, {pages.get(ids[0]) or ids[0]}"
        url = f"{reverse('version-list', args=ids)}#v{version}"
        audience, is_rolled_back = audiences.get(ids), (*ids, record.version_id) in rolled_back
        status = version_state(
            record.status,
            is_live=audience is not None and audience.live_version_id == record.version_id,
            was_live=bool(record.version.published_at),
            is_rolled_back=is_rolled_back and record.status not in IN_FLIGHT,
        )
        hits.append(Hit("versions", f"Version {version}", url, note=note, status=status))
    return hits


def subscription_hit(record: SubscriptionRecord) -> Hit:
    return Hit(
        "webhook", str(record), reverse("subscription-detail", args=[record.subscription_id])
    )


def view_hits(views: Sequence[ViewOfUser], words: str) -> list[Hit]:
    """Return the saved views whose name contains each word."""
    wanted = fold(words).split()
    return [
        Hit(
            "view",
            view.name,
            view_url(view),
            note=ListName(view.list_name).label + (", team view" if view.is_team else ""),
        )
        for view in views
        if all(word in fold(view.name) for word in wanted)
    ]


def release_hits(words: str) -> list[Hit]:
    """Return the releases whose name contains each word, newest first.

    Searches the newest MAX_RELEASES releases.
    """
    wanted = fold(words).split()
    columns = ("pk", "name", "has_own_name", "created_at", "state", "due_at")
    releases = Release.listed.only(*columns)[:MAX_RELEASES]
    return [
        Hit(
            "release",
            release.name,
            reverse("release-detail", args=[release.pk]),
            note=_release_note(release),
        )
        for release in releases
        if all(word in fold(release.name) for word in wanted)
    ]


def _release_note(release: Release) -> str:
    state = release.get_state_display()
    if not release.has_own_name:
        created, formats = timezone.localtime(release.created_at), active_formats()
        time = formats.time(created, seconds=False)
        state = f"{state}, created {formats.day(created)}, {time}"
    if release.state != ReleaseState.SCHEDULED or release.due_at is None:
        return state
    due_at, formats = timezone.localtime(release.due_at), active_formats()
    return f"{state} for {formats.day(due_at)}, {formats.time(due_at, seconds=False)}"


def _operation_hits(operations: list[Operation]) -> list[Hit]:
    pages = page_names([operation.page_id for operation in operations if operation.audience_id])
    hits = []
    for operation in operations:
        name = " ".join(filter(None, [operation.title, operation.target_name]))
        url = reverse("operation-detail", args=[operation.operation_key])
        page = (pages.get(operation.page_id) or operation.page_id) if operation.audience_id else ""
        hits.append(Hit("activity", name, url, note=page, status=operation.outcome))
    return hits
