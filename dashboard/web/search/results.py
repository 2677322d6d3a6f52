"""Results of the palette and /find/: destinations, objects in the ledger, and commands.

All of it comes from the ledger but people, who are fetched from the service.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from dashboard.contract.audiences import VersionStatus
from dashboard.contract.envelope import ListEnvelope
from dashboard.contract.people import Person
from dashboard.folding import fold
from dashboard.ledger.models import (
    AudienceRecord,
    Operation,
    PageRecord,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.queries import find
from dashboard.ledger.queries.audiences import IN_FLIGHT
from dashboard.ledger.queries.pages import page_names
from dashboard.ledger.queries.saved_views import ViewOfUser
from dashboard.releases.models import Release, ReleaseState
from dashboard.web.search.recent_visits import Visit
from dashboard.web.ui.locale_format import active_language, number
from dashboard.web.ui.saved_views import view_url
from dashboard.web.ui.version_status import version_status

MAX_GROUP_HITS = 6
MAX_ACTIONS = 4
"""The maximum number of commands for the audiences found."""
DESTINATIONS = (
    ("overview", "Overview", "overview"),
    ("page", "Pages", "page-list"),
    ("audience", "Audiences", "audience-list"),
    ("release", "Releases", "release-list"),
    ("approve", "Approvals", "approval-list"),
    ("people", "People", "people-list"),
    ("webhook", "Webhooks", "subscription-list"),
    ("activity", "Activity", "operation-list"),
    ("bell", "Notifications", "notification-list"),
    ("view", "Saved views", "saved-view-list"),
    ("theme", "Settings", "settings"),
)
SIGN_OUT_NAMES = ("Sign out", "Log out", "Logout")
SIGN_OUT_FORM = "sign-out"
"""The id of the user menu's form: signing out is a POST."""
PAGE_SIZE = 100
"""Hits per page in the list of all hits of a kind."""
NOT_PUBLISHABLE = (*IN_FLIGHT, VersionStatus.CANCELLED, VersionStatus.ARCHIVED)
"""An archived version can be published again, from its audience's own page."""
MIN_VERB_CHARACTERS = 3
"""Length from which an abbreviated verb is recognised."""
MAX_RELEASES = 1_000
"""Releases whose names are searched, the newest first."""
MAX_VERB_CANDIDATES = 50
"""The number of audiences checked for whether a verb applies."""


@dataclass(frozen=True)
class Hit:
    """One search result."""

    icon: str
    name: str
    url: str
    note: str = ""
    status: str = ""
    form: str = ""
    """The id of a form to submit instead of a link."""
    audience: AudienceRecord | None = None
    """The audience whose state is shown, instead of a status."""


@dataclass(frozen=True)
class ResultGroup:
    """The best hits of one kind, their total, and the link to all of them."""

    label: str
    hits: list[Hit]
    total: int = 0
    all_hits: Hit | None = None

    @property
    def heading(self) -> str:
        """The label, with the total if that is more than is shown."""
        if self.total <= len(self.hits):
            return self.label
        return f"{self.label}: {number(len(self.hits))} of {number(self.total)}"


@dataclass(frozen=True)
class ResultPage:
    """One page of all hits of a kind, with the numbers of its first and last, from 1."""

    group: ResultGroup
    first: int
    last: int
    previous: int | None
    """The offset of the previous page; None on the first one."""
    next: int | None


@dataclass(frozen=True)
class Rights:
    """The permissions that decide what is offered."""

    publish: bool
    create_page: bool

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs for an audience's latest version."""
        return ("publish", "compare") if self.publish else ("compare",)


def exact_hits(identifier: str) -> list[Hit]:
    """Return everything in the ledger with exactly this id."""
    matches = find.find_by_id(identifier)
    return [
        *map(_page_hit, matches.pages),
        *_audience_hits(matches.audiences),
        *_version_hits(matches.versions),
        *map(_subscription_hit, matches.subscriptions),
        *_operation_hits(matches.operations),
    ]


