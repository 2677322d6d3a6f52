"""Commands of the palette and of /find/: pages to open, and actions on an audience."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from django.urls import reverse
from django.utils.http import urlencode

from dashboard.accounts.permissions import (
    CREATE_PAGE,
    MANAGE_APPROVALS,
    MANAGE_DELIVERIES,
    MANAGE_PEOPLE,
    MANAGE_SITE,
    PUBLISH,
    may,
)
from dashboard.contract.audiences import VersionStatus
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.objects import IN_FLIGHT, LiveStatus
from dashboard.ledger.queries import find
from dashboard.ledger.queries.audiences import rollback_targets
from dashboard.texts import fold
from dashboard.web.search.hits import Hit
from dashboard.web.search.recent_visits import Visit
from dashboard.web.ui.formats import number
from dashboard.web.ui.htmx import Request

MAX_GROUP_HITS = 6
MAX_ACTIONS = 4
"""Maximum number of actions for the matching audiences."""


@dataclass(frozen=True)
class Destination:
    """A page of the dashboard. It is found by its name and by other words for its content."""

    icon: str
    name: str
    view: str
    words: str = ""
    query: str = ""
    """Query string or fragment, including its `?` or `#`."""
    permission: str = ""
    """Permission that the page requires, if any."""
    is_section: bool = True
    """Whether the page is offered before anything is typed."""


DESTINATIONS = (
    Destination("overview", "Overview", "overview"),
    Destination("page", "Pages", "page-list"),
    Destination("audience", "Audiences", "audience-list"),
    Destination("queue", "Review", "review-list"),
    Destination("release", "Releases", "release-list"),
    Destination("approve", "Approvals", "approval-list"),
    Destination("people", "People", "people-list"),
    Destination("webhook", "Webhooks", "subscription-list"),
    Destination("activity", "Activity", "operation-list"),
    Destination("bell", "Notifications", "notification-list"),
    Destination("view", "Saved views", "saved-view-list"),
    Destination("theme", "Settings", "settings", "Preferences, Density, Dates, Times, Time zone"),
    Destination("plus", "Create page", "page-create", permission=CREATE_PAGE),
    Destination("keyboard", "Keyboard shortcuts", "find", query="#keys"),
    *(
        replace(destination, is_section=False)
        for destination in (
            Destination(
                "st-unknown", "Outcome unknown", "operation-list", query="?outcome=unknown"
            ),
            Destination(
                "st-failed", "Failed operations", "operation-list", query="?outcome=rejected"
            ),
            Destination("webhook", "Webhook receiver", "receiver", "Deliveries"),
            Destination(
                "bell", "Notification settings", "notification-settings", "E-mail, Quiet hours"
            ),
            Destination("lock", "Two-factor authentication", "settings", "Passkeys", "#sign-in"),
            Destination("lock", "Change password", "password"),
            Destination("approve", "Approval rule", "approval-rule", permission=MANAGE_APPROVALS),
            Destination("globe", "Address of the site", "site-pattern", permission=MANAGE_SITE),
            Destination("key", "Tokens", "token-list", "Connect, Agents, Command line"),
            Destination("people", "Sign-in settings", "sign-in-policy", permission=MANAGE_PEOPLE),
            Destination("mail", "Delivery log", "delivery-log", permission=MANAGE_DELIVERIES),
        )
    ),
)
THEMES = (("light", "Light theme"), ("dark", "Dark theme"), ("", "System theme"))
THEME_FORM = "theme-form"
SIGN_OUT_NAMES = ("Sign out", "Log out", "Logout")
SIGN_OUT_FORM = "sign-out"
"""HTML id of the form in the user menu, as signing out is a POST."""
NOT_PUBLISHABLE = (*IN_FLIGHT, VersionStatus.CANCELLED, VersionStatus.ARCHIVED)
"""Statuses that get no publish command.

