"""Every change goes through one function, and none without permission or approval.

The paths are found in the code, from the client's methods that change something up to the callers
of `send`. A new path fails this test until PATHS has a way to try it.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard.approvals import changes
from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.client import NoResponseError
from dashboard.client import client as client_module
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import Attempt, SubscriptionRecord
from dashboard.ledger.operations import end
from dashboard.ledger.subscriptions import record_subscription
from dashboard.operations import approved_changes
from dashboard.operations.checking import PublishTarget
from dashboard.operations.execution import attempt_result_for
from dashboard.operations.publish import begin_publish
from dashboard.operations.resending import resend
from dashboard.releases.worker import run_pending
from dashboard.service.reading import read_audience
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements
from tests.support.release_service import PublishingAudiences, checked_release, decide
from tests.support.seeding import seed_rule
from tests.support.webhook_service import WebhookService

CODE = Path(client_module.__file__).parent.parent
SEND = "dashboard.operations.execution.send"


@dataclass
class Service(PublishingAudiences):
    """Has audiences and one webhook, and accepts new pages."""

    webhooks: WebhookService = field(default_factory=WebhookService)
    pages_created: int = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PATCH":
            return self.webhooks(request)
        if request.method == "POST" and request.url.path.endswith("/pages"):
            self.pages_created += 1
            body = json.loads(request.content)
            return httpx.Response(200, json=wire.page(pageId="page_new") | body)
        return super().__call__(request)

    @property
    def changes(self) -> int:
        """Number of changes that have arrived."""
        return len(self.sent) + len(self.webhooks.changes) + self.pages_created


@dataclass
class Scenario:
    """A service, a user with every permission, and the rule, which a path turns on halfway."""

    service: Service
    user: User
    client: Client
    approver: User
    turn_on: Callable[[], None]

    def approved(self, approval: ApprovalRequest) -> ApprovalRequest:
        """Mark a request as approved, even if the rule wouldn't let the approver approve it."""
        approval.state, approval.decided_by = RequestState.APPROVED, self.approver
        approval.decided_at = timezone.now()
        approval.save()
        return approval

    def form(self, address: str, *, after: str = "<body") -> dict[str, Any]:
        """Return what a browser would send from a page's first form after this text."""
        data: dict[str, Any] = {}
        html = self.client.get(address).text.split(after, 1)[1]
        for element in elements(html.split("</form>", 1)[0] if after != "<body" else html, "input"):
            source = element.attributes
            is_box = source.get("type") in ("checkbox", "radio")
            if "name" in source and (not is_box or "checked" in source):
                data[source["name"]] = source.get("value", "")
        return data


def publish_now(scenario: Scenario) -> None:
    [(page_id, audience_id)] = scenario.service.add()
    address = f"/pages/{page_id}/audiences/{audience_id}/versions/ver_{audience_id}_2/publish/"
    form = scenario.form(address)
    scenario.turn_on()
    scenario.client.post(address, form)


def roll_back(scenario: Scenario) -> None:
    [key] = scenario.service.add()
    page_id, audience_id = key
    read_audience(page_id, audience_id)
    scenario.service.go_live(key, f"ver_{audience_id}_2")
    address = f"/pages/{page_id}/audiences/{audience_id}/versions/ver_{audience_id}_1/rollback/"
    form = scenario.form(address)
    scenario.turn_on()
    scenario.client.post(address, form)


def run_a_release(scenario: Scenario) -> None:
    release = checked_release(scenario.service.add(), scenario.user)
    decide(release, scenario.user)
    scenario.turn_on()
    run_pending("worker")


def send_again(scenario: Scenario) -> None:
    [(page_id, audience_id)] = scenario.service.add()
    operation, attempt = begin_publish(
        PublishTarget(page_id, audience_id, f"ver_{audience_id}_2"),
        operation_key="key",
        version=None,
        live=None,
        audience_name="",
        actor=scenario.user,
    )
    assert attempt
    operation = end(attempt, attempt_result_for(NoResponseError("Silent")))
    scenario.turn_on()
    resend(operation, actor=scenario.user)


