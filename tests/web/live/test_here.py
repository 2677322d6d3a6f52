"""Presence: who is named, to whom, for how long, and what is recorded."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.accounts.sessions import SEEN
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.live.models import Presence
from dashboard.live.presence import GONE_AFTER, MAX_TABS, remove_gone
from dashboard.web.live.here import DOING
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import FakeService
from tests.support.hostile_strings import PAYLOADS
from tests.support.live_page import LivePage
from tests.support.one_audience import serve
from tests.support.seeding import seed_approval, seed_audiences, seed_pages, seed_release
from tests.support.tab import AUDIENCE, PUBLISH, Tab, who_is_at
from tests.support.written_log import written_log

pytestmark = pytest.mark.django_db

PAGES = {
    AUDIENCE: "/pages/page_1/audiences/aud_1/",
    PUBLISH: "/pages/page_1/audiences/aud_1/versions/ver_2/publish/",
    "release:1": "/releases/1/",
    "request:1": "/approvals/1/",
}
GONE_S = GONE_AFTER.total_seconds()


@pytest.fixture(autouse=True)
def _places(fake_service: FakeService) -> None:
    serve(fake_service, wire.audience())
    seed_pages(wire.page())
    seed_audiences(wire.audience())
    seed_release()
    seed_approval()


@pytest.fixture
def as_ben() -> Client:
    """A test client logged in as another publisher."""
    return logged_in(person("ben", "Publishers"))


def changes() -> list[tuple[str, int | None]]:
    """Return the place and the user of each presence change so far."""
    entries = FeedEntry.objects.filter(kind=FeedKind.PRESENCE).order_by("seq")
    return [(entry.object_id, entry.actor_id) for entry in entries]


# Who is named


def test_others_see_who_is_here(as_viewer: Client, as_publisher: Client) -> None:
    assert who_is_at(as_viewer) == ""
    Tab(as_publisher).report()
    assert who_is_at(as_viewer) == "pa paula is here"


def test_a_report_returns_who_else_is_here(as_viewer: Client, as_publisher: Client) -> None:
    Tab(as_publisher).report()
    assert "paula" in Tab(as_viewer).report().content.decode()


def test_a_second_tab_shows_no_presence(as_publisher: Client) -> None:
    Tab(as_publisher).report()
    assert "paula" not in Tab(as_publisher).report().content.decode()


def test_a_user_with_two_tabs_is_named_once(as_viewer: Client, as_administrator: Client) -> None:
    Tab(as_viewer).report(idle="1")
    Tab(as_viewer).report()
    assert who_is_at(as_administrator) == "ve vera is here"


def test_a_first_name_is_shown_with_the_full_one_as_title(
    as_viewer: Client, paula: User, as_publisher: Client
) -> None:
    User.objects.filter(pk=paula.pk).update(first_name="Paula", last_name="da Silva")
    response = Tab(as_publisher).report()
    assert response.status_code == 200
    html = as_viewer.get("/live/here/", {"place": AUDIENCE}).content.decode()
    assert 'title="Paula da Silva"' in html
    assert who_is_at(as_viewer) == "PS Paula is here"


def test_names_are_escaped(as_viewer: Client) -> None:
    mallory = person("mallory", "Viewers")
    User.objects.filter(pk=mallory.pk).update(first_name=PAYLOADS[0])
    Tab(logged_in(mallory)).report()
    html = as_viewer.get("/live/here/", {"place": AUDIENCE}).content.decode()
    assert "<script" not in html
    assert "&lt;script" in html


def test_of_many_three_are_named(as_viewer: Client) -> None:
    for number in range(5):
        Tab(logged_in(person(f"user{number}", "Viewers"))).report()
    line = who_is_at(as_viewer)
    assert line.count("is here") == 3
    assert line.endswith("and 2 more")


def test_who_can_no_longer_sign_in_is_not_named(
    as_viewer: Client, paula: User, as_publisher: Client
) -> None:
    Tab(as_publisher).report()
    User.objects.filter(pk=paula.pk).update(is_active=False)
    assert who_is_at(as_viewer) == ""


# What they do


def test_a_publisher_sees_who_is_publishing_which_version(
    as_publisher: Client, as_ben: Client
) -> None:
    Tab(as_ben).report(PUBLISH, "publishing", version="7")
    for place in (AUDIENCE, PUBLISH):
        assert who_is_at(as_publisher, place) == "be ben is publishing version 7"


def test_a_rollback_is_named(as_publisher: Client, as_ben: Client) -> None:
    Tab(as_ben).report(PUBLISH, "rolling_back", version="5")
    assert who_is_at(as_publisher) == "be ben is rolling back to version 5"


def test_a_review_is_named(as_viewer: Client, as_publisher: Client) -> None:
    for place in ("release:1", "request:1"):
        Tab(as_publisher).report(place, "reviewing")
        assert who_is_at(as_viewer, place) == "pa paula is reviewing this"


def test_viewers_do_not_see_who_is_publishing(as_viewer: Client, as_publisher: Client) -> None:
    """Viewers may open the audience below the dialog, so they see that somebody is there."""
    Tab(as_publisher).report(PUBLISH, "publishing", version="7")
    assert who_is_at(as_viewer) == "pa paula is here"


def test_the_busiest_is_named_first(as_publisher: Client, as_ben: Client) -> None:
    Tab(logged_in(person("ivan", "Viewers"))).report(idle="1")
    Tab(logged_in(person("vera", "Viewers"))).report()
    Tab(as_ben).report(PUBLISH, "publishing", version="7")
    line = who_is_at(as_publisher)
    assert line.index("ben is publishing") < line.index("vera is here") < line.index("ivan, idle")


def test_what_is_done_elsewhere_is_refused(as_publisher: Client) -> None:
    assert Tab(as_publisher).report(AUDIENCE, "publishing").status_code == 404
    assert changes() == []


# For how long


def test_who_is_idle_is_named_so(as_viewer: Client, as_publisher: Client) -> None:
    Tab(as_publisher).report(idle="1")
    assert who_is_at(as_viewer) == "pa paula, idle"


def test_who_leaves_is_gone_at_once(as_viewer: Client, as_publisher: Client) -> None:
    tab = Tab(as_publisher)
    tab.report()
    assert tab.leave().status_code == 204
    assert who_is_at(as_viewer) == ""
    assert not Presence.objects.exists()


def test_who_is_silent_for_90_seconds_is_gone(
    as_viewer: Client, as_publisher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    tab = Tab(as_publisher)
    tab.report()
    clock.advance(GONE_S - 1)
    assert who_is_at(as_viewer) == "pa paula is here"
    tab.report()
    clock.advance(GONE_S - 1)
    assert who_is_at(as_viewer) == "pa paula is here"
    clock.advance(1)
    assert who_is_at(as_viewer) == ""


def test_a_tab_cannot_be_removed_by_another_user(as_viewer: Client, as_publisher: Client) -> None:
    tab = Tab(as_publisher)
    tab.report()
    tab._client = as_viewer
    tab.leave()
    assert who_is_at(as_viewer) == "pa paula is here"


def test_a_user_has_a_limited_number_of_tabs(as_viewer: Client) -> None:
    for _ in range(MAX_TABS + 2):
        Tab(as_viewer).report()
    assert Presence.objects.count() == MAX_TABS


# Rights


@pytest.mark.parametrize("place", PAGES)
@pytest.mark.parametrize("role", ["Viewers", "Publishers", "Administrators", "none"])
def test_presence_takes_the_same_right_as_the_page(role: str, place: str) -> None:
    client = logged_in(person("otto", *([] if role == "none" else [role])))
    may_open = client.get(PAGES[place]).status_code == 200
    doing = DOING[place.partition(":")[0]][0]
    response = Tab(client).report(place, doing)
    looked = client.get("/live/here/", {"place": place})
    assert {response.status_code, looked.status_code} == {200 if may_open else 404}
    assert Presence.objects.exists() == may_open


@pytest.mark.parametrize(
    "place",
    [
        *("audience:page_1:aud_unknown", "release:2", "request:2", "release:x", "release:"),
        *("", "audience", "audience:page_1", "audience:page_1:aud_1:more", "people:1"),
        *("audience:page_1:%00", "audience:page_1:aud 1", f"release:{'9' * 30}"),
        "audience:page_1:" + "a" * 3000,
    ],
)
def test_a_place_that_does_not_exist_is_not_recorded(place: str, as_publisher: Client) -> None:
    assert as_publisher.get("/live/here/", {"place": place}).status_code == 404
    if place:
        assert Tab(as_publisher).report(place).status_code == 404
    assert not Presence.objects.exists()


def test_ids_may_have_any_characters(as_viewer: Client, as_publisher: Client) -> None:
    seed_audiences(wire.audience(audienceId="a:b/ü%"))
    place = "audience:page_1:a%3Ab%2F%C3%BC%25"
    assert Tab(as_publisher).report(place).status_code == 200
    assert who_is_at(as_viewer, place) == "pa paula is here"


@pytest.mark.parametrize("tab", ["", "a b", "ü", "a" * 37, "a\0"])
def test_a_tab_without_a_valid_id_is_not_recorded(tab: str, as_viewer: Client) -> None:
    form = {"tab": tab, "place": AUDIENCE, "doing": "viewing"}
    assert as_viewer.post("/live/here/", form).status_code == 404


# What is recorded


def test_only_changes_are_in_the_feed(paula: User, as_publisher: Client) -> None:
    tab = Tab(as_publisher)
    for _ in range(3):
        tab.report()
    assert changes() == [(AUDIENCE, paula.pk)]
    tab.report(idle="1")
    tab.report()
    assert len(changes()) == 3
    tab.leave()
    assert len(changes()) == 4


def test_a_tab_that_moves_changes_both_places(paula: User, as_publisher: Client) -> None:
    tab = Tab(as_publisher)
    tab.report("release:1", "reviewing")
    tab.report(PUBLISH, "publishing", version="2")
    assert changes()[1:] == [("release:1", paula.pk), (AUDIENCE, paula.pk)]
    assert Presence.objects.count() == 1


def test_a_worker_removes_who_is_gone(
    paula: User, as_publisher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    Tab(as_publisher).report()
    remove_gone()
    assert Presence.objects.exists()
    clock.advance(GONE_S)
    remove_gone()
    assert not Presence.objects.exists()
    assert changes() == [(AUDIENCE, paula.pk)] * 2


@pytest.mark.parametrize("command", [["prune", "--older-than=30"], ["after_restore"]])
def test_old_tabs_go_with_the_database_s_other_old_rows(
    command: list[str], as_publisher: Client
) -> None:
    Tab(as_publisher).report()
    Presence.objects.update(seen_at=timezone.now() - timedelta(minutes=2))
    call_command(*command)
    assert not Presence.objects.exists()


@pytest.mark.same_on_any_database  # See test_poll.py.
# On PostgreSQL a poll returns only committed changes.
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_the_poll_returns_the_topic_of_a_new_visitor(
    as_viewer: Client, as_publisher: Client
) -> None:
    page, own = LivePage(as_viewer), LivePage(as_publisher)
    Tab(as_publisher).report()
    [topic] = page.poll().topics
    html = as_viewer.get(PAGES[AUDIENCE]).content.decode()
    assert f'data-live="{topic}"' in html
    # Users aren't told about their own presence.
    assert own.poll().topics == []


def test_a_report_does_not_extend_the_session(
    as_viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    session = as_viewer.session
    session.set_expiry(0)
    session.save()
    before = session[SEEN]
    clock.advance(30 * 60)
    assert Tab(as_viewer).report().status_code == 200
    assert as_viewer.session[SEEN] == before
    clock.advance(31 * 60)
    # The session has ended. The next page doesn't mention the unsent report.
    assert "Your session has ended." in Tab(as_viewer).report().text
    assert "nothing was sent" not in as_viewer.get("/accounts/login/").content.decode()


def test_looking_writes_nothing(as_viewer: Client, as_publisher: Client) -> None:
    Tab(as_publisher).report()
    with CaptureQueriesContext(connection) as queries:
        who_is_at(as_viewer)
    assert not [query for query in queries if not query["sql"].startswith("SELECT")]


def test_the_log_names_no_place_and_no_other_user(
    as_viewer: Client, as_publisher: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "dashboard.requests")
    Tab(as_publisher).report()
    with written_log() as log:
        Tab(as_viewer).report()
        who_is_at(as_viewer)
    assert len(log.lines("dashboard.requests")) == 2
    assert "paula" not in log.getvalue()
    assert "aud_1" not in log.getvalue()


# Where it is shown


@pytest.mark.parametrize("tab", ["", "versions/", "conversation/"])
def test_the_head_of_an_audience_shows_it_on_every_tab(
    tab: str, as_viewer: Client, as_publisher: Client
) -> None:
    Tab(as_publisher).report()
    assert "paula</span> is here" in as_viewer.get(PAGES[AUDIENCE] + tab).content.decode()


@pytest.mark.parametrize("place", [PUBLISH, "release:1", "request:1"])
def test_pages_show_it_and_report_themselves(
    place: str, as_publisher: Client, as_ben: Client
) -> None:
    Tab(as_ben).report(place, DOING[place.partition(":")[0]][0])
    html = as_publisher.get(PAGES[place]).content.decode()
    assert f'data-here="{place}"' in html
    assert "ben</span> is " in html


@pytest.mark.parametrize("url", ["/audiences/", "/pages/page_1/"])
def test_rows_show_it_and_lists_report_nothing(
    url: str, as_publisher: Client, as_ben: Client
) -> None:
    Tab(as_ben).report(PUBLISH, "publishing", version="2")
    html = as_publisher.get(url).content.decode()
    assert 'ben</span><span class="visually-hidden"> is publishing version 2' in html
    assert "data-here" not in html


def test_a_row_gets_its_mark(as_viewer: Client, as_ben: Client) -> None:
    for name in ("ivan", "olga"):
        Tab(logged_in(person(name, "Viewers"))).report()
    Tab(as_ben).report()
    assert who_is_at(as_viewer, row="here-7").endswith(" is here +2")
    headers = {"HX-Request": "true", "HX-Target": "here-7"}
    html = as_viewer.get("/live/here/", {"place": AUDIENCE}, headers=headers).content.decode()
    assert 'id="here-7"' in html


@pytest.mark.parametrize("url", ["/audiences/", "/pages/page_1/"])
def test_all_rows_take_one_query(url: str, as_viewer: Client, fake_service: FakeService) -> None:
    audiences = [wire.audience(audienceId=f"aud_{number}") for number in range(9)]
    seed_audiences(*audiences)
    serve(fake_service, *audiences)
    with CaptureQueriesContext(connection) as queries:
        as_viewer.get(url)
    assert sum("live_presence" in query["sql"] for query in queries) == 1


# Off


def test_without_the_setting_there_is_nothing(
    settings: Any, as_viewer: Client, as_publisher: Client
) -> None:
    Tab(as_publisher).report()
    settings.PRESENCE = False
    assert Tab(as_viewer).report().status_code == 404
    assert as_viewer.get("/live/here/", {"place": AUDIENCE}).status_code == 404
    assert Presence.objects.count() == 1
    for url in (*PAGES.values(), "/audiences/", "/pages/page_1/"):
        html = as_publisher.get(url).content.decode()
        assert "data-here" not in html
        assert "/live/here/" not in html
        assert "data-visitor" not in html
