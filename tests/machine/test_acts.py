"""The ten acts through each interface: what they return, and what they never do."""

import pytest
from django.contrib.auth.models import User

from dashboard.approvals.models import ApprovalRequest
from dashboard.ledger.models import AudienceRecord, Operation
from dashboard.notifications.preferences import follow
from dashboard.notifications.recipients import notify_pending
from dashboard.releases.approval_requests import approve
from dashboard.releases.models import Release
from dashboard.releases.worker import run_pending
from tests.conftest import logged_in
from tests.support.clock import Clock
from tests.support.html import page_html, text
from tests.support.machines import INTERFACES, JsonInterface, McpInterface, ids, new_token, planned
from tests.support.many_audiences import Key
from tests.support.operations import operation
from tests.support.release_service import PublishingAudiences, responds, work


@pytest.mark.parametrize("name", INTERFACES)
def test_a_machine_gets_from_search_to_request(name: str, paula: User, key: Key) -> None:
    interface = INTERFACES[name](new_token(paula))
    status, results = interface.act("find", query="aud")
    assert status == 200, results
    assert [(row["page_id"], row["audience_id"]) for row in results["items"]] == [key]
    status, audience = interface.act("read_audience", **ids(key))
    assert status == 200, audience
    status, difference = interface.act("diff", **ids(key))
    assert status == 200, difference
    plan = planned(interface, key, note="New prices")
    status, state = interface.act("request", plan=plan["plan"], digest=plan["digest"])
    assert status == 200, state
    assert state["outcome"] == "waiting_for_approval"
    assert "nightly" in state["by"]
    status, state = interface.act("status", plan=plan["plan"])
    assert state["outcome"] == "waiting_for_approval"
    status, lines = interface.act("activity")
    assert (status, lines["items"]) == (200, [])
    status, state = interface.act("cancel", plan=plan["plan"])
    assert (status, state["outcome"], state["state"]) == (200, "failed", "canceled")


@pytest.mark.parametrize("status", ["rejected", "rejected-first"])
def test_a_search_for_rejected_versions_includes_first_ones(
    interface: JsonInterface, key: Key, status: str
) -> None:
    interface.act("read_audience", **ids(key))
    AudienceRecord.objects.update(live_status=status)
    [row] = interface.act("find", live_status="rejected")[1]["items"]
    assert row["live_status"] == status
    assert interface.act("find", live_status="changed")[1]["items"] == []


def test_a_published_plan_is_sent_once(
    interface: JsonInterface, key: Key, service: PublishingAudiences
) -> None:
    plan = planned(interface, key)
    assert service.sent == []
    status, state = interface.act("publish", plan=plan["plan"], digest=plan["digest"])
    assert (status, state["outcome"]) == (200, "running")
    run_pending("worker-1")
    assert service.audiences_sent == [key[1]]
    _, lines = interface.act("activity")
    [line] = lines["items"]
    assert (line["person"], line["by"]) == ("paula", "by token nightly, script 1.0")


def test_activity_names_and_filters_what_machines_did(
    interface: JsonInterface, key: Key, service: PublishingAudiences, paula: User
) -> None:
    plan = planned(interface, key)
    interface.act("publish", plan=plan["plan"], digest=plan["digest"])
    run_pending("worker-1")
    browser, by = logged_in(paula), "by token nightly, script 1.0"
    for url in (
        "/activity/",
        "/activity/?by=machines",
        f"/activity/{Operation.objects.get().operation_key}/",
        f"/releases/{plan['plan']}/",
    ):
        assert by in " ".join(browser.get(url).text.split()), url
    assert b"by token" in b"".join(browser.get("/activity/export.csv").streaming_content)
    operation(paula, "by-hand")
    listed = browser.get("/activity/?by=machines").text
    assert "1 operation " in " ".join(listed.split())


