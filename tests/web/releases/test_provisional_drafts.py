"""Drafts that were only opened, names that follow the versions, and planned or held releases."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.worker import run_pending
from tests.conftest import logged_in, person
from tests.support.html import page_text
from tests.support.many_audiences import ManyAudiences
from tests.support.release_form import NEW, ReleaseForm
from tests.support.release_page import Board, ReleasePage
from tests.web.releases.conftest import Draft, live_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def opened(service: ManyAudiences, as_publisher: Client) -> ReleasePage:
    """A checked draft of three audiences, opened with one press in their list."""
    form = ReleaseForm(as_publisher).review(service.add(3))
    run_pending("worker-1")
    return ReleasePage(as_publisher, form.release)


def is_listed(client: Client) -> bool:
    """Return whether any list has a draft of three versions."""
    addresses = ("/releases/", "/releases/?state=drafts", "/", "/find/?q=versions")
    with_form = (*addresses, f"{NEW}?audience=page_1/aud_1")
    matching = {"3 versions" in page_text(client, address) for address in with_form}
    return matching != {False}


DECISIONS: dict[str, Callable[[ReleasePage], object]] = {
    "reviewed": lambda page: page.review(page.items[0]),
    "named": lambda page: page.post("edit", name="", note="Prices"),
    "canceled": lambda page: page.post("cancel"),
    "published": lambda page: page.decide("publish"),
    "scheduled": lambda page: page.schedule(),
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_draft_that_was_only_opened_is_not_listed(opened: ReleasePage, decision: str) -> None:
    assert not is_listed(opened.client)
    assert "Not saved yet." in opened.open().text
    DECISIONS[decision](opened)
    assert is_listed(opened.client)
    opened.post("discard")
    assert Release.objects.exists()


def test_a_draft_is_removed_when_it_is_left(opened: ReleasePage) -> None:
    ReleasePage(logged_in(person("peter", "Publishers")), opened.release).post("discard")
    assert Release.objects.exists()
    assert opened.post("discard").location == "/releases/"
    assert not Release.objects.exists()


def test_a_worker_removes_abandoned_drafts_after_a_day(opened: ReleasePage, draft: Draft) -> None:
    release = draft(1, name="Kept")
    yesterday = timezone.now() - timedelta(days=1)
    for created in (opened.release, release):
        run_pending("worker-1")
        Release.objects.filter(pk=created.pk).update(created_at=yesterday, wake_at=timezone.now())
    run_pending("worker-1")
    assert Release.objects.get() == release


def test_a_retry_stays_unlisted_until_two_people_open_it(
    draft: Draft, as_publisher: Client
) -> None:
    page = ReleasePage(as_publisher, live_release(draft, 2, live=1))
    address = page.post("retry").location
    assert "Retry: " not in page_text(as_publisher, "/releases/")
    assert page.url("retry") in page.open().html
    peters = ReleasePage(logged_in(person("peter", "Publishers")), page.release)
    assert peters.post("retry").location == address
    # Two people have it open, so it stays when one of them leaves.
    as_publisher.post(f"{address}discard/")
    assert "Retry: " in page_text(as_publisher, "/releases/")


def test_a_name_of_versions_has_its_creation_time(opened: ReleasePage) -> None:
    created = timezone.now().replace(month=3, day=9, hour=14, minute=5)
    Release.objects.update(is_provisional=False, created_at=created)
    for address in ("/releases/", opened.url()):
        assert "3 versions, 9 Mar, 14:05" in page_text(opened.client, address)


def test_a_scheduled_release_can_be_reviewed_and_rescheduled(board: Board) -> None:
    page = board(2).schedule()
    assert "Review: November prices" in page_text(page.client, "/releases/")
    assert '<p class="due">' in page.open().html
    assert "Reschedule…" in page.html
    assert page.value("shown")
    page.review(page.items[0])
    assert page.items[0].reviewed_by_name == "paula"
    assert page.act(page.items[0], "remove").status == 422
    assert len(page.items) == 2


@pytest.mark.parametrize("is_held", [True, False])
def test_a_held_release_names_its_next_step(board: Board, *, is_held: bool) -> None:
    page = board(2)
    page.release.items.update(reviewed_at=timezone.now())
    if is_held:
        page.release.items.filter(position=2).update(state=ItemState.HELD, version_number=3)
    Release.objects.update(state=ReleaseState.HELD, hold_reason="It changed.")
    step = "Review version 3" if is_held else "Continue with 2"
    assert f"It changed. {step}" in page.open().text