def edit_a_webhook(scenario: Scenario) -> None:
    form = scenario.form("/webhooks/whs_1/", after="data-edit>") | {
        "url": "https://hooks.example/v2"
    }
    form |= {"shown": json.dumps({"url": form["url"]}), "operation_key": str(uuid4())}
    scenario.turn_on()
    scenario.client.post("/webhooks/whs_1/", form)


def switch_a_webhook(scenario: Scenario) -> None:
    active = "off" if scenario.service.webhooks.held["active"] else "on"
    data = {"active": active, "confirmed": "1", "operation_key": str(uuid4())}
    scenario.turn_on()
    scenario.client.post("/webhooks/whs_1/active/", data)


NEW_PAGE = {"name": "Spring", "brandId": "brand_1", "pageContext": "For carriers."}
WHOLE_PAGE = NEW_PAGE | {"actions": [], "actionCardWidgets": [], "scripts": []}


def create_a_page(scenario: Scenario) -> None:
    form = scenario.form("/pages/new/") | NEW_PAGE | {"pageType": "outbound"}
    scenario.turn_on()
    scenario.client.post("/pages/new/", form)


def send_a_requested_update(scenario: Scenario) -> None:
    record = SubscriptionRecord.objects.get()
    body = {"url": "https://hooks.example/v2"}
    approval = changes.request_update(
        record, body, operation_key=str(uuid4()), note="", user=scenario.user
    )
    scenario.turn_on()
    approved_changes.send_approved(scenario.approved(approval))


def send_a_requested_page(scenario: Scenario) -> None:
    approval = changes.request_page(
        WHOLE_PAGE, operation_key=str(uuid4()), note="", user=scenario.user
    )
    scenario.turn_on()
    approved_changes.send_approved(scenario.approved(approval))


PATHS: dict[str, Callable[[Scenario], None]] = {
    "dashboard.operations.publish.publish_reviewed": publish_now,
    "dashboard.operations.publish.publish_reviewed rollback": roll_back,
    "dashboard.web.webhooks.edit_views._save": edit_a_webhook,
    "dashboard.web.pages.create_views._create": create_a_page,
    "dashboard.releases.sending.send_item": run_a_release,
    "dashboard.operations.resending.resend": send_again,
    "dashboard.operations.subscription_update.execute_switch": switch_a_webhook,
    "dashboard.operations.approved_changes.send_approved": send_a_requested_update,
    "dashboard.operations.approved_changes.send_approved (page)": send_a_requested_page,
}
"""How to reach each function that calls `send`. Some are reached in two ways."""


@pytest.fixture
def scenario(fake_service: FakeService, ada: User) -> Scenario:
    """Ada has every permission, but no approval."""
    ada.groups.add(Group.objects.get(name="Publishers"))
    fake_service.answer = service = Service()
    record_subscription(WebhookSubscription.model_validate(service.webhooks.held), label="CRM")
    return Scenario(service, ada, logged_in(ada), approver=ada, turn_on=turn_on)


def turn_on() -> None:
    seed_rule(
        covers_publishing=True, covers_rollbacks=True, covers_webhooks=True, covers_pages=True
    )


@cache
def sources() -> dict[str, str]:
    """Return the source of each module that may call the client, by its dotted name."""
    paths = {
        ".".join(path.relative_to(CODE.parent).with_suffix("").parts): path
        for path in sorted(CODE.rglob("*.py"))
    }
    outside = ("dashboard.client.", "dashboard.embedded_api.")
    return {name: path.read_text() for name, path in paths.items() if not name.startswith(outside)}


