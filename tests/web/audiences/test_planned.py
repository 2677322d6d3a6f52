"""A version that waits in a release is marked where it appears."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.releases.models import ItemState, Release, ReleaseState, WorkerHeartbeat
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text
from tests.support.many_audiences import ManyAudiences
from tests.support.queries import queries_of
from tests.support.seeding import seed_item

pytestmark = pytest.mark.django_db
AUDIENCE = "/pages/page_1/audiences/aud_1/"
PAGE = "/pages/page_1/"


@pytest.fixture(autouse=True)
def service(fake_service: FakeService) -> ManyAudiences:
    fake_service.answer = service = ManyAudiences()
    service.add(3)
    return service


def planned(
    user: User, state: ReleaseState = ReleaseState.SCHEDULED, *, audience_id: str = "aud_1"
) -> Release:
    """Save a release with one waiting version, due in three hours if it is scheduled."""
    now = timezone.now()
    release = Release.objects.create(
        name="Winter wording",
        state=state,
        created_at=now,
        owner=user,
        due_at=now + timedelta(hours=3) if state == ReleaseState.SCHEDULED else None,
    )
    seed_item(release, 1, audience_id=audience_id, version_id=f"ver_{audience_id}_2")
    return release


def releases_linked(client: Client, url: str) -> set[str]:
    """Return the URLs of releases that a page links to."""
    response = elements(client.get(url).text, "a")
    urls = {item.attributes.get("href") or "" for item in response}
    return {url for url in urls if url.startswith("/releases/") and url != "/releases/"}


@pytest.mark.parametrize(
    ("state", "mark"),
    [
        (ReleaseState.SCHEDULED, "Version 2 scheduled, "),
        (ReleaseState.RUNNING, "Version 2 next in a release"),
        (ReleaseState.HELD, "Version 2 held in a release"),
    ],
)
@pytest.mark.parametrize("url", [AUDIENCE, f"{AUDIENCE}versions/", PAGE])
def test_a_planned_version_is_marked_with_its_release(
    as_viewer: Client, paula: User, state: ReleaseState, mark: str, url: str
) -> None:
    release = planned(paula, state)
    assert mark in response_text(as_viewer.get(url))
    assert f"/releases/{release.pk}/" in releases_linked(as_viewer, url)


@pytest.mark.parametrize("url", [AUDIENCE, PAGE])
def test_drafts_past_releases_and_sent_versions_mark_nothing(
    as_viewer: Client, paula: User, url: str
) -> None:
    for state in (ReleaseState.DRAFT, ReleaseState.FINISHED, ReleaseState.CANCELED):
        planned(paula, state)
    sent = planned(paula, ReleaseState.RUNNING)
    sent.items.update(state=ItemState.LIVE)
    assert releases_linked(as_viewer, url) == set()


def test_only_the_audience_itself_is_marked(as_viewer: Client, paula: User) -> None:
    planned(paula, audience_id="aud_2")
    assert releases_linked(as_viewer, AUDIENCE) == set()


def test_an_audience_says_that_no_worker_runs_its_schedule(as_viewer: Client, paula: User) -> None:
    sentence = "No scheduler is running."
    assert sentence not in response_text(as_viewer.get(AUDIENCE))
    planned(paula)
    assert sentence in response_text(as_viewer.get(AUDIENCE))
    now = timezone.now()
    WorkerHeartbeat.objects.create(worker_id="worker", started_at=now, active_at=now)
    assert sentence not in response_text(as_viewer.get(AUDIENCE))


def test_marks_take_one_query_for_any_number_of_rows(as_viewer: Client, paula: User) -> None:
    def queries() -> list[str]:
        sqls = queries_of(lambda: as_viewer.get(PAGE))
        return [sql for sql in sqls if "releases_releaseitem" in sql]

    assert len(queries()) == 1
    for number in (1, 2, 3):
        planned(paula, audience_id=f"aud_{number}")
    assert len(queries()) == 1
