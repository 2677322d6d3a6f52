"""A release is one entry in Activity, and each of its operations links to it."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState
from tests.support.csv_files import csv_rows
from tests.support.html import page_text, response_text, text
from tests.support.live_page import Region
from tests.support.queries import queries_of
from tests.support.seeding import seed_item

pytestmark = pytest.mark.django_db


def publish(number: int, outcome: Outcome = Outcome.ACCEPTED) -> Operation:
    return Operation.objects.create(
        operation_key=f"pr-{number}",
        kind=OperationKind.PUBLISH_VERSION,
        outcome=outcome,
        actor_name="Paula",
        page_id="page_1",
        audience_id=f"aud_{number}",
        version_id=f"ver_{number}",
        version_number=2,
        target_name=f"Audience {number}",
        requested_at=timezone.now(),
    )


@pytest.fixture
def release(paula: User) -> Release:
    """A finished release of three versions, one failed; one operation is before it, one after."""
    publish(1)
    now = timezone.now()
    release = Release.objects.create(
        name="Winter wording",
        note="As agreed with finance.",
        state=ReleaseState.FINISHED,
        created_at=now,
        created_by_name="Paula",
        owner=paula,
        owner_name="Paula",
        decided_at=now,
        started_at=now,
        finished_at=now,
    )
    for number in (2, 3, 4):
        is_failed = number == 3
        seed_item(
            release,
            number,
            audience_name=f"Audience {number}",
            page_name="Page",
            state=ItemState.FAILED if is_failed else ItemState.LIVE,
            operation=publish(number, Outcome.REJECTED if is_failed else Outcome.ACCEPTED),
        )
    publish(5)
    return release


def list_text(client: Client, query: str = "") -> str:
    return page_text(client, f"/activity/{query}")


def test_a_release_is_one_entry(as_viewer: Client, release: Release) -> None:
    page = list_text(as_viewer)
    assert page.count("Winter wording") == 1
    assert "3 of 3 sent, 2 went live, 1 failed" in page
    assert "Audience 1" in page
    assert "Audience 5" in page
    assert not any(f"Audience {number}" in page for number in (2, 3, 4))
    assert "5 operations" in page


def test_the_entry_opens_to_operations_note_and_person(as_viewer: Client, release: Release) -> None:
    headers = {"HX-Request": "true", "HX-Target": f"release-{release.pk}"}
    url = f"/activity/releases/{release.pk}/"
    html = as_viewer.get(url, headers=headers).text
    page = text(html)
    assert "Decided by Paula" in page
    assert "As agreed with finance." in page
    assert all(f"Audience {number}" in page for number in (2, 3, 4))
    assert "Audience 5" not in page
    assert "/activity/pr-3/" in html
    assert "<html" not in html


def set_running(release: Release) -> ReleaseItem:
    """Make the release run, with its last version in progress."""
    Release.objects.update(state=ReleaseState.RUNNING, finished_at=None)
    release.items.filter(position=4).update(state=ItemState.IN_PROGRESS)
    return release.items.get(position=4)


def test_the_row_of_a_release_follows_it(as_viewer: Client, release: Release) -> None:
    set_running(release)
    log = Region(as_viewer, "/activity/", "log")
    assert log.is_soon
    release.items.update(state=ItemState.LIVE)
    Release.objects.update(state=ReleaseState.FINISHED)
    assert "3 of 3 went live" in log.refresh().text
    assert not log.is_soon


def test_operations_of_an_open_row_are_followed_with_it(
    as_viewer: Client, release: Release
) -> None:
    item, url = set_running(release), f"/activity/releases/{release.pk}/"
    headers = {"HX-Request": "true", "HX-Target": f"release-{release.pk}"}
    opened = as_viewer.get(url, headers=headers).text
    assert f'data-live="release:{release.pk}"' in opened
    assert text(opened).count("Accepted") == 2
    item.operation.outcome = Outcome.REJECTED
    item.operation.save()
    headers["HX-Target"] = f"release-operations-{release.pk}"
    assert text(as_viewer.get(url, headers=headers).text).count("Accepted") == 1


def test_without_htmx_a_release_lists_its_operations(as_viewer: Client, release: Release) -> None:
    response = as_viewer.get(f"/activity/releases/{release.pk}/", follow=True)
    page = response_text(response)
    assert "Operations of the release Winter wording" in page
    assert "3 operations" in page
    assert "Audience 3" in page
    assert "Audience 5" not in page


def test_a_filter_finds_a_single_operation_of_a_release(
    as_viewer: Client, release: Release
) -> None:
    page = list_text(as_viewer, "?outcome=rejected")
    assert "Audience 3" in page
    assert "1 operation" in page


@pytest.mark.parametrize("query", ["?release=999", "?release=x", "?release=-1"])
def test_an_unknown_release_is_named_and_ignored(
    as_viewer: Client, release: Release, query: str
) -> None:
    page = list_text(as_viewer, query)
    assert f"Release “{query.partition('=')[2]}” doesn’t exist anymore and is ignored." in page


def test_an_operation_links_to_its_release(as_viewer: Client, release: Release) -> None:
    html = as_viewer.get("/activity/pr-3/").text
    assert re.search(rf'<a href="/releases/{release.pk}/"[^>]*>Winter wording</a>', html)
    assert "Winter wording" not in list_text(as_viewer, "pr-5/")


def test_the_export_names_the_release_of_each_operation(
    as_viewer: Client, release: Release
) -> None:
    rows = csv_rows(as_viewer, "/activity/export.csv")
    matching = {row["target"]: (row["release"], row["release ID"]) for row in rows}
    assert len(rows) == 5
    assert matching["Audience 3"] == ("Winter wording", str(release.pk))
    assert matching["Audience 5"] == ("", "")


def test_a_release_of_many_versions_takes_no_more_queries(
    as_viewer: Client, release: Release
) -> None:
    def queries() -> int:
        return len(queries_of(lambda: list_text(as_viewer)))

    list_text(as_viewer)
    before = queries()
    for number in range(10, 30):
        seed_item(release, number, state=ItemState.LIVE, operation=publish(number))
    assert queries() == before
