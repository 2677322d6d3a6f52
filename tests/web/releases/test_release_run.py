"""A release from the selection to the rollback, by forms alone, with a worker in between."""

from typing import Any

import httpx
import pytest
from django.test import Client
from django.utils import timezone

from dashboard.releases.models import Release
from dashboard.releases.worker import run_pending
from tests.support.fake_service import FakeService
from tests.support.many_audiences import ManyAudiences
from tests.web.releases.conftest import decide, shown, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def publishing(service: ManyAudiences, fake_service: FakeService) -> ManyAudiences:
    """The service, at which a published version is live at once."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method != "POST":
            return service(request)
        *_, page_id, _, audience_id, _, version_id, _ = request.url.path.split("/")
        live: dict[str, Any] = service.live((page_id, audience_id), int(version_id[-1]))
        service.change((page_id, audience_id), publishedVersion=live, latestVersion=live)
        return httpx.Response(200, json=live)

    fake_service.answer = answer
    return service


def work() -> None:
    """Let a worker do everything that is due, and then what it would do in a few seconds."""
    for _ in range(4):
        run_pending("worker")
        Release.objects.filter(wake_at__isnull=False).update(wake_at=timezone.now())


def test_two_audiences_are_published_and_rolled_back(
    publishing: ManyAudiences, as_publisher: Client
) -> None:
    keys = ["/".join(key) for key in publishing.add(2)]
    as_publisher.post("/releases/new/", {"audience": keys, "then": "review"})
    release = Release.objects.get()
    assert "Checking 0 of 2…" in shown(as_publisher, url(release))
    work()
    decide(as_publisher, release, "publish")
    work()
    assert "2 of 2 went live" in shown(as_publisher, url(release))
    as_publisher.post(url(release, "roll-back"))
    rollback = Release.objects.get(rolls_back=release)
    work()
    decide(as_publisher, rollback, "publish", typed="2")
    work()
    assert "2 of 2 went live" in shown(as_publisher, url(rollback))
    assert {
        each["publishedVersion"]["versionNumber"] for each in publishing.audiences.values()
    } == {1}
