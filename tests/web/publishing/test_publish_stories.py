"""Any sequence of clicks, reloads, kills and lost responses uses one key for one intent.

Hypothesis creates the stories. The service records the truth: which keys arrived, and which it
carried out. STORIES sets their number.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import count

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import OPEN
from dashboard.ledger.queries.audiences import outside_publications
from dashboard.service.client import close_publishing_client
from tests.conftest import logged_in
from tests.support.fake_service import FakeService
from tests.support.html import response_text, text
from tests.support.publish_dialog import form_in
from tests.support.publishing_service import (
    Killed,
    PublishingService,
    Way,
    accepts,
    answers,
    fails,
    garbage,
    killed,
    now,
)

WAYS: dict[str, Way] = {
    "accepted": accepts,
    "refused": answers(409, "No."),
    "failed, done": answers(500, carried_out=True),
    "failed, not done": answers(500),
    "garbage": garbage,
    "too slow, done": fails(httpx.ReadTimeout, carried_out=True),
    "too slow, not done": fails(httpx.ReadTimeout, carried_out=False),
    "cut, done": fails(httpx.ReadError, carried_out=True),
    "cut, not done": fails(httpx.RemoteProtocolError, carried_out=False),
    "never reached": fails(httpx.ConnectError, carried_out=False),
    "killed, done": killed(carried_out=True),
    "killed, not done": killed(carried_out=False),
}
TABS = ["paula, one", "paula, two", "root"]
DIALOG = {"HX-Request": "true", "HX-Target": "dialogs"}

ways = st.sampled_from(sorted(WAYS))
tabs = st.sampled_from(TABS)
serial = count()


class TruthfulService(PublishingService):
    """Records what it carried out, and fails if a second key arrives for an open intent."""

    def __init__(self, page_id: str) -> None:
        super().__init__()
        self.carried_out: set[str] = set()
        self.page_id = page_id

    def carry_out(self, request: httpx.Request) -> dict[str, object]:
        answer = super().carry_out(request)
        self.carried_out.add(self.keys[-1])
        return answer

    @property
    def status(self) -> str:
        """The status of the version to publish."""
        assert self.latest is not None
        return str(self.latest["status"])

    def __call__(self, request: httpx.Request) -> httpx.Response:
        expected = len(self.keys)
        try:
            return super().__call__(request)
        finally:
            for key in self.keys[expected:][:1]:
                others = Operation.objects.filter(page_id=self.page_id, outcome__in=OPEN)
                assert not others.exclude(operation_key=key).exists(), "two keys for one intent"


class PublishStory(RuleBasedStateMachine):
    """Users with three tabs and one version to publish."""

    people: dict[str, User]
    fake_service: FakeService

    @initialize()
    def begin(self) -> None:
        # Each story has its own page, as the ledger keeps everything. Clearing the cache resets
        # the circuit breaker, which may have seen an unreachable service in the last story.
        cache.clear()
        self.page_id = f"page_{next(serial)}"
        self.service = TruthfulService(self.page_id)
        self.fake_service.answer = self.service
        self.address = f"/pages/{self.page_id}/audiences/aud_1/versions/ver_2/publish/"
        self.tabs = {tab: logged_in(self.people[tab.split(",")[0]]) for tab in TABS}
        self.forms: dict[str, dict[str, str]] = {}
        self.is_published_elsewhere = False

    @rule(tab=tabs)
    def open_or_reload(self, tab: str) -> None:
        self.forms.pop(tab, None)
        page = self.tabs[tab].get(self.address, headers=DIALOG).text
        if 'name="operation_key"' in page:
            self.forms[tab] = form_in(page) | {"number": "2"}

    @rule(tab=tabs, way=ways, clicks=st.sampled_from([1, 1, 2]))
    def open_and_click(self, tab: str, way: str, clicks: int) -> None:
        self.open_or_reload(tab)
        for _ in range(clicks if tab in self.forms else 0):
            self.send(tab, WAYS[way])

    @precondition(lambda self: self.forms)
    @rule(data=st.data(), way=ways, clicks=st.sampled_from([1, 1, 2]))
    def click_what_is_open(self, data: st.DataObject, way: str, clicks: int) -> None:
        tab = data.draw(st.sampled_from(sorted(self.forms)))
        for _ in range(clicks):
            self.send(tab, WAYS[way])

    @precondition(lambda self: self.forms)
    @rule(data=st.data(), way=ways)
    def click_while_everyone_else_does(self, data: st.DataObject, way: str) -> None:
        tab = data.draw(st.sampled_from(sorted(self.forms)))

        def meanwhile(service: PublishingService, request: httpx.Request) -> httpx.Response:
            service.way = WAYS[way]
            for other in sorted(self.forms):
                self.send(other, WAYS[way])
                self.open_or_reload(other)
            return WAYS[way](service, request)

        self.send(tab, meanwhile)

    @precondition(lambda self: self.forms)
    @rule(data=st.data(), way=ways)
    def click_and_be_answered_when_nobody_waits_any_more(
        self, data: st.DataObject, way: str
    ) -> None:
        tab = data.draw(st.sampled_from(sorted(self.forms)))

        def late(service: PublishingService, request: httpx.Request) -> httpx.Response:
            self.time_passes_and_someone_looks()
            return WAYS[way](service, request)

        self.send(tab, late)

    @precondition(lambda self: self.forms)
    @rule(data=st.data())
    def click_while_the_service_is_away(self, data: st.DataObject) -> None:
        tab = data.draw(st.sampled_from(sorted(self.forms)))
        self.fake_service.fails(httpx.ConnectError)
        self.send(tab, accepts)
        self.fake_service.answer = self.service

    @rule()
    def time_passes_and_someone_looks(self) -> None:
        long_ago = timezone.now() - timedelta(minutes=10)
        Attempt.objects.filter(operation__in=self.operations()).update(sent_at=long_ago)
        self.tabs["root"].get("/activity/")

    @precondition(lambda self: self.unknown())
    @rule(tab=tabs)
    def check(self, tab: str) -> None:
        for key in self.unknown():
            self.tabs[tab].post(f"/activity/{key}/check/")

    @precondition(lambda self: self.unknown())
    @rule(tab=tabs, way=st.just("refused") | ways)
    def send_again(self, tab: str, way: str) -> None:
        self.service.way = WAYS[way]
        for key in self.unknown():
            with suppress(Killed):
                address = f"/activity/{key}/send-again/"
                answer = self.tabs[tab].post(address)
                if answer.status_code == 422:
                    form = form_in(answer.text) | {"number": "2"}
                    self.tabs[tab].post(address, form)

    @rule(tab=tabs)
    def the_dashboard_starts_again(self, tab: str) -> None:
        cache.clear()
        close_publishing_client()
        self.open_or_reload(tab)

    @precondition(lambda self: self.service.status in ("queued", "processing"))
    @rule(status=st.sampled_from(["processing", "published", "cancelled"]))
    def the_service_goes_on(self, status: str) -> None:
        self.service.moves_on(status)

    @precondition(lambda self: self.service.status == "draft" and not list(self.operations()))
    @rule()
    def someone_publishes_it_elsewhere(self) -> None:
        self.service.moves_on("queued", queuedAt=now())
        self.is_published_elsewhere = True

    def send(self, tab: str, way: Way) -> None:
        self.service.way = way
        operations = Operation.objects.count()
        arrived = len(self.service.keys)
        form, answer = self.forms[tab], None
        with suppress(Killed):
            answer = self.tabs[tab].post(self.address, form, headers=DIALOG)
        if answer is not None and answer.status_code == 422:
            assert "Something changed since you opened this form." in response_text(answer)
            assert len(self.service.keys) == arrived
        else:
            assert Operation.objects.filter(operation_key=form["operation_key"]).exists()
        assert Operation.objects.count() <= operations + 1
        assert len(self.service.keys) <= arrived + 1

    def operations(self) -> Iterator[Operation]:
        return Operation.objects.filter(page_id=self.page_id).iterator()

    def unknown(self) -> list[str]:
        return [o.operation_key for o in self.operations() if o.outcome == Outcome.UNKNOWN]

    @invariant()
    def what_arrived_is_on_record(self) -> None:
        assert set(self.service.keys) <= {o.operation_key for o in self.operations()}

    @invariant()
    def what_is_published_here_is_not_listed_as_published_elsewhere(self) -> None:
        if not self.is_published_elsewhere:
            assert not outside_publications().filter(page_id=self.page_id).exists()

    @invariant()
    def no_outcome_is_said_that_is_not_so(self) -> None:
        for operation in self.operations():
            was_carried_out = operation.operation_key in self.service.carried_out
            if operation.outcome == Outcome.ACCEPTED:
                assert was_carried_out
            if operation.outcome in (Outcome.REJECTED, Outcome.NOT_SENT):
                assert not was_carried_out

    @invariant()
    def the_page_says_what_is_on_record(self) -> None:
        if self.unknown():
            address = f"/activity/?outcome=unknown&target={self.page_id}"
            page = text(self.tabs["root"].get(address).text)
            assert page.count("Brightwater Foods Outcome unknown") == len(self.unknown())


@pytest.mark.django_db
def test_no_sequence_sends_two_keys(
    paula: User, fake_service: FakeService, pytestconfig: pytest.Config
) -> None:
    stories = 30 if pytestconfig.getoption("exhaustive") else 10
    root = User.objects.create_superuser("root", password="root")

    class Story(PublishStory):
        people = {"paula": paula, "root": root}

    Story.fake_service = fake_service
    limits = settings(
        max_examples=int(os.environ.get("STORIES", stories)),
        stateful_step_count=12,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Story, settings=limits)
