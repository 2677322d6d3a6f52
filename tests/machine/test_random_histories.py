"""Random histories of machines and people: nothing is sent twice or without a decision.

HISTORIES sets how many run. HISTORY runs the one with that seed.
"""

import os
from random import Random
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.approvals.models import ApprovalRequest, ApprovalRule, RequestState
from dashboard.approvals.rule import current_rule, save_rule
from dashboard.limits import OF_PROCESS
from dashboard.machine.models import MachinePlan
from dashboard.releases.models import ReleaseItem
from dashboard.releases.worker import run_pending
from tests.conftest import logged_in
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.machines import JsonInterface, new_token
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences

SEEDS = [int(os.environ["HISTORY"])] if "HISTORY" in os.environ else None
STEPS = 25


class StrictService(PublishingAudiences):
    """Fails the test if a publish arrives twice or without a decision."""

    decided: set[int]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        response = super().__call__(request)
        if request.method == "POST":
            item = ReleaseItem.objects.select_related("release").get(
                operation_key=self.operation_keys[-1]
            )
            assert self.operation_keys.count(item.operation_key) == 1, "sent twice"
            assert item.release_id in self.decided, "nobody decided it"
            approval = item.release.approval
            if current_rule().covers_publishing:
                assert approval, "no approval"
                assert approval.state == RequestState.APPROVED
                assert approval.decided_by != approval.requested_by
        return response


class History:
    """One random history of two publishers, their tokens, and an administrator."""

    def __init__(self, seed: int, service: StrictService, people: dict[str, User]) -> None:
        self.random = Random(seed)
        self.service, self.people = service, people
        service.decided = set()
        self.keys: list[Key] = service.add(3)
        self.interfaces = [
            JsonInterface(new_token(people[name], is_agent=is_agent))
            for name in ("paula", "peter")
            for is_agent in (False, True)
        ]
        self.browsers: dict[str, Client] = {
            name: logged_in(people[name]) for name in ("paula", "peter")
        }
        self.plans: list[dict[str, Any]] = []

    def run(self, clock: Clock) -> None:
        """Take random steps, and let a worker finish."""
        steps = [self.plan, self.request, self.publish, self.cancel, self.decide, self.edit]
        steps += [self.work, self.work, self.switch_rule]
        for _ in range(STEPS):
            OF_PROCESS.clear()
            self.random.choice(steps)()
            clock.advance(self.random.choice([1, 5, 30]))
        self.work()

    def plan(self) -> None:
        page_id, audience_id = self.random.choice(self.keys)
        interface = self.random.choice(self.interfaces)
        versions = [{"page_id": page_id, "audience_id": audience_id}]
        status, plan = interface.act("plan", versions=versions)
        if status == 200:
            self.plans.append(plan)

    def request(self) -> None:
        self._act("request")

    def publish(self) -> None:
        interface, status, plan = self._act("publish")
        if status == 200:
            row = MachinePlan.objects.select_related("token").get(pk=plan["plan"])
            assert not current_rule().covers_publishing
            assert interface not in self.interfaces[1::2], "an agent published"
            self.service.decided.add(row.pk)

    def cancel(self) -> None:
        self._act("cancel")

    def _act(self, name: str) -> tuple[JsonInterface, int, dict[str, Any]]:
        interface = self.random.choice(self.interfaces)
        if not self.plans:
            return interface, 0, {}
        plan = self.random.choice(self.plans)
        arguments = {"plan": plan["plan"]}
        if name != "cancel":
            arguments |= {"digest": plan["digest"], "confirm": self.random.choice([None, 1])}
        return interface, interface.act(name, **arguments)[0], plan

    def decide(self) -> None:
        """Approve, decline, withdraw or publish a request in a browser, whoever requested it."""
        approvals = list(ApprovalRequest.objects.filter(state=RequestState.OPEN))
        if not approvals:
            return
        approval = self.random.choice(approvals)
        act = self.random.choice(["approve", "approve", "decline", "withdraw", "publish"])
        release = approval.releases.get()
        form = {"shown": approval.digest, "note": "No", "typed": "1"}
        browser = self.browsers[self.random.choice(["paula", "peter"])]
        is_done = browser.post(f"/approvals/{approval.pk}/{act}/", form).status_code == 302
        if is_done and act in ("approve", "publish"):
            self.service.decided.add(release.pk)

    def edit(self) -> None:
        self.service.edit(self.random.choice(self.keys))

    def work(self) -> None:
        run_pending("worker-1")

    def switch_rule(self) -> None:
        is_on = current_rule().covers_publishing
        rule = ApprovalRule(covers_publishing=not is_on, covers_rollbacks=not is_on)
        save_rule(rule, self.people["ada"])


@pytest.fixture
def people(paula: User, peter: User, ada: User) -> dict[str, User]:
    """Two publishers, and an administrator."""
    return {"paula": paula, "peter": peter, "ada": ada}


@pytest.mark.parametrize("part", range(4))
def test_machines_and_people_send_only_what_was_decided(
    part: int, fake_service: FakeService, people: dict[str, User], clock: Clock
) -> None:
    count = int(os.environ.get("HISTORIES", "12")) // 4
    seeds = SEEDS or range(part * count, (part + 1) * count)
    for seed in seeds:
        fake_service.answer = service = StrictService()
        History(seed, service, people).run(clock)
        reset()


def reset() -> None:
    """Delete the rows that would affect the next history."""
    for model in (MachinePlan, ApprovalRequest, ApprovalRule):
        model.objects.all().delete()
