"""No page shows one viewer content rendered for another, whatever is cached."""

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from difflib import unified_diff
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.utils import timezone

from dashboard.accounts.preferences import pin, save_preferences
from dashboard.client.response_parsing import ByteBoundedCache
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import AttemptResult
from dashboard.service.client import close_publishing_client, publishing_client
from tests.conftest import logged_in, person
from tests.support.fake_service import FakeService
from tests.support.matrix import sampled
from tests.support.named_urls import URLS
from tests.support.operations import operation
from tests.support.seeding import (
    seed_approval,
    seed_delivery,
    seed_notification,
    seed_release,
    seed_subscription,
    seed_view,
)
from tests.web.every_page import NOT_PAGES, PAGES, PARTIALS, answer


@dataclass(frozen=True)
class Viewer:
    """A user with their own permissions, time zone, date order and density."""

    name: str
    group: str
    time_zone: str
    date_order: str
    density: str


VIEWERS = [
    Viewer("nora", "", "UTC", "", ""),
    Viewer("vera", "Viewers", "Asia/Tokyo", "month", "comfortable"),
    Viewer("paula", "Publishers", "America/New_York", "month", ""),
    Viewer("ada", "Administrators", "Europe/Berlin", "", "comfortable"),
    Viewer("mia", "Publishers, Administrators", "Asia/Kolkata", "", ""),
]
RECORDED = ["/pages/", "/pages/page_1/", "/webhooks/whs_1/"]
"""Pages to open first, which record the data of the others in the ledger."""
PER_REQUEST = [
    rb'name="csrfmiddlewaretoken" value="\w+"',
    rb'&quot;X-CSRFToken&quot;: &quot;\w+&quot;|"X-CSRFToken": "\w+"',
    rb"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    rb'name="(draft|ticket)" value="[^"]+"',
    rb"Request (<code>)?[0-9a-f]{16}",
    rb"since=[0-9a-f]+-\d+",
    rb'(?s)<p class="row loose health" id="health">.*?</p>',
]
"""Values that differ per request: CSRF tokens, keys and tickets of forms, request ids, the end of
the feed, and the minutes with calls of the service."""


_browser = Client()
"""Shared, because loading the middleware for each request would take a tenth longer."""


@pytest.fixture
def sessions(
    db: None, fake_service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> dict[Viewer, str]:
    """Set up a service, a ledger and the viewers' sessions, which don't change."""
    # The clocks stand still, so that no call leaves the displayed hour and no count of the sidebar
    # expires, however long the test takes.
    now, monotonic = timezone.now() + timedelta(minutes=5), time.monotonic()
    seconds = time.time()
    monkeypatch.setattr(time, "time", lambda: seconds)
    monkeypatch.setattr(timezone, "now", lambda: now)
    monkeypatch.setattr(time, "monotonic", lambda: monotonic)
    fake_service.answer = answer
    seed_subscription()
    seed_delivery()
    seed_view(None)
    seed_release(1)
    seed_release(2, state="running", started_at=timezone.now())
    seed_release(3, state="finished", started_at=timezone.now(), finished_at=timezone.now())
    seed_release(4)
    seed_approval(4)
    sessions = {}
    for viewer in VIEWERS:
        user = person(viewer.name, *viewer.group.split(", "))
        save_preferences(
            user, time_zone=viewer.time_zone, date_order=viewer.date_order, density=viewer.density
        )
        seed_notification(user)
        pin(user, ("page_1", "aud_1" if viewer.density else ""))
        sessions[viewer] = logged_in(user).session.session_key or ""
    operation(User.objects.get(username="paula"), "key-done")
    unknown = AttemptResult(Outcome.UNKNOWN)
    operation(User.objects.get(username="mia"), "key-unknown", ending=unknown)
    return sessions


def test_cached_pages_do_not_leak_between_users(
    sessions: dict[Viewer, str], pytestconfig: pytest.Config
) -> None:
    everything = [(address, "") for addresses in PAGES.values() for address in addresses]
    # A run takes a sixth of them.
    everything = sampled([*everything, *PARTIALS], pytestconfig, turn=0, of=6)
    before = _containers()
    for address in RECORDED:
        _get(sessions[VIEWERS[-1]], address, "")
    cold = {}
    for viewer in VIEWERS:
        _clear_caches(before)
        for address, target in everything:
            cold[viewer, address, target] = _fetch(sessions[viewer], address, target)
    different = {}
    for address, target in everything:
        # Everyone comes after the viewer with most permissions. All others also come after the
        # viewer with fewest.
        for viewer in [VIEWERS[-1], *VIEWERS]:
            warm = _fetch(sessions[viewer], address, target)
            if warm != (expected := cold[viewer, address, target]):
                different[viewer.name, address, target] = [*unified_diff(expected, warm, n=0)]
    assert different == {}


def test_every_address_is_a_page_or_known_exception() -> None:
    assert {pattern.name for pattern in URLS} == {*PAGES} | NOT_PAGES


def _fetch(session: str, address: str, target: str) -> list[str]:
    """Open a page with only the session cookie, and undo its writes."""
    with transaction.atomic():
        response = _get(session, address, target)
        transaction.set_rollback(True)
    body = b"".join(response) if response.streaming else response.content
    for pattern in PER_REQUEST:
        body = re.sub(pattern, b"...", body)
    head = f"{response.status_code} {response.get('Location', '')}"
    return [head, *body.decode().splitlines()]


def _get(session: str, address: str, target: str) -> Any:
    _browser.cookies.clear()
    _browser.cookies[django_settings.SESSION_COOKIE_NAME] = session
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    return _browser.get(address, headers=headers)


def _modules() -> Iterator[ModuleType]:
    return (module for name, module in [*sys.modules.items()] if name.startswith("dashboard."))


def _containers() -> list[tuple[Any, Any]]:
    """Return each of our module-level lists, dicts and sets, with a copy of its content."""
    return [
        (value, value.copy())
        for module in _modules()
        for name, value in vars(module).items()
        if type(value) in {dict, list, set} and not name.startswith("__")
    ]


def _clear_caches(before: list[tuple[Any, Any]]) -> None:
    """Clear Django's cache and the process's caches, then make one call of the service.

    The call records the service's health, which is the same for all viewers.
    """
    cache.clear()
    close_publishing_client()
    for module in _modules():
        for value in vars(module).values():
            if isinstance(value, ByteBoundedCache):
                value.clear()
            elif hasattr(value, "cache_clear"):
                value.cache_clear()
    for container, content in before:
        container.clear()
        container.extend(content) if isinstance(container, list) else container.update(content)
    publishing_client().pages.list()
