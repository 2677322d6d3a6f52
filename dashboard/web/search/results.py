"""Results of the palette and of /find/ in groups: destinations, objects and commands.

People are fetched from the service. Everything else comes from the database.
"""

from dataclasses import dataclass, replace
from itertools import islice

from django.urls import reverse
from django.utils.http import urlencode

from dashboard.accounts.authentication import get_preferences
from dashboard.contract.people import Person
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.queries import find
from dashboard.web.lists.saved_views import visible_views
from dashboard.web.search.commands import (
    MAX_ACTIONS,
    MAX_GROUP_HITS,
    audience_actions,
    command_in,
    destinations,
    link_to_all,
    searches,
    verb_actions,
    verbs_of,
)
from dashboard.web.search.hits import (
    Hit,
    audience_hits,
    comment_hits,
    page_hit,
    release_hits,
    subscription_hit,
    view_hits,
    visit_hits,
)
from dashboard.web.search.recent_visits import recent_visits
from dashboard.web.ui.formats import number
from dashboard.web.ui.htmx import Request

PAGE_SIZE = 100
"""Hits on one page of the list of all hits of a kind."""


@dataclass(frozen=True)
class ResultGroup:
    """The best hits of one kind, their total, and a link to all of them."""

    label: str
    hits: list[Hit]
    total: int = 0
    all_hits: Hit | None = None

    @property
    def heading(self) -> str:
        """The label, with the counts if only some of the hits are shown."""
        if self.total <= len(self.hits):
            return self.label
        return f"{self.label}: {number(len(self.hits))} of {number(self.total)}"


@dataclass(frozen=True)
class ResultPage:
    """A page of all hits of a kind, with the numbers of its first and last hit, from 1."""

    group: ResultGroup
    first: int
    last: int
    previous: int | None
    """Offset of the previous page; None on the first one."""
    next: int | None


def search_groups(request: Request, words: str, exact: list[Hit]) -> list[ResultGroup]:
    """Return the results for the words. `exact` are the hits whose id equals the words.

    A verb without a name applies to the recently visited audiences.
    """
    verbs = verbs_of(request)
    audiences = find.search_audiences(words, MAX_GROUP_HITS)
    pages = find.search_pages(words, MAX_GROUP_HITS)
    webhooks = find.search_subscriptions(words, MAX_GROUP_HITS)
    releases = release_hits(words)
    verb, name = command_in(words)
    applied = verb_actions(words, recent_visits(request), verbs)
    commands = "Commands"
    if verb in verbs and name and not applied:
        commands = f"Nothing to {verb} matches “{name}”"
    actions = [*applied, *islice(audience_actions(audiences.best, verbs), MAX_ACTIONS)]
    page_hits = [page_hit(record, words) for record in pages.best]
    groups = [
        ResultGroup("Go to", destinations(request, words)),
        ResultGroup("Saved views", view_hits(visible_views(request), words)[:MAX_GROUP_HITS]),
        _group("Audiences", audience_hits(audiences.best), audiences.total, words),
        _group("Pages", page_hits, pages.total, words, url=reverse("page-list")),
        _group("Webhooks", [*map(subscription_hit, webhooks.best)], webhooks.total, words),
        _group(
            "Releases", releases[:MAX_GROUP_HITS], len(releases), words, url=reverse("release-list")
        ),
        ResultGroup("Comments", comment_hits(words, MAX_GROUP_HITS)),
        ResultGroup(commands, [*dict.fromkeys(actions), *searches(name or words)]),
    ]
    seen = {hit.url for hit in exact}
    rest = [
        replace(group, hits=[hit for hit in group.hits if hit.url not in seen]) for group in groups
    ]
    return [group for group in (ResultGroup("Exact ID match", exact), *rest) if group.hits]


def all_hits(kind: str, words: str, start: int) -> ResultPage:
    """Return one page of all audiences or webhooks that match the words."""
    if kind == "webhooks":
        webhooks = find.search_subscriptions(words, start + PAGE_SIZE)
        hits, total = [*map(subscription_hit, webhooks.best[start:])], webhooks.total
    else:
        audiences = find.search_audiences(words, PAGE_SIZE, start=start)
        hits, total = audience_hits(audiences.best), audiences.total
    last = start + len(hits)
    return ResultPage(
        ResultGroup(kind.capitalize(), hits, total),
        first=start + 1,
        last=last,
        previous=max(start - PAGE_SIZE, 0) if start else None,
        next=last if start < last < total else None,
    )


def initial_groups(request: Request) -> list[ResultGroup]:
    pins = get_preferences(request.user).pins
    unpinned = [visit for visit in recent_visits(request) if visit not in pins]
    groups = [
        ResultGroup("Pinned", visit_hits(pins)),
        ResultGroup("Recently visited", visit_hits(unpinned)),
        ResultGroup("Go to", destinations(request, "")),
    ]
    return [group for group in groups if group.hits]


def _group(label: str, hits: list[Hit], total: int, words: str, *, url: str = "") -> ResultGroup:
    """Return a group, with a link to all hits if there are more than `hits`."""
    if total <= len(hits):
        return ResultGroup(label, hits)
    return ResultGroup(label, hits, total, link_to_all(label, total, words, url=url))


def person_group(people: ListEnvelope[Person], words: str) -> ResultGroup:
    """Return people. Each links to a search in the list, as people have no pages."""
    list_url = reverse("people-list")
    hits = []
    for person in people.items:
        query = person.email or person.slug or person.name or person.phone_number or ""
        url = f"{list_url}?{urlencode({'q': query})}"
        hits.append(Hit("person", person.name or "No name", url, note=person.email or ""))
    return _group("People", hits, people.total_count, words, url=list_url)
