"""After random edits of a draft, its order, review marks and checks are consistent."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.releases import decisions, drafting
from dashboard.releases.checking import check_release, read_items
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import board_digest, changes_since
from tests.releases.conftest import Draft
from tests.support.many_audiences import ManyAudiences

pytestmark = pytest.mark.django_db

numbers = st.integers(0, 7)
"""Index of an item, audience or version, modulo their number."""
edits = st.one_of(
    st.tuples(st.just("add"), numbers),
    st.tuples(st.just("remove"), numbers),
    st.tuples(st.just("move"), numbers, numbers),
    st.tuples(st.just("choose"), numbers, numbers),
    st.tuples(st.just("review"), numbers),
    st.tuples(st.just("check")),
    st.tuples(st.just("elsewhere"), numbers, st.sampled_from(["newer", "live", "text", "cancel"])),
)


class Story:
    """A draft under edits, with its expected order."""

    def __init__(self, release: Release, service: ManyAudiences, user: User) -> None:
        self.release, self.service, self.user = release, service, user
        self.keys = list(service.audiences)
        self.order = [item.audience_id for item in release.items.all()]
        self.seen_at_review: dict[str, tuple[Any, ...]] = {}

    def item(self, number: int) -> ReleaseItem | None:
        items = list(self.release.items.all())
        return items[number % len(items)] if items else None

    def add(self, number: int) -> None:
        key = self.keys[number % len(self.keys)]
        drafting.add_audiences(self.release, [key], self.user)
        self.order.append(key[1])

    def remove(self, number: int) -> None:
        if item := self.item(number):
            drafting.remove_item(item)
            self.order.remove(item.audience_id)

    def move(self, number: int, position: int) -> None:
        if item := self.item(number):
            drafting.move_item(item, position - item.position)
            self.order.remove(item.audience_id)
            self.order.insert(max(position, 1) - 1, item.audience_id)

    def choose(self, number: int, version: int) -> None:
        if item := self.item(number):
            drafting.choose_version(item, f"ver_{item.audience_id}_{1 + version % 4}")

    def review(self, number: int) -> None:
        if item := self.item(number):
            drafting.mark_reviewed(item, self.user, reviewed=True, displayed_digest=item.digest)
            self.seen_at_review[item.audience_id] = self.visible_fields(item)

    def check(self) -> None:
        check_release(self.release)

    def elsewhere(self, number: int, what: str) -> None:
        key = self.keys[number % len(self.keys)]
        audience = self.service.audiences[key]
        latest, live = audience["latestVersion"], audience["publishedVersion"]
        if what == "newer":
            newer = self.service.version(key, latest["versionNumber"] + 1)
            self.service.change(key, latestVersion=newer)
        elif what == "live":
            live = self.service.live(key, live["versionNumber"] + 1)
            self.service.change(key, publishedVersion=live)
        elif what == "text":
            text = latest["supplementaryContext"] + " More."
            self.service.change(key, latestVersion=latest | {"supplementaryContext": text})
        else:
            self.service.change(key, latestVersion=latest | {"status": "cancelled"})

    @staticmethod
    def visible_fields(item: ReleaseItem) -> tuple[Any, ...]:
        risks = [finding["headline"] for finding in item.findings if finding["severity"] != "note"]
        texts = (item.version.supplementary_context, item.live_version_id)
        return item.version_id, *texts, sorted(risks)

    def verify(self) -> None:
        items = list(self.release.items.all())
        assert [item.audience_id for item in items] == self.order
        assert [item.position for item in items] == list(range(1, len(items) + 1))
        for item in items:
            if item.reviewed_at:
                # Risks that have disappeared since then don't remove the mark.
                *texts, risks = self.visible_fields(item)
                *texts_then, risks_then = self.seen_at_review[item.audience_id]
                assert (texts, set(risks) <= set(risks_then)) == (texts_then, True)
        release = Release.objects.get(pk=self.release.pk)
        assert release.needs_check or all(item.digest for item in items)


@pytest.fixture
def start(draft: Draft, service: ManyAudiences, paula: User) -> Callable[[], Story]:
    """Starts a new story after deleting the rows of the last one."""

    def new() -> Story:
        Release.objects.all().delete()
        service.audiences.clear()
        keys = service.add(6)
        return Story(draft(keys=keys[:3]), service, paula)

    return new


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(edits, max_size=15))
def test_any_edits_keep_order_and_checks_consistent(
    start: Callable[[], Story], story: list[tuple[Any, ...]]
) -> None:
    edited = start()
    for name, *arguments in story:
        with suppress(ReleaseError):
            getattr(edited, name)(*arguments)
        edited.verify()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(edits, max_size=12), st.lists(edits, max_size=3))
def test_what_is_decided_on_is_what_was_shown(
    start: Callable[[], Story], story: list[tuple[Any, ...]], after: list[tuple[Any, ...]]
) -> None:
    """Either nothing has changed since the page was shown, or the decision is refused."""
    edited = start()
    for name, *arguments in story:
        with suppress(ReleaseError):
            getattr(edited, name)(*arguments)
    edited.check()
    digest = board_digest(edited.release)
    page = [(item.pk, edited.visible_fields(item)) for item in edited.release.items.all()]
    for name, *arguments in after:
        with suppress(ReleaseError):
            getattr(edited, name)(*arguments)
    sendable = sum(
        not any(f["severity"] == "stop" for f in item.findings)
        for item in edited.release.items.all()
    )
    with suppress(ReleaseError):
        decisions.publish(edited.release, edited.user, str(sendable), digest)
    release = Release.objects.get()
    if release.state == ReleaseState.DRAFT:
        return
    items = list(release.items.all())
    assert [(item.pk, edited.visible_fields(item)) for item in items] == page
    waiting = [item for item in items if item.state == ItemState.WAITING]
    reviews = read_items(waiting)
    for item in waiting:
        review = reviews[item.pk]
        is_same = review.digest == item.digest and not review.stop
        assert is_same or changes_since(item, review)
