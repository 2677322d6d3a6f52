"""Three people review one list: no decision misses what others did, or a changed text.

Each history is random: steps through the list, narrowed by assignee or not, decisions,
assignments, takeovers, dialogs left open, publishes with any outcome, edits and publishes from
outside, and jumps of the clock. A text is only decided on or published as its user saw it. Set
HISTORIES to run more histories, HISTORY to run one by its seed.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction

from dashboard.comments.assignees import assign
from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.live.presence import holder_at, place_of, take_over
from dashboard.operations.checking import PublishTarget
from dashboard.operations.publish import OvertakenError, has_changed, publish_reviewed
from dashboard.operations.publish_review import review_publish
from dashboard.review.decisions import (
    DecidedError,
    decide,
    deciding,
    last_of_run,
    read_basis,
    undo,
    version_digest,
)
from dashboard.review.models import AssignedTo, DecisionKind, ReviewDecision, ReviewRun
from dashboard.review.runs import begin_run, go_to_next, read_queue
from tests.conftest import person
from tests.support.clock import Clock, stopped
from tests.support.fake_service import FakeService
from tests.support.histories import run_histories
from tests.support.many_audiences import Key
from tests.support.release_service import (
    KilledError,
    PublishingAudiences,
    Way,
    accepts,
    fails,
    kills,
    responds,
)

PEOPLE, AUDIENCES, STEPS = 3, 4, 30
WAYS: list[Way] = [
    *[accepts] * 4,
    responds(409, "No"),
    fails(httpx.ReadTimeout, is_carried_out=True),
    kills(is_carried_out=True),
    kills(is_carried_out=False),
]
KINDS = [kind for kind in DecisionKind if kind != DecisionKind.RELEASE]


@dataclass
class Page:
    """An item as a person sees it."""

    key: Key
    shown: str
    text: str
    opened_at: int


@dataclass
class Reviewer:
    """A person, their open page, and their open dialog, if any."""

    user: User
    run: ReviewRun
    page: Page | None = None
    dialog: tuple[PublishTarget, str, str] | None = None
    """The version, the digest of the dialog, and the digest of the text."""


@dataclass
class Acts:
    """Publishes and shared decisions, in order."""

    now: int = 0
    done: list[tuple[int, Key, int, int | None]] = field(default_factory=list)
    """Step, audience, user, and the decision; None for a publish."""

    def add(self, key: Key, user: User, decision: ReviewDecision | None = None) -> None:
        self.now += 1
        self.done.append((self.now, key, user.pk, decision.pk if decision else None))

    def take_back(self, decision: ReviewDecision) -> None:
        """Remove an undone decision. Pages opened before it are accurate again."""
        self.done = [act for act in self.done if act[3] != decision.pk]

    def by_others(self, key: Key, user: User, *, since: int) -> bool:
        return any(at > since and key == on and by != user.pk for at, on, by, _ in self.done)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_each_item_is_decided_once(
    fake_service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_histories(lambda seed: History(seed, fake_service, monkeypatch).run(), count=12)


class History:
    def __init__(self, seed: int, fake: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
        ReviewRun.objects.all().delete()
        ReviewDecision.objects.all().delete()
        AudienceRecord.objects.all().delete()
        User.objects.all().delete()
        cache.clear()
        self.random, self.acts = Random(seed), Acts()
        self.clock: Clock = stopped(monkeypatch)
        fake.answer = self.service = PublishingAudiences()
        self.service.way = self.arrives
        self.keys = self.service.add(AUDIENCES)
        self.sending: str | None = None
        self.people = [self._reviewer(f"person{n}") for n in range(PEOPLE)]

    def _reviewer(self, name: str) -> Reviewer:
        user = person(name, "Publishers")
        run = begin_run(
            user, title="All", query="", keys=self.keys, matches=len(self.keys), form_key=None
        )
        return Reviewer(user, run)

    def run(self) -> None:
        acts = [self.open, self.next, self.narrow, self.assign, self.decide, self.decide,
                self.undo, self.take_over,
                self.open_dialog, self.press, self.press, self.edit, self.rewrite,
                self.publish_outside, self.crawl, self.jump]  # fmt: skip
        for _ in range(STEPS):
            self.random.choice(acts)(self.random.choice(self.people))

    def open(self, who: Reviewer, key: Key | None = None) -> None:
        """Read an item like its page."""
        key = key or self.random.choice(self.keys)
        self.crawl(who)
        record = audience_last_known(*key)
        assert record
        version = record.audience.latest_version
        text = version_digest(version)
        who.page = Page(key, read_basis(record, who.user.pk).digest, text, self.acts.now)

    def next(self, who: Reviewer, *, may_stay: bool = False) -> None:
        number = self.keys.index(who.page.key) + 1 if who.page else 0
        queue = read_queue(who.run)
        item = go_to_next(queue, number, may_decide=True, may_stay=may_stay)
        if item:
            assert holder_at(item.place, but=who.user.pk) is None
            assert self.is_selected(who, item.key)
            self.open(who, item.key)
        else:
            free = [other for other in queue.items if other.is_open and not other.holder]
            others = [other for other in free if may_stay or other.number != number]
            assert not any(self.is_selected(who, other.key) for other in others)

    def is_selected(self, who: Reviewer, key: Key) -> bool:
        """Return whether a review is narrowed to this audience, or not at all."""
        assignee_id = AudienceRecord.objects.get(page_id=key[0], audience_id=key[1]).assignee_id
        wanted = {AssignedTo.ANYONE: assignee_id, AssignedTo.VIEWER: who.user.pk}
        return assignee_id == wanted.get(AssignedTo(who.run.assigned_to))

    def narrow(self, who: Reviewer) -> None:
        who.run.assigned_to = self.random.choice(AssignedTo.values)
        who.run.save(update_fields=["assigned_to"])
        self.next(who, may_stay=True)

    def assign(self, who: Reviewer) -> None:
        users = [None, *(reviewer.user for reviewer in self.people)]
        keys = self.random.sample(self.keys, self.random.randrange(1, AUDIENCES))
        assign(who.user, keys, self.random.choice(users))

    def decide(self, who: Reviewer) -> None:
        if not who.page:
            return
        page, kind = who.page, self.random.choice(KINDS)
        try:
            with deciding(who.run, page.key, who.user, page.shown) as basis:
                decision = decide(who.run, basis, who.user, kind)
        except DecidedError:  # the page shows why
            self.open(who, page.key)
            return
        assert decision.text_digest == page.text, "decided on another text than was shown"
        assert not self.acts.by_others(page.key, who.user, since=page.opened_at)
        if decision.is_shared:
            self.acts.add(page.key, who.user, decision)

    def undo(self, who: Reviewer) -> None:
        if decision := last_of_run(who.run):
            with transaction.atomic():
                is_undone = undo(decision)
            if is_undone:
                self.acts.take_back(decision)

    def take_over(self, who: Reviewer) -> None:
        if who.page:
            take_over(who.user.pk, who.run.tab, place_of("audience", *who.page.key))
            assert holder_at(place_of("audience", *who.page.key), but=who.user.pk) is None

    def open_dialog(self, who: Reviewer) -> None:
        if who.page and (record := audience_last_known(*who.page.key)):
            target = PublishTarget(*who.page.key, record.latest_version_id)
            review = review_publish(target, with_conversation=True)
            who.dialog = target, review.display_digest, version_digest(review.snapshot.version)

    def press(self, who: Reviewer) -> None:
        """Publish with a dialog that may have been open for a long time."""
        if not who.dialog:
            return
        target, shown, text = who.dialog
        who.dialog = None
        review = review_publish(target, with_conversation=False)
        if has_changed(review, shown) or review.is_off or (review.last and review.last.is_open):
            return
        self.sending = text
        try:
            operation = publish_reviewed(review, actor=who.user)
        except (OvertakenError, KilledError):
            return
        finally:
            self.sending = None
        if operation.outcome == "accepted":
            self.acts.add((target.page_id, target.audience_id), who.user)

    def arrives(self, service: PublishingAudiences, key: Key, version_id: str) -> httpx.Response:
        """Check that the service receives the text that the dialog showed."""
        sent = service.find(key, version_id)
        text = (sent["versionId"], sent["supplementaryContext"], sent.get("isNewPageAgent"))
        assert version_digest(AudienceVersion.model_validate(sent)) == self.sending, text
        return self.random.choice(WAYS)(service, key, version_id)

    def edit(self, _: Reviewer) -> None:
        self.service.edit(self.random.choice(self.keys))

    def rewrite(self, _: Reviewer) -> None:
        """Change the text of a latest version without a new version."""
        latest = self.service.audiences[self.random.choice(self.keys)]["latestVersion"]
        latest["supplementaryContext"] += f" And {self.random.randrange(100)} vans."

    def publish_outside(self, _: Reviewer) -> None:
        key = self.random.choice(self.keys)
        self.service.carry_out(key, self.service.audiences[key]["latestVersion"]["versionId"])

    def crawl(self, _: Reviewer) -> None:
        self.service.record()

    def jump(self, _: Reviewer) -> Any:
        self.clock.advance(
            timedelta(seconds=self.random.choice([1, 20, 200, 4_000, -5])).total_seconds()
        )
