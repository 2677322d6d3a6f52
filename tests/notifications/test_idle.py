"""A worker with nothing to deliver costs next to nothing."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.notifications.following import follow
from dashboard.notifications.models import Channel, Followed
from dashboard.notifications.outbox import bundle, claim_next
from dashboard.notifications.sending import POLL_S
from dashboard.notifications.watches import WATCH_S, look_once
from dashboard.releases.claims import claim_due
from dashboard.releases.models import Release, ReleaseState
from dashboard.releases.worker import TICK_S
from tests.support import wire
from tests.support.seeding import seed_audiences, seed_pages

IDLE_MINUTE_S = 0.02
"""Processor time of all that a worker does in a minute without work, releases included."""


@pytest.fixture
def _scheduled(settings: Any, vera: User) -> None:
    settings.EMAIL_IS_ON = True
    seed_pages(wire.page())
    seed_audiences(*[wire.audience(audienceId=f"aud_{number}") for number in range(200)])
    due_at = timezone.now() + timedelta(days=1)
    Release.objects.bulk_create(
        Release(
            name=f"Release {number}",
            state=ReleaseState.SCHEDULED,
            created_at=timezone.now(),
            due_at=due_at,
            wake_at=due_at,
        )
        for number in range(1_000)
    )
    follow(vera, "page_1")
    # What was just recorded is compared for six minutes.
    Followed.objects.update(compare_since=timezone.now())


def idle_minute() -> None:
    for _ in range(round(60 / TICK_S)):
        assert claim_due("idle", timezone.now()) is None
    for _ in range(round(60 / POLL_S)):
        for channel in (Channel.EMAIL, Channel.WEBHOOK):
            bundle(channel, timezone.now())
            claim_next(channel, "idle", timezone.now())
    for _ in range(round(60 / WATCH_S)):
        look_once()


@pytest.mark.usefixtures("_scheduled")
def test_an_idle_minute_costs_next_to_nothing() -> None:
    idle_minute()
    minutes = []
    for _ in range(15):
        begun = time.process_time()
        idle_minute()
        minutes.append(time.process_time() - begun)
    assert min(minutes) < IDLE_MINUTE_S
