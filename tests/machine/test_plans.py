"""From a plan to what is sent: digests, keys, and what changed meanwhile."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.clock import CLAIM
from dashboard.comments.models import Comment
from dashboard.machine.models import KeyedRequest, MachinePlan
from dashboard.releases.models import Release, ReleaseItem
from dashboard.service.client import publishing_client, reads_only
from tests.conftest import logged_in
from tests.support.html import text
from tests.support.machines import JsonInterface, McpInterface, ids, new_token, planned
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences


def test_a_change_after_the_plan_is_named(
    interface: JsonInterface, key: Key, service: PublishingAudiences
) -> None:
    plan = planned(interface, key)
    latest = service.audiences[key]["latestVersion"] | {"supplementaryContext": "Something else."}
    service.change(key, latestVersion=latest)
    for act in ("request", "publish"):
        status, body = interface.act(act, plan=plan["plan"], digest=plan["digest"])
        assert (status, body["type"]) == (409, "/api/1/docs#changed")
        assert "Text of version 2" in [change["what"] for change in body["changes"]]
        assert "new plan" in body["next"]
    assert service.sent == []


def test_a_version_that_a_person_removed_is_named(
    interface: JsonInterface, paula: User, key: Key, service: PublishingAudiences
) -> None:
    _, plan = interface.act("plan", versions=[ids(key), *map(ids, service.add())])
    item = ReleaseItem.objects.filter(release=plan["plan"]).latest("pk")
    logged_in(paula).post(f"/releases/{plan['plan']}/items/{item.pk}/", {"action": "remove"})
    status, body = interface.act("request", plan=plan["plan"], digest=plan["digest"])
    assert (status, body["type"]) == (409, "/api/1/docs#changed")
    assert "The plan’s versions were edited" in body["detail"]


def test_each_version_that_cannot_be_planned_is_named(
    interface: JsonInterface, key: Key, service: PublishingAudiences
) -> None:
    [live] = service.add()
    service.go_live(live, service.audiences[live]["latestVersion"]["versionId"])
    service.record()
    missing, unknown = ids((key[0], "aud_9")), {**ids(live), "version_id": "ver_9"}
    versions = [ids(live), ids(key), missing, ids(live), ids(key), unknown]
    status, problem = interface.act("plan", versions=versions)
    errors = {error["pointer"]: error["detail"] for error in problem["errors"]}
    assert (status, errors) == (
        422,
        {
            "#/versions/0/version_id": "Nothing to publish: version 2 is already live.",
            "#/versions/2/audience_id": "Not found, or not visible to this token.",
            "#/versions/3/version_id": "Nothing to publish: version 2 is already live.",
            "#/versions/4/audience_id": "This audience is named twice.",
            "#/versions/5/version_id": "This version isn’t recorded here.",
        },
    )


def test_a_plan_needs_its_digest_and_lasts_a_day(interface: JsonInterface, key: Key) -> None:
    plan = planned(interface, key)
    assert interface.act("request", plan=plan["plan"], digest="0" * 64)[0] == 409
    MachinePlan.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    status, body = interface.act("request", plan=plan["plan"], digest=plan["digest"])
    assert (status, body["type"]) == (409, "/api/1/docs#expired")


def test_warnings_are_confirmed_by_number(
    interface: JsonInterface, key: Key, service: PublishingAudiences
) -> None:
    service.change(key, archivedAt="2026-01-01T00:00:00Z")
    plan = planned(interface, key)
    assert plan["confirm"] == 1
    arguments = {"plan": plan["plan"], "digest": plan["digest"]}
    status, body = interface.act("publish", **arguments)
    assert (status, body["errors"][0]["pointer"]) == (422, "#/confirm")
    assert interface.act("publish", **arguments, confirm=1)[0] == 200


def test_a_plan_that_ended_has_nothing_to_confirm_or_wait_for(
    interface: JsonInterface, key: Key, service: PublishingAudiences
) -> None:
    service.change(key, archivedAt="2026-01-01T00:00:00Z")
    dropped, withdrawn = planned(interface, key), planned(interface, key)
    decision = {name: withdrawn[name] for name in ("plan", "digest", "confirm")}
    assert interface.act("request", **decision)[1]["expires_at"]
    for plan in (dropped, withdrawn):
        _, state = interface.act("cancel", plan=plan["plan"])
        assert (state["confirm"], state["expires_at"]) == (None, None)
        assert [item["state"] for item in state["items"]] == ["canceled"]
    for act, arguments in (("cancel", {"plan": withdrawn["plan"]}), ("request", decision)):
        status, problem = interface.act(act, **arguments)
        assert (status, problem["next"].split(",")[0].rstrip(".")) == (409, "Check its status")


def test_a_person_who_looks_at_a_plan_does_not_remove_it(
    interface: JsonInterface, paula: User, key: Key
) -> None:
    plan = planned(interface, key)
    page = logged_in(paula).get(f"/releases/{plan['plan']}/").text
    assert "data-provisional" not in page
    assert "It’s removed a day after it was created, unless" in text(page)


def test_nothing_can_be_sent_while_a_plan_is_checked(key: Key, service: Any) -> None:
    with reads_only(), pytest.raises(RuntimeError, match="nothing was sent"):
        publishing_client().audiences.publish(*key, "ver_2", operation_key="key")
    assert service.sent == []


def test_an_unreachable_service_is_no_equality(
    interface: JsonInterface, key: Key, service: PublishingAudiences
) -> None:
    plan = planned(interface, key)
    service.responses[f"/v0/pages/{key[0]}/audiences"] = httpx.ConnectError("away")
    decision = {"plan": plan["plan"], "digest": plan["digest"]}
    for act, arguments in (
        ("diff", ids(key)),
        ("plan", {"versions": [ids(key)]}),
        ("request", decision),
        ("publish", decision),
    ):
        status, body = interface.act(act, **arguments)
        assert (status, body["type"]) == (502, "/api/1/docs#service-unavailable")
    status, body = interface.act("read_audience", **ids(key))
    assert (status, body["is_current"]) == (200, False)
    assert [release.state for release in Release.objects.all()] == ["draft"]
    assert service.sent == []


@pytest.mark.parametrize("kind", [JsonInterface, McpInterface])
def test_the_same_key_gives_the_same_result(kind: Any, paula: User, key: Key) -> None:
    interface = kind(new_token(paula))
    first = interface.act("plan", key="one", versions=[ids(key)])
    assert interface.act("plan", key="one", versions=[ids(key)]) == first
    assert MachinePlan.objects.count() == 1
    assert interface.act("plan", key="one", versions=[ids(key)], note="Other")[0] == 422
    assert kind(new_token(paula)).act("plan", key="one", versions=[ids(key)])[0] == 200
    KeyedRequest.objects.create(token=KeyedRequest.objects.first().token, key="two", digest="")
    assert interface.act("plan", key="two", versions=[ids(key)])[0] in (409, 422)


def test_a_key_in_progress_waits_and_ends(interface: JsonInterface, key: Key) -> None:
    interface.act("plan", key="one", versions=[ids(key)])
    KeyedRequest.objects.update(status=None, body=None, wake_at=timezone.now() + CLAIM)
    status, body = interface.act("plan", key="one", versions=[ids(key)])
    assert (status, body["type"]) == (409, "/api/1/docs#key")
    KeyedRequest.objects.update(wake_at=timezone.now())
    assert interface.act("plan", key="one", versions=[ids(key)])[0] == 200


@pytest.mark.parametrize(
    ("act", "made"),
    [
        ("plan", {"versions": [{"page_id": "page_1", "audience_id": "aud_1"}]}),
        ("comment", {"page_id": "page_1", "audience_id": "aud_1", "body": "Which depot?"}),
    ],
)
def test_a_process_killed_before_its_answer_repeats_nothing(
    interface: JsonInterface, key: Key, act: str, made: dict[str, Any]
) -> None:
    _, first = interface.act(act, key="one", **made)
    KeyedRequest.objects.update(status=None, body=None, wake_at=timezone.now())
    status, second = interface.act(act, key="one", **made)
    assert status == 200
    assert second[act] == first[act]
    assert Comment.objects.count() + Release.objects.count() == 1


def test_answers_are_small_and_continue(
    paula: User, key: Key, service: PublishingAudiences
) -> None:
    long = 'He said: "no".\n' * 3_000
    latest = service.audiences[key]["latestVersion"] | {"supplementaryContext": long}
    service.change(key, latestVersion=latest)
    service.add(120, effectiveName="Ü" * 400)
    interface, text, cursor = McpInterface(new_token(paula)), "", ""
    while cursor is not None:
        response = interface.call(
            "tools/call", {"name": "read_audience", "arguments": {**ids(key), "cursor": cursor}}
        )
        assert len(response.content) <= 25_000
        _, body = interface.act("read_audience", **ids(key), cursor=cursor)
        text, cursor = text + body["text"]["value"], body["next_cursor"]
    assert text == long
    rows, cursor = [], ""
    while cursor is not None:
        _, body = interface.act("find", limit=100, cursor=cursor)
        rows, cursor = rows + body["items"], body["next_cursor"]
    assert len({row["audience_id"] for row in rows}) == len(rows) == 121
