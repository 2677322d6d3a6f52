"""What the palette and /find/ offer: places, things seen here, and what can be done with them.

All of it comes from the ledger; people alone are asked for, in a part of their own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from django.urls import reverse
from django.utils.http import urlencode

from dashboard.contract.people import Person
from dashboard.ledger.models import AudienceRecord, Operation, PageRecord, VersionRecord
from dashboard.ledger.queries import find
from dashboard.ledger.queries.audiences import IN_FLIGHT
from dashboard.ledger.queries.pages import page_names
from dashboard.web.recent import Visit

A_GROUP = 6
"""How many of each kind are offered at most."""
ACTED_ON = 2
"""For how many of the audiences found, what can be done is offered too."""
PLACES = (
    ("overview", "Overview", "overview"),
    ("page", "Pages", "page-list"),
    ("people", "People", "people-list"),
    ("webhook", "Webhooks", "subscription-list"),
    ("activity", "Activity", "operation-list"),
    ("theme", "Settings", "settings"),
)
VERB_FROM = 3
"""Characters of a verb that are enough to be taken for it."""
NAMED_AFTER_A_VERB = 50
"""Among how many audiences of a name those are looked for with which it can be done."""


@dataclass(frozen=True)
class Hit:
    """One thing to go to."""

    icon: str
    name: str
    address: str
    note: str = ""
    status: str = ""
    label: str = ""
    """What the status is called here, where its own word is not enough."""


@dataclass(frozen=True)
class Group:
    """Some hits of one kind."""

    label: str
    hits: list[Hit]


@dataclass(frozen=True)
class Rights:
    """What may be offered to a person."""

    publish: bool
    create_page: bool

    @property
    def verbs(self) -> tuple[str, ...]:
        """What can be done with an audience's latest version."""
        return ("publish", "compare") if self.publish else ("compare",)


def exact_hits(identifier: str) -> list[Hit]:
    """Return everything seen here with exactly this id."""
    found = find.identified(identifier)
    return [
        *map(page_hit, found.pages),
        *_audience_hits(found.audiences),
        *map(_version_hit, found.versions),
        *(_subscription_hit(one.subscription_id, str(one)) for one in found.subscriptions),
        *map(_operation_hit, found.operations),
    ]


def found_groups(words: str, exact: list[Hit], visits: list[Visit], rights: Rights) -> list[Group]:
    """Return what is found by words; `exact` is what has them for its id.

    A verb with nothing behind it is about what was visited.
    """
    audiences = find.audiences_named(words, A_GROUP)
    actions = [
        *_asked_for(words, visits, rights.verbs),
        *_actions(audiences[:ACTED_ON], rights.verbs),
    ]
    groups = [
        Group("With exactly this id", exact),
        Group("Go to", _places(words, rights)),
        Group("Audiences", _audience_hits(audiences)),
        Group("Pages", [page_hit(record, words) for record in find.pages_named(words, A_GROUP)]),
        Group("Webhooks", _subscription_hits(words)),
        Group("Commands", [*dict.fromkeys(actions), *_searches(words)]),
    ]
    seen = {hit.address for hit in exact}
    rest = [Group(g.label, [h for h in g.hits if h.address not in seen]) for g in groups[1:]]
    return [group for group in (groups[0], *rest) if group.hits]


def groups_to_begin_with(pins: list[Visit], visits: list[Visit], rights: Rights) -> list[Group]:
    """Return what is offered before any word: what is pinned, what was visited, the places."""
    groups = [
        Group("Pinned", hits_of(pins)),
        Group("Recently visited", hits_of([visit for visit in visits if visit not in pins])),
        Group("Go to", _places("", rights)),
    ]
    return [group for group in groups if group.hits]


def person_hits(people: Iterable[Person]) -> list[Hit]:
    """Return people, each as what finds them in the list: a person has no page of their own."""
    return [_person_hit(person) for person in people]


def hits_of(visits: list[Visit]) -> list[Hit]:
    """Return pages and audiences by their ids, in that order; those never seen are left out."""
    page_ids = [page_id for page_id, audience_id in visits if not audience_id]
    pages = find.pages_with(page_ids) if page_ids else {}
    audiences = find.audiences_with([visit for visit in visits if visit[1]])
    hits = {(page_id, ""): page_hit(record) for page_id, record in pages.items()}
    hits |= zip(audiences, _audience_hits([*audiences.values()]), strict=True)
    return [hits[visit] for visit in visits if visit in hits]


def page_hit(record: PageRecord, words: str = "") -> Hit:
    """Return a page; its title or id beside its name where those hold words that the name lacks."""
    address = reverse("page-detail", args=[record.page_id])
    name = record.name or record.page_id
    lacking = [word for word in words.casefold().split() if word not in name.casefold()]
    holding = [
        text
        for text in (record.title, record.page_id)
        if any(word in text.casefold() for word in lacking)
    ]
    return Hit("page", name, address, note=next(iter(holding), ""), status=record.status)


