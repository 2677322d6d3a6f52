"""The audience page: overrides, effective values and the live version."""

import json
from socket import socket
from threading import Barrier
from typing import Any

import httpx
import pytest
from django.test import Client

from dashboard.contract.audiences import Audience
from dashboard.ledger.recording import record_audiences
from dashboard.service.client import close_publishing_client
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.one_audience import get, serve
from tests.support.seeding import seed_pages
from tests.support.small_server import answer, serving

pytestmark = pytest.mark.django_db


def record(**differs: Any) -> None:
    record_audiences("page_1", [Audience.model_validate(wire.audience(**differs))])


def test_the_head_says_what_is_live_and_newer(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience())
    seen = text(get(as_viewer, "audience-detail"))
    assert "Version 1 live" in seen
    assert "Version 2 draft" in seen
    assert "Compare 1 with 2" in seen


def test_a_publisher_is_offered_the_latest_version(
    fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience())
    page = get(as_publisher, "audience-detail")
    link = next(a for a in elements(page, "a") if a.attributes.get("hx-target") == "#dialogs")
    assert link.attributes["href"].endswith("/audiences/aud_1/versions/ver_2/publish/")
    assert "Publish version 2" in text(page)


@pytest.mark.parametrize("name", ["audience-detail", "version-list", "version-compare"])
@pytest.mark.parametrize("archived", ["audience", "page"])
def test_an_archived_audience_offers_no_publish_and_says_why(
    name: str, archived: str, fake_service: FakeService, as_publisher: Client
) -> None:
    seed_pages(wire.page(status="archived" if archived == "page" else "published"))
    archived_at = "2026-11-01T00:00:00Z" if archived == "audience" else None
    serve(fake_service, wire.audience(archivedAt=archived_at))
    page = get(as_publisher, name)
    assert "/publish/" not in page
    message = {"audience": "This audience", "page": "This audience’s page"}[archived]
    is_shown = f"{message} is archived, so publishing isn’t offered here." in text(page)
    assert is_shown is (name != "version-compare")


def test_a_viewer_is_offered_nothing_to_publish(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    assert "/publish/" not in get(as_viewer, "audience-detail")


@pytest.mark.parametrize("status", ["queued", "processing", "pending", "cancelled"])
def test_a_version_in_progress_or_cancelled_is_not_offered(
    status: str, fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=wire.version(status=status)))
    page = get(as_publisher, "audience-detail")
    word = {"cancelled": "canceled"}.get(status, status)
    assert f"Version 2 {word}" in text(page)
    assert "Publish version" not in text(page)


def test_a_live_latest_version_is_not_offered(
    fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, wire.audience(latestVersion=wire.live_version()))
    page = get(as_publisher, "audience-detail")
    assert "/publish/" not in page
    assert "Compare 1 with" not in text(page)


def test_absent_null_and_empty_overrides_are_distinguished(
    fake_service: FakeService, as_viewer: Client
) -> None:
    audience = wire.audience(actionFormInstructionsOverride="", actionFormIdOverride=None)
    serve(fake_service, audience)
    seen = text(get(as_viewer, "audience-detail"))
    assert "actionUrlOverride" in seen.split("fields not returned")[1]
    assert "actionFormInstructionsOverride Empty text" in seen
    assert "actionFormIdOverride —empty" in seen


def test_an_override_is_shown_beside_the_actions(
    fake_service: FakeService, as_viewer: Client
) -> None:
    button = {"actionId": "act_1", "buttonTitle": "Book", "url": "https://kestrel.example/book"}
    page = wire.page(actions=[button])
    serve(fake_service, wire.audience(actionUrlOverride="https://kestrel.example/mine"), page=page)
    html = get(as_viewer, "audience-detail")
    hrefs = [a.attributes["href"] for a in elements(html, "a")]
    assert "https://kestrel.example/mine" in hrefs
    assert "https://kestrel.example/book" in hrefs


def test_an_unsafe_url_is_no_link(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience(actionUrlOverride="javascript:alert(1)"))
    page = get(as_viewer, "audience-detail")
    assert "javascript:alert(1)" in text(page)
    assert not any("javascript" in a.attributes.get("href", "") for a in elements(page, "a"))


METADATA = {
    "metadataOverride": {"title": "Ours", "ogTitle": "", "author": None, "inventedField": "new"},
    "effectiveMetadata": {"title": "Ours", "ogTitle": "The page's", "keywords": ["a", "b"]},
}


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ("", {"title", "ogTitle", "inventedField"}),
        ("set", {"title", "ogTitle", "inventedField"}),
        ("differs", {"ogTitle", "inventedField"}),
        ("nonsense", {"title", "ogTitle", "inventedField"}),
    ],
)
def test_metadata_can_be_narrowed_to_overrides_or_differences(
    chosen: str, names: set[str], fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(**METADATA))
    body = get(as_viewer, "audience-detail", target="audience-body", metadata=chosen)
    part = body.split('id="metadata"')[1].split("</section>")[0]
    assert {name for name in ("title", "ogTitle", "keywords", "inventedField", "author")
            if f'<span class="mono">{name}</span>' in part} == names  # fmt: skip
    assert "Overrides 3" in text(part)
    assert "Differs 2" in text(part)


