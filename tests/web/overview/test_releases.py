"""The overview shows what is scheduled, what is held and what is being published."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.releases.models import (
    HoldKind,
    ItemState,
    Release,
    ReleaseState,
    WorkerHeartbeat,
)
from tests.support import wire
from tests.support.html import elements, response_text, text
from tests.support.queries import queries_of
from tests.support.seeding import seed_item, seed_pages

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _a_page_was_seen(db: None) -> None:
    seed_pages(wire.page())


def release(user: User, state: ReleaseState, *, items: int = 2, **differs: Any) -> Release:
    now = timezone.now()
    release = Release.objects.create(
        **{"name": "Winter wording", "state": state, "created_at": now, "owner_name": "Paula"}
        | {"created_by_name": "Paula", "owner": user}
        | differs
    )
    for number in range(1, items + 1):
        is_live = number == 1 and state == ReleaseState.RUNNING
        seed_item(release, number, state=ItemState.LIVE if is_live else ItemState.WAITING)
    return release


def section(client: Client, heading: str, **headers: str) -> str:
    """Return the text from one heading to the next."""
    html = client.get("/", headers=headers or None).text
    return text(html.split(f">{heading}", 1)[1].split("<h2", 1)[0])


def heartbeat() -> None:
    now = timezone.now()
    WorkerHeartbeat.objects.create(worker_id="worker", started_at=now, active_at=now)


def test_what_is_scheduled_is_listed_by_its_time(as_viewer: Client, paula: User) -> None:
    in_minutes = timezone.now() + timedelta(hours=2, minutes=5, seconds=30)
    release(paula, ReleaseState.SCHEDULED, name="Later", due_at=in_minutes + timedelta(days=2))
    release(paula, ReleaseState.SCHEDULED, name="Sooner", due_at=in_minutes)
    heartbeat()
    section_text = section(as_viewer, "Scheduled")
    assert section_text.index("Sooner") < section_text.index("Later")
    assert "2 versions, Paula" in section_text
    assert "in 2 h 05 min" in section_text
    assert "Scheduler last active" in section_text


def test_a_schedule_without_a_worker_is_marked(as_viewer: Client, paula: User) -> None:
    release(paula, ReleaseState.SCHEDULED, due_at=timezone.now() + timedelta(hours=2))
    assert "No scheduler is running" in section(as_viewer, "Scheduled")


def test_nothing_scheduled_is_said(as_viewer: Client) -> None:
    assert "Nothing is scheduled." in section(as_viewer, "Scheduled")


def test_a_held_release_needs_attention_with_its_reason(as_viewer: Client, paula: User) -> None:
    held = release(
        paula,
        ReleaseState.HELD,
        hold_kind=HoldKind.CHANGED,
        hold_reason="Version 5 was created after you reviewed version 4.",
        held_at=timezone.now(),
    )
    html = as_viewer.get("/").text
    section_text = section(as_viewer, "Needs attention")
    assert "Winter wording, 2 versions" in section_text
    assert "Version 5 was created after you reviewed version 4. Nothing was sent" in section_text
    assert "(1) Overview" in text(html)
    assert f"/releases/{held.pk}/" in {e.attributes.get("href") for e in elements(html, "a")}


def test_a_running_release_is_in_progress_and_followed(as_viewer: Client, paula: User) -> None:
    release(paula, ReleaseState.RUNNING, started_at=timezone.now())
    section_text = section(as_viewer, "Versions in progress")
    assert "Winter wording 1 of 2 sent, 1 went live" in section_text
    assert "Updates automatically." in section_text


def test_drafts_and_past_releases_are_left_out(as_viewer: Client, paula: User) -> None:
    for state in (ReleaseState.DRAFT, ReleaseState.FINISHED, ReleaseState.CANCELED):
        release(paula, state)
    assert "Winter wording" not in response_text(as_viewer.get("/"))


def test_many_releases_take_no_more_queries_than_one(as_viewer: Client, paula: User) -> None:
    due_at = timezone.now() + timedelta(hours=2)

    def queries() -> int:
        return len(queries_of(lambda: as_viewer.get("/")))

    release(paula, ReleaseState.SCHEDULED, due_at=due_at)
    as_viewer.get("/")
    before = queries()
    for number in range(4):
        release(paula, ReleaseState.SCHEDULED, due_at=due_at + timedelta(hours=number))
    assert queries() == before
