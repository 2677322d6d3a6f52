"""Releases with a fake service of many audiences, and their pages."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeAlias

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.releases.models import ItemState, Release, ReleaseState, WorkerHeartbeat
from tests.support.many_audiences import ManyAudiences
from tests.support.release_page import Board, ReleasePage
from tests.support.release_service import checked_release

Draft: TypeAlias = Callable[..., Release]


@pytest.fixture
def draft(service: ManyAudiences, paula: User) -> Draft:
    """Return a function that makes a checked draft of `count` audiences."""

    def make(count: int, *, name: str = "November prices", **differs: Any) -> Release:
        keys = service.add(count, **differs)
        return checked_release(keys, paula, name=name)

    return make


@pytest.fixture
def worker(db: None) -> None:
    """A worker that was active just now."""
    now = timezone.now()
    WorkerHeartbeat.objects.create(worker_id="worker-1", started_at=now, active_at=now)


@pytest.fixture
def board(draft: Draft, as_publisher: Client) -> Board:
    """Return a function that makes a checked draft and opens it as Paula."""

    def make(count: int, **differs: Any) -> ReleasePage:
        return ReleasePage(as_publisher, draft(count, **differs))

    return make


def live_release(draft: Draft, count: int, *, live: int) -> Release:
    """Return a finished release of `count` items: `live` are live, the others failed."""
    release = draft(count)
    now = timezone.now()
    columns = {"sent_at": now - timedelta(seconds=60), "settled_at": now}
    release.items.filter(position__lte=live).update(state=ItemState.LIVE, **columns)
    reason = "The service rejected the request (409)."
    release.items.filter(position__gt=live).update(state=ItemState.FAILED, reason=reason, **columns)
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.FINISHED, started_at=now - timedelta(minutes=2), finished_at=now
    )
    return release
