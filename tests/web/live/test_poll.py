"""The one poll of every page: what it returns, when, to whom, and how often it is sent."""

import time
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.http import http_date

from dashboard import clock as our_clock
from dashboard.accounts.sessions import SEEN
from dashboard.accounts.sign_in import require_second_factor_for_publishers
from dashboard.contract.audiences import Audience
from dashboard.ledger.feed import MAX_ENTRIES, add
from dashboard.ledger.models import FeedEntry
from dashboard.ledger.models.feed import FeedKind
from dashboard.ledger.recording import record_audiences
from dashboard.service.circuit_breaker import FAILURE_THRESHOLD, RETRY_DELAYS_S
from dashboard.web.live.views import (
    BUSY_SHARE,
    IDLE_WAIT_S,
    MOVING_WAIT_S,
    WAIT_S,
    ProcessorUse,
    wait_s,
)
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.clock import Clock, advanced_by_hand, stopped
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.live_page import BACKGROUND, LivePage
from tests.support.seeding import seed_approval, seed_event, seed_notification, seed_pages

# Each act needs its own transaction: on PostgreSQL a poll returns only committed changes.
# On PostgreSQL the transactions of all other tests hold the feed back: tests/ledger/test_feed.py
# waits for them. The poll treats entries alike on any database.
pytestmark = [
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
    pytest.mark.same_on_any_database,
]
MAX_BYTES = 2_048


def entry(kind: FeedKind = FeedKind.AUDIENCE, **columns: Any) -> FeedEntry:
    return FeedEntry(kind=kind, **({"page_id": "page_1", "audience_id": "aud_1"} | columns))


# What changed


def test_a_poll_without_a_change_returns_nothing(as_viewer: Client) -> None:
    page = LivePage(as_viewer).poll()
    assert (page.response.status_code, page.response.content) == (204, b"")


def test_a_poll_without_a_change_makes_three_queries(
    as_viewer: Client, django_assert_num_queries: Any
) -> None:
    page = LivePage(as_viewer).poll()
    with django_assert_num_queries(3):  # the session, its user, and the end of the feed
        assert page.poll().response.status_code == 204


def test_a_poll_without_a_change_checks_no_permission(
    as_viewer: Client, django_assert_num_queries: Any
) -> None:
    seed_approval()
    page = LivePage(as_viewer).poll()
    with django_assert_num_queries(3):
        assert page.poll().response.status_code == 204


def test_a_change_that_everybody_may_see_checks_no_permission(as_viewer: Client) -> None:
    seed_approval()
    page = LivePage(as_viewer).poll()
    add(entry())
    with CaptureQueriesContext(connection) as queries:
        assert page.poll().topics == ["audience:page_1:aud_1"]
    assert "auth_permission" not in str(queries.captured_queries)