def modules_naming(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the syntax tree of each module that contains all of these words."""
    for name, source in sources().items():
        if all(word in source for word in words):
            yield name, parsed(name)


@cache
def parsed(name: str) -> ast.Module:
    return ast.parse(sources()[name])


def callers_of(dotted: str) -> set[str]:
    """Return the functions that call the given one, in any module that imports or defines it."""
    module_name, _, function = dotted.rpartition(".")
    names = set()
    for name, tree in modules_naming(function):
        known_as = _names_of(tree, module_name, function, is_home=name == module_name)
        for scope in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            called = {
                ast.unparse(node.func) for node in ast.walk(scope) if isinstance(node, ast.Call)
            }
            if called & known_as:
                names.add(f"{name}.{scope.name}")
    return names


def _names_of(tree: ast.Module, module_name: str, function: str, *, is_home: bool) -> set[str]:
    """Return the names under which a module can call a function of another module or its own."""
    names = {function} if is_home else set()
    package, _, module = module_name.rpartition(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (node.module, alias.name) == (module_name, function):
                    names.add(alias.asname or alias.name)
                if (node.module, alias.name) == (package, module):
                    names.add(f"{alias.asname or alias.name}.{function}")
        if isinstance(node, ast.Import):
            names |= {f"{alias.asname or alias.name}.{function}" for alias in node.names}
    return names


def writes_of_the_client() -> set[str]:
    """Return the client's methods that change something, such as `pages.create`."""
    tree = ast.parse(Path(client_module.__file__).read_text())
    resources = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    attributes = dict(re.findall(r"self\.(\w+) = (\w+)\(", ast.unparse(tree)))
    return {
        f"{attribute}.{method.name}"
        for attribute, name in attributes.items()
        for method in resources.get(name, ast.Module([], [])).body
        if isinstance(method, ast.FunctionDef) and "method=" in ast.unparse(method)
    }


def test_only_send_reaches_a_change_at_the_service() -> None:
    writes = writes_of_the_client()
    assert writes == {"pages.create", "audiences.publish", "webhook_subscriptions.update"}
    reached = {
        f"{name}.{scope.name}"
        for write in writes
        for name, tree in modules_naming(*write.split("."))
        for scope in ast.walk(tree)
        if isinstance(scope, ast.FunctionDef)
        for node in ast.walk(scope)
        if isinstance(node, ast.Attribute) and node.attr == write.rpartition(".")[2]
        if ast.unparse(node).endswith(write)
    }
    update = "dashboard.service.subscriptions.update_subscription"
    call = "dashboard.operations.execution._call_service"
    fetch = "dashboard.service.subscriptions.fetch_subscription"
    assert reached == {call, update}
    assert callers_of(update) == {call, fetch}
    assert callers_of(call) == {SEND}


def test_a_webhook_is_read_by_an_empty_change() -> None:
    source = (CODE / "service" / "subscriptions.py").read_text()
    assert re.findall(r"(?<!def )update_subscription\(([^)]*\)?)\)", source) == [
        "subscription_id, SubscriptionPatch()"
    ]


def test_every_caller_of_send_is_tested() -> None:
    assert callers_of(SEND) == {path.split()[0] for path in PATHS}


@pytest.mark.parametrize("path", PATHS)
def test_without_an_approval_nothing_is_sent(scenario: Scenario, path: str) -> None:
    PATHS[path](scenario)
    assert scenario.service.changes == 0


@pytest.mark.parametrize("path", PATHS)
def test_without_the_right_nothing_is_sent(scenario: Scenario, path: str) -> None:
    def lose_right(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        if sql.startswith("INSERT") and "ledger_attempt" in sql:
            scenario.user.groups.clear()
        return execute(sql, *arguments)

    scenario.turn_on = lambda: None
    scenario.approver = person("peter", "Publishers", "Administrators")
    with connection.execute_wrapper(lose_right):
        PATHS[path](scenario)
    assert scenario.service.changes == 0
    assert Attempt.objects.filter(message__startswith="ada may no longer").exists()


@pytest.mark.parametrize("path", PATHS)
def test_without_the_rule_one_change_is_sent(scenario: Scenario, path: str) -> None:
    scenario.turn_on = lambda: None
    scenario.approver = person("peter", "Publishers", "Administrators")
    PATHS[path](scenario)
    assert scenario.service.changes == 1