An archived version can still be published from the page of its audience.
"""
VERBS = ("publish", "roll back", "compare")
MIN_VERB_CHARACTERS = 3
"""Minimum length of an abbreviated verb."""
MAX_VERB_CANDIDATES = 50
"""Maximum number of matching audiences that a verb is tried on."""


def verbs_of(request: Request) -> tuple[str, ...]:
    """Return the verbs that the user may apply to an audience."""
    return VERBS if may(request, PUBLISH) else ("compare",)


def destinations(request: Request, words: str) -> list[Hit]:
    """Return the pages and settings with a word that begins with `words`.

    Pages that the user may not open are left out.
    """
    matches = [
        Hit(destination.icon, destination.name, reverse(destination.view) + destination.query)
        for destination in DESTINATIONS
        if (not destination.permission or may(request, destination.permission))
        and (
            _has_word_prefix(f"{destination.name} {destination.words}", words)
            if words
            else destination.is_section
        )
    ]
    if words:
        matches += [
            Hit("theme", name, "", form=THEME_FORM, field=("theme", value))
            for value, name in THEMES
            if _has_word_prefix(name, words)
        ]
    if any(_has_word_prefix(name, words) for name in SIGN_OUT_NAMES):
        matches.append(Hit("logout", SIGN_OUT_NAMES[0], "", form=SIGN_OUT_FORM))
    return matches


def _has_word_prefix(name: str, words: str) -> bool:
    return not words or f" {fold(words)}" in f" {fold(name)}"


def command_in(words: str) -> tuple[str, str]:
    """Return the verb that the first word begins, and the rest; both are "" if there is none."""
    first, _, name = words.partition(" ")
    prefix = fold(first).rstrip(".…")
    verb = next((verb for verb in VERBS if verb.startswith(prefix)), "")
    if len(prefix) < MIN_VERB_CHARACTERS:
        return "", ""
    if verb == "roll back":
        second, _, rest = name.partition(" ")
        name = rest if second and "back".startswith(fold(second).rstrip(".…")) else name
    return (verb, name.strip()) if verb else ("", "")


def verb_actions(words: str, visits: list[Visit], verbs: tuple[str, ...]) -> list[Hit]:
    """Return the actions for words such as "publish acme" or "pub"; none without a verb."""
    verb, name = command_in(words)
    if verb not in verbs:
        return []
    verbs = (verb,)
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
    """Yield the actions for each audience: those of its latest version, and the rollback.

    Archived audiences and pages get none, because another one may have the same name.
    """
    pages = find.pages_by_id([record.page_id for record in audiences])
    keys = [(record.page_id, record.audience_id) for record in audiences]
    targets = rollback_targets(keys) if "roll back" in verbs else {}
    for record in audiences:
        ids = (record.page_id, record.audience_id)
        page = pages.get(record.page_id)
        if record.archived or (page and page.is_archived):
            continue
        page_name = (page.name if page else "") or record.page_id
        if target := targets.get(ids):
            url = reverse("version-rollback", args=[*ids, target.version_id])
            name = f"Roll back to {target.version_number}: {record}, {page_name}…"
            yield Hit("rollback", name, f"{url}?from={record.live_version_number}")
        if not record.latest_version_id or record.latest_version_id == record.live_version_id:
            continue
        is_rolled_back = record.live_status == LiveStatus.ROLLED_BACK
        may_publish = record.latest_status not in NOT_PUBLISHABLE and not is_rolled_back
        if "publish" in verbs and may_publish:
            url = reverse("version-publish", args=[*ids, record.latest_version_id])
            name = f"Publish version {record.latest_version_number}: {record}, {page_name}…"
            yield Hit("publish", name, url)
        if "compare" in verbs and record.live_version_id:
            numbers = f"{record.live_version_number} and {record.latest_version_number}"
            params = {"from": record.live_version_id, "to": record.latest_version_id}
            url = f"{reverse('version-compare', args=ids)}?{urlencode(params)}"
            yield Hit("compare", f"Compare versions {numbers}: {record}, {page_name}", url)


def searches(words: str) -> list[Hit]:
    """Return links to the full searches. They ensure that there is always a result."""
    query = urlencode({"q": words})
    return [
        Hit("audience", f"Search audiences for “{words}”", f"{reverse('audience-list')}?{query}"),
        Hit("search", f"Search pages for “{words}”", f"{reverse('page-list')}?{query}"),
        Hit("people", f"Search people for “{words}”", f"{reverse('people-list')}?{query}"),
    ]


def link_to_all(label: str, total: int, words: str, *, url: str = "") -> Hit:
    """Return the link to all hits of a kind, in the list at `url` or by default in /find/."""
    params = {"q": words} if url else {"q": words, "all": label.lower()}
    name = f"All {number(total)} {label.lower()} matching “{words}”"
    return Hit("search", name, f"{url or reverse('find')}?{urlencode(params)}")