def test_a_change_while_a_page_is_read_is_in_its_first_poll(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_pages(wire.page())

    def answer(request: httpx.Request) -> httpx.Response:
        add(entry(FeedKind.RELEASE, object_id="7", page_id="", audience_id=""))
        return httpx.Response(200, json=wire.envelope())

    fake_service.answer = answer
    assert "release:7" in LivePage(as_viewer, "/people/").poll().topics


def test_ids_with_any_characters_are_one_topic(as_viewer: Client) -> None:
    page = LivePage(as_viewer)
    add(entry(page_id="a b:c/ü", audience_id="*"))
    assert page.poll().topics == ["audience:a%20b%3Ac%2F%C3%BC:%2A"]


@pytest.mark.parametrize(
    ("columns", "topics"),
    [
        ({"kind": FeedKind.PAGE, "audience_id": ""}, ["page:page_1"]),
        ({"kind": FeedKind.PAGE, "page_id": "", "audience_id": ""}, ["page"]),
        (
            {"kind": FeedKind.OPERATION, "object_id": "key-1"},
            ["audience:page_1:aud_1", "operation:key-1"],
        ),
        ({"kind": FeedKind.RECEIVER, "page_id": "", "audience_id": ""}, ["receiver"]),
    ],
)
def test_a_change_names_what_it_is_about(
    columns: dict[str, Any], topics: list[str], as_viewer: Client
) -> None:
    page = LivePage(as_viewer)
    add(entry(**columns))
    assert page.poll().topics == topics


def test_more_than_a_response_holds_reloads_everything(as_viewer: Client) -> None:
    page = LivePage(as_viewer)
    add(*(entry(audience_id=f"aud_{n}") for n in range(200)))
    assert page.poll().topics == ["*"]
    add(*(entry() for _ in range(MAX_ENTRIES + 1)))
    assert page.poll().topics == ["*"]
    assert page.poll().response.status_code == 204


@pytest.mark.parametrize("since", ["", "x", "000000000000-1", "-", "²"])
def test_an_unknown_cursor_reloads_everything(since: str, as_viewer: Client) -> None:
    page = LivePage(as_viewer)
    assert page.poll(since=since).topics == ["*"]
    assert page.poll().response.status_code == 204


@pytest.mark.parametrize("hours", [-30, -3, 3])
def test_no_clock_decides_what_has_changed(
    hours: int, as_viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, page = stopped(monkeypatch), LivePage(as_viewer)
    off = our_clock.now() + timedelta(hours=hours)
    add(entry(at=off), entry(at=off - timedelta(days=2), audience_id="aud_2"))
    clock.advance(hours * 3600)
    for header in ("HTTP_DATE", "HTTP_IF_MODIFIED_SINCE"):
        as_viewer.defaults[header] = http_date(off.timestamp())
    assert page.poll().topics == ["audience:page_1:aud_1", "audience:page_1:aud_2"]
    assert page.poll().response.status_code == 204


# Who gets it


def test_personal_changes_are_for_their_user_alone(
    as_viewer: Client, as_publisher: Client, vera: User
) -> None:
    hers, other = LivePage(as_viewer), LivePage(as_publisher)
    add(entry(FeedKind.SAVED_VIEW, page_id="", audience_id="", object_id="5", user_id=vera.pk))
    assert hers.poll().topics == ["saved_view:5"]
    assert other.poll().topics == []


def test_what_needs_a_permission_is_for_those_who_have_it(
    as_viewer: Client, as_administrator: Client
) -> None:
    viewer, administrator = LivePage(as_viewer), LivePage(as_administrator)
    add(entry(FeedKind.SERVICE, page_id="", audience_id=""))
    assert administrator.poll().topics == ["service"]
    assert viewer.poll().topics == []


def test_a_webhook_is_for_its_owner_or_for_those_who_may_change_a_team_s(
    as_viewer: Client, as_administrator: Client, vera: User
) -> None:
    viewer, administrator = LivePage(as_viewer), LivePage(as_administrator)
    ids = {"page_id": "", "audience_id": ""}
    add(entry(FeedKind.TARGET, **ids, object_id="1", user_id=vera.pk))
    add(entry(FeedKind.TARGET, **ids, object_id="2"))
    assert viewer.poll().topics == ["target:1"]
    assert administrator.poll().topics == ["target:2"]


def test_changed_rights_reload_the_pages_of_their_user(
    as_viewer: Client, as_publisher: Client, vera: User
) -> None:
    hers, other = LivePage(as_viewer), LivePage(as_publisher)
    vera.groups.set(Group.objects.filter(name="Publishers"))
    assert hers.poll().topics == ["*"]
    assert other.poll().topics == []
    vera.user_permissions.add(Permission.objects.get(codename="create_page"))
    assert hers.poll().topics == ["*"]
    vera.is_superuser = True
    vera.save()
    assert hers.poll().topics == ["*"]
    vera.save(update_fields=["last_login"])
    assert hers.poll().response.status_code == 204


def test_changed_rights_of_a_group_reload_all_pages(as_viewer: Client, ada: User) -> None:
    page = LivePage(as_viewer)
    publishers = Group.objects.get(name="Publishers")
    publishers.permissions.clear()
    assert page.poll().topics == ["*"]
    publishers.delete()
    assert page.poll().topics == ["*"]
    require_second_factor_for_publishers(on=True, by=ada)
    assert page.poll().topics == ["*"]


def test_the_pages_of_a_deactivated_user_learn_nothing(as_viewer: Client, vera: User) -> None:
    page = LivePage(as_viewer)
    vera.is_active = False
    vera.save()
    assert text(page.poll().html).startswith("Your session has ended.")


def test_a_poll_after_the_session_has_ended_says_so(as_viewer: Client) -> None:
    page = LivePage(as_viewer)
    as_viewer.logout()
    page.poll()
    assert text(page.html).startswith("Your session has ended.")
    assert "/accounts/login/?next=/" in page.html
    assert "live-poll" not in page.html


def test_forms_can_be_sent_after_signing_in_again(vera: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(vera)
    page = LivePage(client)
    client.logout()
    assert "Your session has ended." in page.poll().html
    client.force_login(vera)
    token = page.poll(ended="1").element.attributes["data-token"]
    assert "data-token" not in page.poll(since="").element.attributes
    assert client.post("/accounts/pin/").status_code == 403
    form = {"csrfmiddlewaretoken": token, "page_id": "page_1", "pin": "1"}
    assert client.post("/accounts/pin/", form).status_code != 403


def test_another_users_page_learns_nothing(
    as_viewer: Client, as_publisher: Client, paula: User
) -> None:
    page = LivePage(as_viewer)
    page._client = as_publisher
    seed_notification(paula)
    assert text(page.poll().html).startswith("Your session has ended.")


# What surrounds the content


def test_the_counts_of_the_sidebar_follow(as_viewer: Client) -> None:
    page = LivePage(as_viewer)
    assert "count-audiences" not in page.poll().response.text
    record_audiences(
        "page_1",
        [Audience.model_validate(wire.audience(audienceId=f"aud_{n}")) for n in range(3)],
        read_at=our_clock.now(),
    )
    add(entry())
    html = page.poll().html
    assert 'id="count-audiences"' in html
    assert "3" in text(html)
    assert page.poll().response.status_code == 204


def test_the_requests_that_a_user_can_decide_follow_the_users_rights(
    as_viewer: Client, vera: User
) -> None:
    seed_approval()
    page = LivePage(as_viewer)
    assert 'id="count-approvals"' not in page.poll().response.text
    vera.groups.set(Group.objects.filter(name="Publishers"))
    assert "1 needs your approval" in text(page.poll().html)


def test_the_bell_follows_and_is_announced_once(vera: User, as_viewer: Client) -> None:
    page = LivePage(as_viewer)
    seed_notification(vera)
    html = page.poll().html
    assert "1 unread notification" in text(html)
    assert html.count('id="bell-announcement"') == 1
    assert {'id="bell-count"', 'id="bell-count-phone"'} <= {*html.replace(">", " ").split()}
    assert page.poll().response.status_code == 204


def test_a_number_that_falls_is_not_announced(vera: User, as_viewer: Client) -> None:
    seed_notification(vera, 1)
    notification = seed_notification(vera, 2)
    page = LivePage(as_viewer)
    as_viewer.post(f"/notifications/{notification.pk}/read/")
    html = page.poll().html
    assert "bell-announcement" not in html
    assert 'data-unread="1"' in html


def test_an_outage_shows_its_banner_and_reloads_everything(
    as_viewer: Client, fake_service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    page = LivePage(as_viewer)
    fake_service.fails(httpx.ConnectError)
    for _ in range(FAILURE_THRESHOLD):
        assert page.poll().response.status_code == 204
        as_viewer.get("/people/")
    assert "Service unavailable." in text(page.poll().html)
    assert page.topics == ["*"]
    assert page.poll().response.status_code == 204, "the banner on the page stays"
    clock.advance(RETRY_DELAYS_S[0])
    fake_service.answers(200, json=wire.envelope())
    as_viewer.get("/people/")
    assert 'id="outage"' not in page.poll().html
    assert 'id="service-state"' in page.html
    assert page.topics == ["*"]


def test_a_response_has_two_kilobytes_at_most(
    vera: User, as_viewer: Client, fake_service: FakeService
) -> None:
    page = LivePage(as_viewer)
    fake_service.fails(httpx.ConnectError)
    as_viewer.get("/people/")
    seed_pages(*(wire.page(pageId=f"page_{n}", audiencesCount=400) for n in range(30)))
    for number in range(1, 4):
        seed_notification(vera, number, event=seed_event(number))
    add(*(entry(audience_id=f"aud_{'x' * 60}_{n}") for n in range(8)))
    response: HttpResponse = page.poll().response
    assert len(response.content) <= MAX_BYTES, response.text


# How often


@pytest.mark.parametrize(
    ("params", "interval_s"),
    [
        ({}, WAIT_S),
        ({"moving": "1"}, MOVING_WAIT_S),
        ({"idle": "1"}, IDLE_WAIT_S),
        ({"moving": "1", "idle": "1"}, IDLE_WAIT_S),
    ],
)
def test_the_server_names_the_interval(
    params: dict[str, str], interval_s: int, as_viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LivePage(as_viewer).poll(**params).interval_s in (interval_s, 2 * interval_s)
    own = {"is_moving": "moving" in params, "is_idle": "idle" in params}
    assert wait_s(**own, share=0.1) == interval_s
    assert wait_s(**own, share=BUSY_SHARE + 0.1) == 2 * interval_s


def test_a_process_that_computes_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    use = ProcessorUse()
    clock = advanced_by_hand(monkeypatch)
    clock.advance(1_000)
    assert use.share() < BUSY_SHARE
    used, real = 1_000.0, time.process_time
    monkeypatch.setattr(time, "process_time", lambda: real() + used)
    clock.advance(1_000)
    assert use.share() == pytest.approx(1, abs=0.1)


# The session


def test_a_poll_keeps_no_session_alive(vera: User) -> None:
    client = logged_in(vera)
    page = LivePage(client)
    session = client.session
    session[SEEN] = seen = int(time.time()) - 600
    session.set_expiry(0)
    session.save()
    page.poll()
    assert client.session[SEEN] == seen
    client.get("/accounts/password/")
    assert client.session[SEEN] > seen


def test_an_idle_session_ends_however_long_it_polls(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    clock: Clock = stopped(monkeypatch)
    client = logged_in(person("vic"))
    session = client.session
    session.set_expiry(0)
    session.save()
    began = timezone.now()
    while timezone.now() - began < timedelta(hours=24):
        clock.advance(300)
        response = client.get("/live/", headers=BACKGROUND)  # Without a cursor, never 204.
        if timezone.now() - began < timedelta(seconds=settings.SESSION_IDLE_S):
            assert response.status_code == 200
    assert "Your session has ended." in response.text
    assert "/accounts/login/" in client.get("/").url
