"""Claims: who decides on an audience, and for how long; one person at a time."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.live.models import Presence
from dashboard.live.presence import CLAIM, GONE_AFTER, claim, holder_at, remove_gone, take_over
from tests.conftest import person
from tests.support import wire
from tests.support.clock import Clock
from tests.support.seeding import seed_audiences, seed_pages
from tests.support.tab import AUDIENCE, Tab

GONE_S, CLAIM_S = GONE_AFTER.total_seconds(), CLAIM.total_seconds()


@pytest.fixture(autouse=True)
def _places(db: None) -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience())


@pytest.fixture
def ben(db: None) -> User:
    """Another publisher."""
    return person("ben", "Publishers")


def holder(viewer: User) -> str:
    held = holder_at(AUDIENCE, but=viewer.pk)
    return held.name if held else ""


def test_who_decides_first_holds_the_claim(as_publisher: Client, ben: User) -> None:
    Tab(as_publisher).report(doing="deciding")
    assert holder(ben) == "paula"
    assert not claim(ben.pk, "tab-of-ben", AUDIENCE)
    assert holder(ben) == "paula"


def test_own_tabs_show_no_presence(as_publisher: Client, paula: User) -> None:
    first, second = Tab(as_publisher), Tab(as_publisher)
    first.report(doing="deciding")
    second.report(doing="deciding")
    assert claim(paula.pk, "another", AUDIENCE)
    assert Presence.objects.exclude(claimed_until=None).count() == 1


def test_a_report_renews_a_claim(as_publisher: Client, ben: User, clock: Clock) -> None:
    tab = Tab(as_publisher)
    tab.report(doing="deciding")
    until = holder_at(AUDIENCE, but=ben.pk)
    for _ in range(3):
        clock.advance(60)
        tab.report(doing="deciding")
    later = holder_at(AUDIENCE, but=ben.pk)
    assert until
    assert later
    assert later.until - until.until == timedelta(seconds=180)


def test_a_claim_of_who_is_idle_ends(as_publisher: Client, ben: User, clock: Clock) -> None:
    tab = Tab(as_publisher)
    tab.report(doing="deciding")
    for _ in range(4):
        clock.advance(60)
        tab.report(doing="deciding", idle="1")
    assert holder(ben) == "paula"
    clock.advance(CLAIM_S - 240)
    assert holder(ben) == ""


def test_a_silent_tab_keeps_its_claim(as_publisher: Client, ben: User, clock: Clock) -> None:
    Tab(as_publisher).report(doing="deciding")
    clock.advance(GONE_S + 1)
    remove_gone()
    assert holder(ben) == "paula"
    clock.advance(CLAIM_S)
    remove_gone()
    assert not Presence.objects.exists()


@pytest.mark.parametrize("leaves", [True, False])
def test_a_claim_ends_with_leaving(as_publisher: Client, ben: User, leaves: bool) -> None:
    tab = Tab(as_publisher)
    tab.report(doing="deciding")
    tab.leave() if leaves else tab.report(place="publish:page_1:aud_1", doing="publishing")
    assert holder(ben) == ""


def test_taking_over_stays_taken(as_publisher: Client, paula: User, ben: User) -> None:
    tab = Tab(as_publisher)
    tab.report(doing="deciding")
    take_over(ben.pk, "tab-of-ben", AUDIENCE)
    tab.report(doing="deciding")
    assert holder(paula) == "ben"
    assert holder(ben) == ""


def test_viewers_claim_nothing(as_viewer: Any) -> None:
    assert Tab(as_viewer).report(doing="deciding").status_code == 404
    assert not Presence.objects.exists()