def test_each_act_names_the_token_that_did_it(
    key: Key, service: PublishingAudiences, paula: User, peter: User
) -> None:
    planner = JsonInterface(new_token(paula, name="nightly"), agent="script 1.0")
    agent = McpInterface(new_token(paula, name="helper", is_agent=True), agent="Claude 2")
    publisher = JsonInterface(new_token(paula, name="deploy"), agent="pipeline 7")
    plan = planned(planner, key)
    decision = {"plan": plan["plan"], "digest": plan["digest"]}
    assert plan["by"] == "by token nightly, script 1.0"
    _, state = agent.act("request", **decision)
    assert state["by"] == "by token helper (agent), Claude 2"
    approval, browser = ApprovalRequest.objects.get(), logged_in(peter)
    page = text(browser.get(f"/approvals/{approval.pk}/").text)
    assert "by token helper (agent), Claude 2" in page
    head = text(browser.get(f"/releases/{plan['plan']}/").text)
    assert "by token nightly, script 1.0" in head
    assert "Approval requested by paula by token helper (agent), Claude 2" in head
    planner.act("cancel", plan=plan["plan"])
    approval.refresh_from_db()
    assert approval.end_reason == "paula canceled the release by token nightly, script 1.0."
    plan = planned(planner, key)
    publisher.act("publish", plan=plan["plan"], digest=plan["digest"])
    run_pending("worker-1")
    [line] = planner.act("activity")[1]["items"]
    assert (line["by"], line["plan"]) == ("by token deploy, pipeline 7", plan["plan"])
    expanded = text(page_html(browser, f"/activity/releases/{plan['plan']}/", "release-1"))
    assert "Decided by paula by token deploy, pipeline 7" in expanded
    assert "Planned by paula by token nightly, script 1.0" in expanded


def test_a_person_who_publishes_a_plan_is_named_alone(
    interface: JsonInterface, key: Key, service: PublishingAudiences, paula: User
) -> None:
    plan = planned(interface, key)
    decision = {"shown": plan["digest"], "typed": ""}
    url = f"/releases/{plan['plan']}/publish/"
    assert logged_in(paula).post(url, decision).status_code == 302
    run_pending("worker-1")
    [line] = interface.act("activity")[1]["items"]
    assert (line["person"], line["by"]) == ("paula", "")


def test_notices_name_the_token_beside_the_person(
    interface: JsonInterface, key: Key, paula: User, peter: User, clock: Clock
) -> None:
    follow(peter, *key)
    plan = planned(interface, key, name="Prices")
    interface.act("publish", plan=plan["plan"], digest=plan["digest"])
    work(Release.objects.get(), clock)
    name, by = "Name of aud_1", "by token nightly, script 1.0"
    assert f"paula published version 2 of {name} {by}: accepted" in notices(peter)
    assert f"The release Prices {by} is finished: 1 live" in notices(paula)


def test_notices_of_failures_name_the_token_too(
    interface: JsonInterface, key: Key, service: PublishingAudiences, paula: User, peter: User
) -> None:
    follow(peter, *key)
    service.way = responds(422, "Not now")
    plan = planned(interface, key, name="Prices")
    interface.act("publish", plan=plan["plan"], digest=plan["digest"])
    run_pending("worker-1")
    name, by = service.audiences[key]["effectiveName"], "by token nightly, script 1.0"
    assert f"Publishing version 2 of {name} {by} failed." in notices(peter)
    assert f"The release Prices {by} is finished with failures" in notices(paula)


def test_a_change_after_an_approval_names_the_token(
    interface: JsonInterface, key: Key, service: PublishingAudiences, paula: User, peter: User
) -> None:
    plan = planned(interface, key, name="Prices")
    interface.act("request", plan=plan["plan"], digest=plan["digest"])
    approval = ApprovalRequest.objects.get()
    approve(approval, peter, note="", displayed_digest=approval.digest)
    service.edit(key)
    run_pending("worker-1")
    assert "The release Prices by token nightly, script 1.0 is held" in notices(paula)


def notices(user: User) -> str:
    """Let a worker notify, and return the text of the user's notifications."""
    notify_pending("worker-1")
    return text(logged_in(user).get("/notifications/").text)


def test_a_comment_names_the_program_beside_the_person(
    interface: JsonInterface, key: Key, paula: User
) -> None:
    status, body = interface.act("comment", **ids(key), body="Prices checked.")
    assert (status, body["person"], body["by"]) == (200, "paula", "by token nightly, script 1.0")
    page = logged_in(paula).get(f"/pages/{key[0]}/audiences/{key[1]}/comments/").text
    assert "Prices checked." in page
    assert "By token nightly, script 1.0" in page
    assert interface.act("comment", **ids(key), body="x" * 4_000)[0] == 422


@pytest.mark.parametrize("name", INTERFACES)
def test_a_character_that_is_not_stored_is_named(name: str, paula: User, key: Key) -> None:
    interface = INTERFACES[name](new_token(paula))
    status, problem = interface.act("comment", **ids(key), body="Checked\0.")
    assert (status, problem["errors"]) == (
        422,
        [{"pointer": "#/body", "detail": "must not contain a NUL character"}],
    )
