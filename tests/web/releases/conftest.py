"""Releases of a fake service with many audiences, and their pages."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release
from dashboard.releases.models import Release, WorkerHeartbeat
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.many_audiences import ManyAudiences

Draft: TypeAlias = Callable[..., Release]


@pytest.fixture
def service(db: None, fake_service: FakeService) -> ManyAudiences:
    """The fake service."""
    many = ManyAudiences()
    fake_service.answer = many
    return many


@pytest.fixture
def draft(service: ManyAudiences, paula: User) -> Draft:
    """Return a function that makes a checked draft of so many audiences."""

    def make(count: int, *, name: str = "November prices", **differs: Any) -> Release:
        keys = service.add(count, **differs)
        release = create_release(name=name, note="", audiences=keys, user=paula)
        check_release(release)
        return release

    return make


@pytest.fixture
def worker(db: None) -> None:
    """A worker that was active just now."""
    now = timezone.now()
    WorkerHeartbeat.objects.create(worker_id="worker-1", started_at=now, active_at=now)


def url(release: Release, *steps: str) -> str:
    """Return the URL of a release, or of something under it."""
    return "/".join([f"/releases/{release.pk}", *steps, ""])


def shown(client: Client, address: str) -> str:
    """Return the text of a page."""
    return text(client.get(address).content.decode())


def hidden(html: str, name: str) -> str:
    """Return the value of the last field of that name."""
    inputs = [each.attributes for each in elements(html, "input")]
    return [each["value"] for each in inputs if each.get("name") == name][-1]


def decide(client: Client, release: Release, *steps: str, **fields: str) -> Any:
    """Submit the form of a decision as the page of the release shows it."""
    html = client.get(url(release)).content.decode()
    return client.post(url(release, *steps), {"shown": hidden(html, "shown"), **fields})