def search_groups(
    words: str,
    exact: list[Hit],
    visits: list[Visit],
    rights: Rights,
    views: Sequence[ViewOfUser] = (),
) -> list[ResultGroup]:
    """Return the results for the words; `exact` are the hits with the words as their id.

    A verb alone is applied to the recent visits. `views` are those that the user can open.
    """
    audiences = find.search_audiences(words, MAX_GROUP_HITS)
    pages = find.search_pages(words, MAX_GROUP_HITS)
    webhooks = find.search_subscriptions(words, MAX_GROUP_HITS)
    releases = _release_hits(words)
    actions = [
        *_verb_actions(words, visits, rights.verbs),
        *islice(_actions(audiences.best, rights.verbs), MAX_ACTIONS),
    ]
    page_hits = [_page_hit(record, words) for record in pages.best]
    groups = [
        ResultGroup("Go to", _destinations(words, rights)),
        ResultGroup("Saved views", _view_hits(views, words)[:MAX_GROUP_HITS]),
        _group("Audiences", _audience_hits(audiences.best), audiences.total, words),
        _group("Pages", page_hits, pages.total, words, url=reverse("page-list")),
        _group("Webhooks", [*map(_subscription_hit, webhooks.best)], webhooks.total, words),
        ResultGroup(
            "Releases", releases[:MAX_GROUP_HITS], len(releases), _all_releases(releases, words)
        ),
        ResultGroup("Commands", [*dict.fromkeys(actions), *_searches(words)]),
    ]
    seen = {hit.url for hit in exact}
    rest = [
        replace(group, hits=[hit for hit in group.hits if hit.url not in seen]) for group in groups
    ]
    return [group for group in (ResultGroup("Exact ID match", exact), *rest) if group.hits]


def all_hits(kind: str, words: str, start: int) -> ResultPage:
    """Return one page of all audiences or all webhooks that match the words."""
    if kind == "webhooks":
        webhooks = find.search_subscriptions(words, start + PAGE_SIZE)
        hits, total = [*map(_subscription_hit, webhooks.best[start:])], webhooks.total
    else:
        audiences = find.search_audiences(words, PAGE_SIZE, start=start)
        hits, total = _audience_hits(audiences.best), audiences.total
    last = start + len(hits)
    return ResultPage(
        ResultGroup(kind.capitalize(), hits, total),
        first=start + 1,
        last=last,
        previous=max(start - PAGE_SIZE, 0) if start else None,
        next=last if start < last < total else None,
    )


def _group(label: str, hits: list[Hit], total: int, words: str, *, url: str = "") -> ResultGroup:
    """Return a group, with a link to all of its kind if there are more than are shown."""
    if total <= len(hits):
        return ResultGroup(label, hits)
    params = {"q": words} if url else {"q": words, "all": label.lower()}
    name = f"All {number(total)} {label.lower()} matching “{words}”"
    everything = Hit("search", name, f"{url or reverse('find')}?{urlencode(params)}")
    return ResultGroup(label, hits, total, everything)


def initial_groups(pins: list[Visit], visits: list[Visit], rights: Rights) -> list[ResultGroup]:
    """Return the groups shown before anything is typed."""
    unpinned = [visit for visit in visits if visit not in pins]
    groups = [
        ResultGroup("Pinned", visit_hits(pins)),
        ResultGroup("Recently visited", visit_hits(unpinned)),
        ResultGroup("Go to", _destinations("", rights)),
    ]
    return [group for group in groups if group.hits]


def person_group(people: ListEnvelope[Person], words: str) -> ResultGroup:
    """Return people, each linked to a search of the list: they have no pages of their own."""
    list_url = reverse("people-list")
    hits = []
    for person in people.items:
        query = person.email or person.slug or person.name or person.phone_number or ""
        url = f"{list_url}?{urlencode({'q': query})}"
        hits.append(Hit("person", person.name or "No name", url, note=person.email or ""))
    return _group("People", hits, people.total_count, words, url=list_url)


