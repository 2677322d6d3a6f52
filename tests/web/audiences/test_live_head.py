"""What an audience's page leads with in each state, with the same words on every screen."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dashboard.approvals.models import ApprovalKind, ApprovalRequest, RequestState
from dashboard.embedded_api.models import Version
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.releases.models import Release, ReleaseState
from tests.support import wire
from tests.support.embedded_api_factories import make_audience, make_live_version, make_version
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.one_audience import get, serve
from tests.support.seeding import seed_item, seed_publication

pytestmark = pytest.mark.django_db

PALETTE = {"HX-Request": "true", "HX-Target": "palette-list"}


def headings(html: str) -> list[str]:
    """Return the headings of the texts and of the timeline, in order."""
    parts = html.split("<h2 id=")[1:]
    return [text(f"<h2 id={part.split('</h2>')[0]}</h2>") for part in parts]


def head_html(client: Client) -> str:
    return get(client, "audience-detail")


def test_the_live_text_is_above_the_difference(
    fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience())
    html = head_html(as_publisher)
    expected = ["Live now: version 1", "What would change: version 2", "What was live when"]
    assert headings(html)[:3] == expected
    seen = text(html)
    assert seen.index("Runs 64 trucks.") < seen.index("What would change")
    assert "Runs removed: 64 inserted: 71 trucks." in seen
    assert "1 word added, 1 removed" in seen


def test_the_live_head_says_since_when_and_by_whom(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    seen = text(head_html(as_viewer))
    assert "Since 1 Feb 10:00. First seen" in seen
    assert "publisher unknown. Queued 1 Feb 10:00, 38 s to go live." in seen


def test_nothing_live_shows_what_would_go_live(
    fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience(publishedVersion=None))
    html = head_html(as_publisher)
    expected = ["Nothing is live", "What would go live: version 2", "What was live when"]
    assert headings(html)[:3] == expected
    assert "Never published, as far as Pressroom has seen." in text(html)


def test_a_live_latest_version_leaves_nothing_to_change(
    fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=wire.live_version()))
    assert headings(head_html(as_publisher))[:2] == ["Live now: version 1", "What was live when"]


@pytest.mark.parametrize(
    ("status", "heading"),
    [
        ("queued", "In progress: version 2"),
        ("cancelled", "Canceled: version 2"),
        ("rehearsing", "What would change: version 2"),
    ],
)
def test_a_latest_version_is_named_with_its_state(
    status: str, heading: str, fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=wire.version(status=status)))
    assert headings(head_html(as_viewer))[1] == heading


def test_an_outage_shows_what_was_last_live(
    fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience())
    head_html(as_publisher)
    fake_service.fails(httpx.ConnectError)
    html = head_html(as_publisher)
    assert headings(html)[0] == "Last known live: version 1"
    assert "Checked" in text(html)
    assert "Last known: version 1 live" in text(html)
    assert " Now " not in text(html)
    assert "Runs 64 trucks." in text(html)


def test_a_version_waiting_for_approval_links_its_request(
    fake_service: FakeService, as_publisher: Client, paula: User
) -> None:
    release = Release.objects.create(
        owner=paula,
        owner_name="paula",
        note="Prices agreed with finance.",
        state=ReleaseState.WAITING_FOR_APPROVAL,
        created_at=timezone.now(),
    )
    seed_item(release, 1, version_id="ver_2")
    serve(fake_service, wire.audience())
    html = head_html(as_publisher)
    assert headings(html)[1] == "Waiting for approval: version 2"
    assert reverse("release-detail", args=[release.pk]) in html
    assert "Requested by paula" in text(html)
    assert "Prices agreed with finance. paula" in text(html)
    for name in ("audience-detail", "version-list", "version-compare"):
        page = get(as_publisher, name)
        assert reverse("release-detail", args=[release.pk]) in page, name
        assert "Publish version 2" not in text(page), name


def test_a_publish_outside_shows_what_it_changed(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=wire.live_version()))
    head_html(as_viewer)
    second = wire.live_version(
        versionId="ver_2",
        versionNumber=2,
        supplementaryContext="Runs 71 trucks.",
        publishedAt=timezone.now().isoformat(),
    )
    serve(fake_service, wire.audience(latestVersion=second, publishedVersion=second))
    html = head_html(as_viewer)
    expected = ["Live now: version 2", "Published outside Pressroom: version 2"]
    assert headings(html)[:2] == expected
    assert "Version 1 to 2: 1 word added, 1 removed." in text(html)


def test_the_timeline_compares_each_publication_with_the_one_before(
    fake_service: FakeService, as_viewer: Client
) -> None:
    for number, days in ((1, 9), (2, 5), (1, 3)):
        seed_publication(
            number,
            started_at=timezone.now() - timedelta(days=days),
            reason=PublicationReason.PUBLISH,
            actor_name="paula",
        )
    serve(fake_service, wire.audience())
    html = head_html(as_viewer)
    anchors = (a.attributes.get("href", "") for a in elements(html, "a"))
    compared = [href.split("?")[1] for href in anchors if "compare/?from=ver" in href]
    assert compared[-2:] == ["from=ver_2&to=ver_1", "from=ver_1&to=ver_2"]


# With the built-in API


def test_the_timeline_names_who_approved_in_as_many_queries(
    fake_service: FakeService, as_viewer: Client, paula: User
) -> None:
    serve(fake_service, wire.audience())
    head_html(as_viewer)

    def queries(number: int) -> tuple[int, str]:
        ApprovalRequest.objects.update(decided_by_name=f"peter {number}")
        with CaptureQueriesContext(connection) as queries:
            seen = text(head_html(as_viewer))
        return len(queries), seen

    seed_publication(
        1, reason=PublicationReason.PUBLISH, actor_name="paula", operation=approved(paula, 1)
    )
    few, seen = queries(1)
    assert "by paula, approved by peter 1" in seen
    for number in range(2, 6):
        operation = approved(paula, number)
        seed_publication(
            number, reason=PublicationReason.PUBLISH, actor_name="paula", operation=operation
        )
    many, seen = queries(2)
    assert seen.count("approved by peter 2") == 5
    assert many <= few


def approved(user: User, number: int) -> Operation:
    """Record the publish of a version that another person approved."""
    now = timezone.now()
    approval = ApprovalRequest.objects.create(
        kind=ApprovalKind.PUBLISH,
        state=RequestState.APPROVED,
        subject={},
        requested_at=now,
        expires_at=now,
    )
    return Operation.objects.create(
        operation_key=f"key-{number}",
        kind=OperationKind.PUBLISH_VERSION,
        outcome=Outcome.ACCEPTED,
        actor_name=user.username,
        requested_at=now,
        approval=approval,
    )


@pytest.fixture
def rolled_back(settings: Any, as_publisher: Client) -> Version:
    """Version 2 of an audience, published and rolled back to version 1."""
    settings.EMBEDDED_API_QUEUE_S = settings.EMBEDDED_API_PROCESSING_S = 0
    audience = make_audience(computed_name="Brightwater")
    first, second = make_live_version(audience), make_version(audience, 2)
    for version in (second, first):
        as_publisher.get(reverse("audience-detail", args=[audience.page_id, audience.pk]))
        publish(as_publisher, version)
    as_publisher.get(reverse("audience-detail", args=[audience.page_id, audience.pk]))
    return second


def publish(client: Client, version: Version) -> None:
    ids = [version.audience.page_id, version.audience_id, version.pk]
    # An older version has the dialog of a rollback.
    dialog = client.get(reverse("version-publish", args=ids), follow=True)
    inputs = [e.attributes for e in elements(dialog.text, "input")]
    form = {e["name"]: e.get("value", "") for e in inputs if e.get("name")}
    form |= {"number": str(version.version_number), "when": "now"}
    client.post(dialog.request["PATH_INFO"], form)


def page(client: Client, name: str, version: Version, *more: str, query: str = "") -> str:
    ids = [version.audience.page_id, version.audience_id, *more]
    return client.get(reverse(name, args=ids) + query).text


def test_a_rolled_back_version_has_a_head_without_button(
    rolled_back: Version, as_publisher: Client
) -> None:
    html = page(as_publisher, "audience-detail", rolled_back)
    assert headings(html)[:2] == ["Live now: version 1", "Rolled back: version 2"]
    seen = text(html)
    assert "Version 2 rolled back" in seen
    assert "Again since" in seen
    assert "Rolled back from 2 by paula" in seen
    assert "Nothing newer to publish." in seen
    assert "Publish version 2" not in seen


def test_every_screen_says_rolled_back(rolled_back: Version, as_publisher: Client) -> None:
    screens = {
        "history": page(as_publisher, "version-list", rolled_back),
        "comparison": page(as_publisher, "version-compare", rolled_back),
        "dialog": page(as_publisher, "version-publish", rolled_back, str(rolled_back.pk)),
        "search": as_publisher.get(
            reverse("find"), {"q": str(rolled_back.pk)}, headers=PALETTE
        ).text,
        "activity": as_publisher.get(reverse("operation-list")).text,
        "overview": as_publisher.get(reverse("overview")).text,
    }
    missing = [name for name, html in screens.items() if "Rolled back" not in text(html)]
    assert missing == []