def audience_hit(record: AudienceRecord, page: str) -> Hit:
    """Return an audience of the page of that name, with the version that is live."""
    address = reverse("audience-detail", args=[record.page_id, record.audience_id])
    is_live = bool(record.live_version_id)
    return Hit(
        "audience",
        str(record),
        address,
        note=page,
        status="live" if is_live else record.latest_status,
        label=f"Version {record.live_version_number} live" if is_live else "",
    )


def _audience_hits(records: list[AudienceRecord]) -> list[Hit]:
    """Return audiences with the names of their pages: two of one name are told apart by them."""
    names = page_names([record.page_id for record in records]) if records else {}
    return [audience_hit(record, names.get(record.page_id, "")) for record in records]


def _version_hit(record: VersionRecord) -> Hit:
    address = reverse("version-list", args=[record.page_id, record.audience_id])
    name = f"Version {record.version_number}"
    return Hit("versions", name, f"{address}#v{record.version_number}", status=record.status)


def _subscription_hit(subscription_id: str, name: str) -> Hit:
    return Hit("webhook", name, reverse("subscription-detail", args=[subscription_id]))


def _operation_hit(operation: Operation) -> Hit:
    address = reverse("operation-detail", args=[operation.operation_key])
    name = " ".join(filter(None, [operation.title, operation.target_name]))
    return Hit("activity", name, address, status=operation.outcome)


def _subscription_hits(words: str) -> list[Hit]:
    found = find.subscriptions_named(words, A_GROUP)
    return [_subscription_hit(record.subscription_id, str(record)) for record in found]


def _person_hit(person: Person) -> Hit:
    known_by = person.email or person.slug or person.name or person.phone_number or ""
    address = f"{reverse('people-list')}?{urlencode({'q': known_by})}"
    return Hit("person", person.name or "Name not given", address, note=person.email or "")


def _places(words: str, rights: Rights) -> list[Hit]:
    places = [Hit(icon, name, reverse(address)) for icon, name, address in PLACES]
    if rights.create_page:
        places.append(Hit("plus", "Create page", reverse("page-create")))
    places.append(Hit("keyboard", "Keyboard shortcuts", f"{reverse('find')}#keys"))
    return [place for place in places if _begins_a_word(place.name, words)]


def _begins_a_word(name: str, words: str) -> bool:
    """Tell whether the words begin a name, or one of its words."""
    return f" {name.casefold()}".find(f" {words.casefold()}") >= 0 if words else True


def _asked_for(words: str, visits: list[Visit], verbs: tuple[str, ...]) -> list[Hit]:
    """Return what words such as "publish acme" or "pub" ask for; nothing without a verb."""
    first, _, named = words.partition(" ")
    begun = first.casefold().rstrip(".…")
    asked = tuple(verb for verb in verbs if len(begun) >= VERB_FROM and verb.startswith(begun))
    if not asked:
        return []
    audiences = find.audiences_named(named, NAMED_AFTER_A_VERB) if named else _visited(visits)
    return list(islice(_actions(audiences, asked), A_GROUP))


def _visited(visits: list[Visit]) -> list[AudienceRecord]:
    """Return the audiences among what was visited, in that order; one query at most."""
    found = find.audiences_with([visit for visit in visits if visit[1]])
    return [found[visit] for visit in visits if visit in found]


def _actions(audiences: list[AudienceRecord], verbs: tuple[str, ...]) -> Iterable[Hit]:
    for record in audiences:
        ids = (record.page_id, record.audience_id)
        if not record.latest_version_id or record.latest_version_id == record.live_version_id:
            continue
        if "publish" in verbs and record.latest_status not in (*IN_FLIGHT, "cancelled"):
            address = reverse("version-publish", args=[*ids, record.latest_version_id])
            name = f"Publish version {record.latest_version_number} of {record}…"
            yield Hit("publish", name, address, note="Asks first")
        if "compare" in verbs and record.live_version_id:
            numbers = f"{record.live_version_number} with {record.latest_version_number}"
            chosen = {"from": record.live_version_id, "to": record.latest_version_id}
            address = f"{reverse('version-compare', args=ids)}?{urlencode(chosen)}"
            yield Hit("compare", f"Compare {numbers}, {record}", address)


def _searches(words: str) -> list[Hit]:
    """Return the full searches, so that there is always somewhere to go on."""
    query = urlencode({"q": words})
    return [
        Hit("search", f"All pages with “{words}”", f"{reverse('page-list')}?{query}"),
        Hit("people", f"All people with “{words}”", f"{reverse('people-list')}?{query}"),
    ]