def visit_hits(visits: list[Visit]) -> list[Hit]:
    """Return pages and audiences by their ids, in order; those not in the ledger are left out."""
    hits = hits_by_visit(visits)
    return [hits[visit] for visit in visits if visit in hits]


def hits_by_visit(visits: list[Visit]) -> dict[Visit, Hit]:
    """Return pages and audiences by their ids, as far as they are in the ledger. Three queries."""
    pages = find.pages_by_id([page_id for page_id, audience_id in visits if not audience_id])
    audiences = find.audiences_by_id([visit for visit in visits if visit[1]])
    hits = {(page_id, ""): _page_hit(record) for page_id, record in pages.items()}
    hits |= zip(audiences, _audience_hits([*audiences.values()]), strict=True)
    return hits


def _page_hit(record: PageRecord, words: str = "") -> Hit:
    """Return a page, with its title or id as a note if that contains words the name lacks."""
    url = reverse("page-detail", args=[record.page_id])
    name = record.name or record.page_id
    missing = [word for word in fold(words).split() if word not in fold(name)]
    texts = (record.title, record.page_id)
    note = next((text for text in texts if any(word in fold(text) for word in missing)), "")
    return Hit("page", name, url, note=note, status=record.status)


def _audience_hits(records: list[AudienceRecord]) -> list[Hit]:
    """Return audiences, each with its page's name, as its own is not unique, and its status."""
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
    audiences = find.audiences_by_id([(one.page_id, one.audience_id) for one in records])
    hits = []
    for record in records:
        ids = (record.page_id, record.audience_id)
        version = record.version_number
        note = f"{audiences.get(ids, ids[1])}, {pages.get(ids[0]) or ids[0]}"
        url = f"{reverse('version-list', args=ids)}#v{version}"
        status = _version_status(record, audiences.get(ids))
        hits.append(Hit("versions", f"Version {version}", url, note=note, status=status))
    return hits


def _version_status(record: VersionRecord, audience: AudienceRecord | None) -> str:
    return version_status(
        record.version_id,
        record.status,
        was_published=bool(record.version.published_at),
        live_version_id=audience.live_version_id if audience else None,
    )


def _subscription_hit(record: SubscriptionRecord) -> Hit:
    return Hit(
        "webhook", str(record), reverse("subscription-detail", args=[record.subscription_id])
    )


def _view_hits(views: Sequence[ViewOfUser], words: str) -> list[Hit]:
    """Return the saved views with each word in the name."""
    wanted = fold(words).split()
    return [
        Hit("view", view.name, view_url(view), note=_view_note(view))
        for view in views
        if all(word in fold(view.name) for word in wanted)
    ]


def _view_note(view: ViewOfUser) -> str:
    label = ListName(view.list_name).label
    return f"{label}, team view" if view.is_team else label


def _release_hits(words: str) -> list[Hit]:
    """Return the releases with each word in the name, newest first, of the last 1,000."""
    wanted = fold(words).split()
    columns = ("pk", "name", "state", "due_at")
    releases = Release.objects.only(*columns)[:MAX_RELEASES]
    return [
        Hit("release", one.name, reverse("release-detail", args=[one.pk]), note=_release_note(one))
        for one in releases
        if all(word in fold(one.name) for word in wanted)
    ]


def _release_note(release: Release) -> str:
    state = release.get_state_display()
    if release.state != ReleaseState.SCHEDULED or release.due_at is None:
        return state
    due_at, language = timezone.localtime(release.due_at), active_language()
    return f"{state} for {language.day(due_at)}, {language.time(due_at, seconds=False)}"


def _all_releases(hits: list[Hit], words: str) -> Hit | None:
    """Return the link to all releases that match the words, if not all are shown."""
    if len(hits) <= MAX_GROUP_HITS:
        return None
    url = f"{reverse('release-list')}?{urlencode({'q': words})}"
    return Hit("search", f"All {number(len(hits))} releases matching “{words}”", url)