def test_returned_metadata_is_shown_and_the_rest_condensed(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience(**METADATA))
    body = get(as_viewer, "audience-detail", target="audience-body", metadata="all")
    part = text(body.split('id="metadata"')[1].split("</section>")[0])
    assert "All 5" in part
    assert "keywords Not returned a, b" in part
    assert "twitterImageFileId" not in part
    seen = text(get(as_viewer, "audience-detail"))
    assert "twitterImageFileId" in seen.split("fields not returned")[1]


def test_an_audience_with_only_an_id_is_shown(
    fake_service: FakeService, as_publisher: Client
) -> None:
    serve(fake_service, {"audienceId": "aud_1"})
    seen = text(get(as_publisher, "audience-detail"))
    assert "Unnamed audience" in seen
    assert "Nothing is live Never published, as far as Pressroom has seen." in seen


def test_unknown_statuses_and_fields_are_shown_by_their_names(
    fake_service: FakeService, as_viewer: Client
) -> None:
    version = wire.version(status="simmering", mood="hopeful")
    serve(fake_service, wire.audience(latestVersion=version))
    page = text(get(as_viewer, "audience-detail"))
    assert "Version 2 simmering" in page
    assert '"mood": "hopeful"' in page


def test_the_service_s_text_is_never_markup(fake_service: FakeService, as_viewer: Client) -> None:
    evil = "<script>alert(1)</script>"
    serve(
        fake_service,
        wire.audience(
            effectiveName=evil, supplementaryContext=evil, metadataOverride={"title": evil}
        ),
    )
    page = get(as_viewer, "audience-detail")
    assert "<script>alert" not in page
    assert evil in text(page)


def test_an_unlisted_audience_is_shown_as_last_known(
    fake_service: FakeService, as_viewer: Client
) -> None:
    record()
    serve(fake_service, wire.audience(audienceId="aud_2"))
    seen = text(get(as_viewer, "audience-detail"))
    assert "The service didn’t list this audience" in seen
    assert "Version 1 live" in seen


def test_an_unreadable_audience_names_the_path_of_the_error(
    fake_service: FakeService, as_viewer: Client
) -> None:
    broken = wire.audience(latestVersion=wire.version(versionNumber="two"))
    serve(fake_service, broken)
    assert "items.0.latestVersion.versionNumber" in get(as_viewer, "audience-detail", status=502)
    record()
    seen = text(get(as_viewer, "audience-detail"))
    assert "items.0.latestVersion.versionNumber" in seen
    assert "didn’t list this audience" not in seen


def test_an_unknown_audience_is_not_found(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service)
    assert "Audience not found." in get(as_viewer, "audience-detail", status=404)


@pytest.mark.parametrize(
    "answer",
    [
        {"status_code": 500, "text": "boom"},
        {"status_code": 200, "text": "<html>"},
        {"status_code": 403, "json": {"detail": "No"}},
    ],
)
def test_an_unusable_response_shows_the_last_known(
    answer: dict[str, Any], fake_service: FakeService, as_publisher: Client
) -> None:
    fake_service.answers(**answer)
    assert get(as_publisher, "audience-detail", status=502)
    record()
    page = get(as_publisher, "audience-detail")
    assert "Showing the last known state" in page
    assert "Publish version 2: unavailable until the service responds" in text(page)
    assert "/publish/" not in page


def test_a_service_that_does_not_respond_is_reported(
    fake_service: FakeService, as_publisher: Client
) -> None:
    fake_service.fails(httpx.ConnectError)
    assert "Service unreachable" in get(as_publisher, "audience-detail", status=504)
    record()
    assert "Showing the last known state" in get(as_publisher, "audience-detail")


def test_one_call_and_few_queries_make_the_page(
    fake_service: FakeService, as_viewer: Client, django_assert_max_num_queries: Any
) -> None:
    serve(fake_service, *[wire.audience(audienceId=f"aud_{n}") for n in range(1, 60)])
    get(as_viewer, "audience-detail")  # records the page, too
    fake_service.sent.clear()
    with django_assert_max_num_queries(18):
        get(as_viewer, "audience-detail")
    assert len(fake_service.sent) == 1


def test_an_unseen_page_is_fetched_in_parallel(as_viewer: Client, settings: Any) -> None:
    both = Barrier(2)
    body = json.dumps(wire.page() | wire.envelope(wire.audience())).encode()

    def answer_together(connection: socket) -> None:
        # Each response waits for the other, so sequential calls would fail.
        both.wait(timeout=60)
        connection.sendall(answer(body))

    settings.SERVICE_TRANSPORT = None
    with serving(answer_together) as server:
        settings.SERVICE_URL, settings.SERVICE_API_KEY = server.url, "key-of-the-service"
        assert "on Fleet telematics" in text(get(as_viewer, "audience-detail"))
        close_publishing_client()


def test_an_audience_requires_signing_in(client: Client) -> None:
    assert get(client, "audience-detail", status=302) == ""
