"""Commands of the palette and /find/: where to go, and what to do with an audience."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from django.urls import reverse
from django.utils.http import urlencode

from dashboard.contract.audiences import VersionStatus
from dashboard.folding import fold
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.queries import find
from dashboard.ledger.queries.audiences import IN_FLIGHT
from dashboard.web.search.hits import Hit
from dashboard.web.search.recent_visits import Visit
from dashboard.web.ui.locale_format import number

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
NOT_PUBLISHABLE = (*IN_FLIGHT, VersionStatus.CANCELLED, VersionStatus.ARCHIVED)
"""An archived version can be published again, from its audience's own page."""
MIN_VERB_CHARACTERS = 3
"""Length from which an abbreviated verb is recognised."""
MAX_VERB_CANDIDATES = 50
"""The number of audiences checked for whether a verb applies."""


@dataclass(frozen=True)
class Rights:
    """The permissions that decide what is offered."""

    publish: bool
    create_page: bool

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs for an audience's latest version."""
        return ("publish", "compare") if self.publish else ("compare",)


def destinations(words: str, rights: Rights) -> list[Hit]:
    """Return where to go, as far as a word of its name begins with the words."""
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


def verb_actions(words: str, visits: list[Visit], verbs: tuple[str, ...]) -> list[Hit]:
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
        return list(islice(audience_actions(in_order, verbs), MAX_GROUP_HITS))
    audiences = find.search_audiences(name, MAX_VERB_CANDIDATES)
    actions = list(islice(audience_actions(audiences.best, verbs), MAX_GROUP_HITS + 1))
    is_more = len(actions) > MAX_GROUP_HITS or audiences.total > MAX_VERB_CANDIDATES
    more = [link_to_all("Audiences", audiences.total, name)] if is_more and audiences.total else []
    return [*actions[:MAX_GROUP_HITS], *more]


def audience_actions(audiences: list[AudienceRecord], verbs: tuple[str, ...]) -> Iterable[Hit]:
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


def searches(words: str) -> list[Hit]:
    """Return links to the full searches, so that there is always a result."""
    query = urlencode({"q": words})
    return [
        Hit("search", f"Search pages for “{words}”", f"{reverse('page-list')}?{query}"),
        Hit("people", f"Search people for “{words}”", f"{reverse('people-list')}?{query}"),
    ]


def link_to_all(label: str, total: int, words: str, *, url: str = "") -> Hit:
    """Return the link to all hits of a kind: in the list at `url`, or else in /find/."""
    params = {"q": words} if url else {"q": words, "all": label.lower()}
    name = f"All {number(total)} {label.lower()} matching “{words}”"
    return Hit("search", name, f"{url or reverse('find')}?{urlencode(params)}")