def _operation_hits(operations: list[Operation]) -> list[Hit]:
    pages = page_names([one.page_id for one in operations if one.audience_id])
    hits = []
    for one in operations:
        name = " ".join(filter(None, [one.title, one.target_name]))
        url = reverse("operation-detail", args=[one.operation_key])
        page = (pages.get(one.page_id) or one.page_id) if one.audience_id else ""
        hits.append(Hit("activity", name, url, note=page, status=one.outcome))
    return hits


def _destinations(words: str, rights: Rights) -> list[Hit]:
    hits = [Hit(icon, name, reverse(view)) for icon, name, view in DESTINATIONS]
    if rights.create_page:
        hits.append(Hit("plus", "Create page", reverse("page-create")))
    hits.append(Hit("keyboard", "Keyboard shortcuts", f"{reverse('find')}#keys"))
    matches = [hit for hit in hits if _has_word_prefix(hit.name, words)]
    if any(_has_word_prefix(name, words) for name in SIGN_OUT_NAMES):
        matches.append(Hit("logout", SIGN_OUT_NAMES[0], "", form=SIGN_OUT_FORM))
    return matches


def _has_word_prefix(name: str, words: str) -> bool:
    """Tell whether the name, or one of its words, starts with the words."""
    return not words or f" {fold(words)}" in f" {fold(name)}"


def _verb_actions(words: str, visits: list[Visit], verbs: tuple[str, ...]) -> list[Hit]:
    """Return the commands for words such as "publish acme" or "pub"; none without a verb."""
    first, _, name = words.partition(" ")
    prefix = fold(first).rstrip(".")
    if len(prefix) < MIN_VERB_CHARACTERS:
        return []
    verbs = tuple(verb for verb in verbs if verb.startswith(prefix))
    if not verbs:
        return []
    if not name:
        visited = find.audiences_by_id([visit for visit in visits if visit[1]])
        in_order = [visited[visit] for visit in visits if visit in visited]
        return list(islice(_actions(in_order, verbs), MAX_GROUP_HITS))
    audiences = find.search_audiences(name, MAX_VERB_CANDIDATES)
    group = _group("Audiences", [], audiences.total, name)
    actions = list(islice(_actions(audiences.best, verbs), MAX_GROUP_HITS + 1))
    is_more = len(actions) > MAX_GROUP_HITS or audiences.total > MAX_VERB_CANDIDATES
    more = [group.all_hits] if is_more and group.all_hits else []
    return [*actions[:MAX_GROUP_HITS], *more]


def _actions(audiences: list[AudienceRecord], verbs: tuple[str, ...]) -> Iterable[Hit]:
    """Yield the commands for each audience's latest version.

    Archived audiences and pages get none: others may have the same name.
    """
    pages = find.pages_by_id([record.page_id for record in audiences])
    for record in audiences:
        ids = (record.page_id, record.audience_id)
        page = pages.get(record.page_id)
        if record.archived or (page and page.is_archived):
            continue
        if not record.latest_version_id or record.latest_version_id == record.live_version_id:
            continue
        page_name = (page.name if page else "") or record.page_id
        if "publish" in verbs and record.latest_status not in NOT_PUBLISHABLE:
            url = reverse("version-publish", args=[*ids, record.latest_version_id])
            name = f"Publish version {record.latest_version_number}: {record}, {page_name}…"
            yield Hit("publish", name, url)
        if "compare" in verbs and record.live_version_id:
            numbers = f"{record.live_version_number} and {record.latest_version_number}"
            params = {"from": record.live_version_id, "to": record.latest_version_id}
            url = f"{reverse('version-compare', args=ids)}?{urlencode(params)}"
            yield Hit("compare", f"Compare versions {numbers}: {record}, {page_name}", url)


def _searches(words: str) -> list[Hit]:
    """Return links to the full searches, so that there is always a result."""
    query = urlencode({"q": words})
    return [
        Hit("search", f"Search pages for “{words}”", f"{reverse('page-list')}?{query}"),
        Hit("people", f"Search people for “{words}”", f"{reverse('people-list')}?{query}"),
    ]
