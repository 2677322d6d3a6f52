"""Drafts that were only opened, names that follow the versions, and planned or held releases."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.worker import run_pending
from tests.conftest import logged_in, person
from tests.support.html import page_text
from tests.support.many_audiences import ManyAudiences
from tests.support.release_page import ReleasePage
from tests.web.releases.conftest import NEW, Draft, hidden, live_release, url, values

pytestmark = pytest.mark.django_db


@pytest.fixture
def opened(service: ManyAudiences, as_publisher: Client) -> Release:
    """A checked draft of three audiences, opened with one press in their list."""
    as_publisher.post(NEW, {"audience": values(service.add(3)), "then": "review"})
    run_pending("worker-1")
    return Release.objects.get()


def is_listed(client: Client) -> bool:
    """Return whether any list has a draft of three versions."""
    addresses = ("/releases/", "/releases/?state=drafts", "/", "/find/?q=versions")
    with_form = (*addresses, f"{NEW}?audience=page_1/aud_1")
    matching = {"3 versions" in page_text(client, address) for address in with_form}
    return matching != {False}


DECISIONS: dict[str, Callable[[Client, Release], object]] = {
    "reviewed": lambda client, it: client.post(
        url(it, "items", str(it.items.all()[0].pk)),
        {"action": "reviewed", "shown": it.items.all()[0].digest},
    ),
    "named": lambda client, it: client.post(url(it, "edit"), {"name": "", "note": "Prices"}),
    "canceled": lambda client, it: client.post(url(it, "cancel")),
    "published": lambda client, it: ReleasePage(client, it).decide("publish"),
    "scheduled": lambda client, it: ReleasePage(client, it).schedule(),
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_draft_that_was_only_opened_is_not_listed(
    opened: Release, as_publisher: Client, decision: str
) -> None:
    assert not is_listed(as_publisher)
    assert "Not saved yet." in page_text(as_publisher, url(opened))
    DECISIONS[decision](as_publisher, opened)
    assert is_listed(as_publisher)
    as_publisher.post(url(opened, "discard"))
    assert Release.objects.exists()


def test_a_draft_is_removed_when_it_is_left(opened: Release, as_publisher: Client) -> None:
    logged_in(person("peter", "Publishers")).post(url(opened, "discard"))
    assert Release.objects.exists()
    assert as_publisher.post(url(opened, "discard")).url == "/releases/"
    assert not Release.objects.exists()


def test_a_worker_removes_abandoned_drafts_after_a_day(
    opened: Release, draft: Draft, paula: User
) -> None:
    release = draft(1, name="Kept")
    yesterday = timezone.now() - timedelta(days=1)
    for created in (opened, release):
        run_pending("worker-1")
        created.refresh_from_db()
        Release.objects.filter(pk=created.pk).update(created_at=yesterday, wake_at=timezone.now())
    run_pending("worker-1")
    assert Release.objects.get() == release


def test_a_retry_stays_unlisted_until_two_people_open_it(
    draft: Draft, as_publisher: Client
) -> None:
    release = live_release(draft, 2, live=1)
    address = as_publisher.post(url(release, "retry"))["Location"]
    assert "Retry: " not in page_text(as_publisher, "/releases/")
    assert url(release, "retry") in as_publisher.get(url(release)).text
    as_peter = logged_in(person("peter", "Publishers"))
    assert as_peter.post(url(release, "retry"))["Location"] == address
    # Two people have it open, so it stays when one of them leaves.
    as_publisher.post(f"{address}discard/")
    assert "Retry: " in page_text(as_publisher, "/releases/")


def test_a_name_of_versions_has_its_creation_time(opened: Release, as_publisher: Client) -> None:
    created = timezone.now().replace(month=3, day=9, hour=14, minute=5)
    Release.objects.update(is_provisional=False, created_at=created)
    for address in ("/releases/", url(opened)):
        assert "3 versions, 9 Mar, 14:05" in page_text(as_publisher, address)


def test_a_scheduled_release_can_be_reviewed_and_rescheduled(
    draft: Draft, as_publisher: Client
) -> None:
    release = draft(2)
    ReleasePage(as_publisher, release).schedule()
    assert "Review: November prices" in page_text(as_publisher, "/releases/")
    html = as_publisher.get(url(release)).text
    assert '<p class="due">' in html
    assert "Reschedule…" in html
    assert hidden(html, "shown")
    item = release.items.all()[0]
    as_publisher.post(
        url(release, "items", str(item.pk)), {"action": "reviewed", "shown": item.digest}
    )
    item.refresh_from_db()
    assert item.reviewed_by_name == "paula"
    remove = as_publisher.post(url(release, "items", str(item.pk)), {"action": "remove"})
    assert (remove.status_code, release.items.count()) == (422, 2)


@pytest.mark.parametrize("is_held", [True, False])
def test_a_held_release_names_its_next_step(
    draft: Draft, as_publisher: Client, *, is_held: bool
) -> None:
    release = draft(2)
    release.items.update(reviewed_at=timezone.now())
    if is_held:
        release.items.filter(position=2).update(state=ItemState.HELD, version_number=3)
    Release.objects.update(state=ReleaseState.HELD, hold_reason="It changed.")
    page = page_text(as_publisher, url(release))
    step = "Review version 3" if is_held else "Continue with 2"
    assert f"It changed. {step}" in page
