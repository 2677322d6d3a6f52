"""The history: every recorded version, its state, and the gaps."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from dashboard.contract.audiences import Audience, AudienceVersion
from dashboard.ledger.models import Attempt, Operation, VersionRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.ledger.recording import record_audiences, record_version
from dashboard.web.versions.history import MAX_COMPARED
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.one_audience import address, get, serve

pytestmark = pytest.mark.django_db


def see(number: int, *, days_ago: float = 0, **differs: Any) -> None:
    """Record a version as first seen that many days ago."""
    sent = wire.version(versionId=f"ver_{number}", versionNumber=number) | differs
    record_version("page_1", AudienceVersion.model_validate(sent))
    VersionRecord.objects.filter(version_id=sent["versionId"]).update(
        first_seen_at=datetime.now(UTC) - timedelta(days=days_ago)
    )


def published_from_here(
    actor: User, version_id: str, ending: AttemptResult, key: str = "key-1"
) -> None:
    target = Target("page_1", "aud_1", version_id)
    _, attempt = begin(
        operation_key=key, kind=OperationKind.PUBLISH_VERSION, actor=actor, target=target, body={}
    )
    assert attempt is not None
    end(attempt, ending)


def test_of_many_long_versions_the_newest_alone_are_compared(
    fake_service: FakeService, as_viewer: Client
) -> None:
    for number in range(3, 63):
        see(number, supplementaryContext=f"{number} " + "word " * 1000)
    serve(fake_service, wire.audience(publishedVersion=None))
    page = get(as_viewer, "version-list", show="200")
    assert len(headings(page)) == 61
    rows = [text(row) for row in page.split('<li id="row-')[1:]]
    compared = ["removed since version" in row for row in rows]
    size = 2 * len("62 " + "word " * 1000)
    assert sum(compared) <= MAX_COMPARED // size + 1
    assert all(compared[: MAX_COMPARED // size])


def headings(page: str) -> list[str]:
    return [part.split("</h2>")[0].split(">")[-1] for part in page.split('<h2 id="h-v')[1:]]


def test_every_version_ever_seen_is_listed_newest_first(
    fake_service: FakeService, as_viewer: Client
) -> None:
    see(0, days_ago=30)
    serve(fake_service, wire.audience())
    page = get(as_viewer, "version-list")
    assert headings(page) == ["Version 2", "Version 1", "Version 0"]
    assert "Version 1 Live" in text(page)


def test_steps_show_waiting_and_queue_times(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience())
    seen = text(get(as_viewer, "version-list"))
    assert "5 min Draft" in seen
    assert "38 s Live" in seen
    assert "Queued for 38 s." in seen
    assert "In draft for" in seen


def test_a_newer_version_is_compared_with_the_live_one(
    fake_service: FakeService, as_viewer: Client
) -> None:
    latest = wire.version(
        versionId="ver_3", versionNumber=3, supplementaryContext="Runs 80 trucks."
    )
    see(2, supplementaryContext="Runs three boats.")
    serve(fake_service, wire.audience(latestVersion=latest))
    seen = text(get(as_viewer, "version-list"))
    assert "“Runs 80 trucks.” 1 word added, 1 removed since version 1." in seen


def test_a_vanished_object_shows_when_it_was_seen(
    fake_service: FakeService, as_viewer: Client
) -> None:
    see(0, status="published")
    serve(fake_service, wire.audience())
    page = get(as_viewer, "version-list")
    newer, older = page.split('<h2 id="h-v0"')
    assert "Superseded" in text(older)
    assert "last seen as published, " in text(older)
    assert "last seen" not in text(newer)


@pytest.mark.parametrize(
    ("differs", "words"),
    [
        ({"status": "published"}, "Superseded last seen as published,"),
        (
            {"status": "archived", "publishedAt": "2026-01-10T00:00:00Z"},
            "Superseded last seen as archived,",
        ),
        ({"status": "archived"}, "Archived last seen"),
        ({"status": "draft", "publishedAt": "2026-01-10T00:00:00Z"}, "Draft last seen"),
    ],
)
def test_an_earlier_live_version_is_superseded_and_not_green(
    differs: dict[str, Any], words: str, fake_service: FakeService, as_viewer: Client
) -> None:
    see(0, **differs)
    serve(fake_service, wire.audience())
    row = get(as_viewer, "version-list").split('<li id="row-ver_0"')[1].split("</article>")[0]
    assert words in text(row)
    assert 'data-tone="ok"' not in row


def test_a_published_version_that_is_not_live_is_superseded(
    fake_service: FakeService, as_viewer: Client
) -> None:
    see(0, status="published")
    serve(fake_service, wire.audience(publishedVersion=None))
    assert "Version 0 Superseded last seen as published" in text(get(as_viewer, "version-list"))


def test_missing_numbers_are_a_gap_between_two_checks(
    fake_service: FakeService, as_viewer: Client
) -> None:
    see(3, days_ago=20)
    latest = wire.version(versionId="ver_6", versionNumber=6)
    serve(fake_service, wire.audience(latestVersion=latest, publishedVersion=None))
    seen = text(get(as_viewer, "version-list"))
    assert "Versions 4 and 5 are missing." in seen
    assert "They came and went between two checks" in seen
    assert "Earlier versions are missing." in seen


def test_publishers_and_failed_requests_are_listed(
    fake_service: FakeService, as_viewer: Client, paula: User
) -> None:
    serve(fake_service, wire.audience())
    get(as_viewer, "version-list")
    published_from_here(paula, "ver_1", AttemptResult(Outcome.ACCEPTED))
    now = datetime.now(UTC).isoformat()
    live = wire.live_version(queuedAt=now, publishedAt=now)
    serve(fake_service, wire.audience(publishedVersion=live))
    refused = AttemptResult(Outcome.REJECTED, "The service returned 409: Busy", 409)
    published_from_here(paula, "ver_2", refused, key="key-2")
    lost = AttemptResult(Outcome.UNKNOWN, "No answer in time.")
    published_from_here(paula, "ver_1", lost, key="key-3")
    page = get(as_viewer, "version-list")
    seen = text(page)
    assert "Published by paula." in seen
    assert "Failed" in seen
    assert "paula: The service returned 409: Busy" in seen
    assert "Outcome unknown" in seen
    assert "/activity/key-2/" in page


@pytest.mark.parametrize(
    ("minutes_ago", "words"),
    [(0, ("In progress", "View progress")), (5, ("Outcome unknown", "Check outcome"))],
)
def test_a_publish_that_was_interrupted_is_shown_as_unknown(
    minutes_ago: int,
    words: tuple[str, str],
    fake_service: FakeService,
    as_viewer: Client,
    paula: User,
) -> None:
    target = Target("page_1", "aud_1", "ver_2")
    begin(
        operation_key="key-1",
        kind=OperationKind.PUBLISH_VERSION,
        actor=paula,
        target=target,
        body={},
    )
    Attempt.objects.update(sent_at=datetime.now(UTC) - timedelta(minutes=minutes_ago))
    serve(fake_service, wire.audience())
    seen = text(get(as_viewer, "version-list"))
    assert all(item in seen for item in words)
    assert words[0] in text(get(as_viewer, "version-compare"))
    assert Operation.objects.get().outcome == Outcome.SENDING, "shown so, not written"


def test_a_formerly_live_version_is_a_rollback_target(
    fake_service: FakeService, as_publisher: Client
) -> None:
    archived = {"status": "archived", "archivedAt": "2026-01-20T00:00:00Z"}
    see(0, **archived, publishedAt="2026-01-10T00:00:00Z", supplementaryContext=None)
    see(-1, **archived)
    serve(fake_service, wire.audience())
    page = get(as_publisher, "version-list")
    links = [
        a.attributes["href"] for a in elements(page, "a") if "rollback/" in a.attributes["href"]
    ]
    assert any(link.endswith("/versions/ver_0/rollback/") for link in links)
    assert not any("ver_-1" in link or "ver_1/" in link for link in links)
    assert "Roll back to 0" in text(page)
    assert "No supplementary context." in text(page)


def test_a_viewer_is_offered_nothing_to_publish(
    fake_service: FakeService, as_viewer: Client
) -> None:
    see(0, status="archived", publishedAt="2026-01-10T00:00:00Z")
    serve(fake_service, wire.audience())
    page = get(as_viewer, "version-list")
    assert "/publish/" not in page
    assert "/rollback/" not in page
    assert "Roll back to 0" not in text(page)


def test_a_version_that_was_rolled_back_is_not_offered(
    fake_service: FakeService, as_publisher: Client
) -> None:
    see(2, status="archived", publishedAt="2026-03-10T00:00:00Z")
    serve(fake_service, wire.audience())
    assert "Roll back to 2" not in text(get(as_publisher, "version-list"))


def test_dates_that_contradict_each_other_are_flagged(
    fake_service: FakeService, as_viewer: Client
) -> None:
    odd = wire.version(status="published", publishedAt=None, becameDraftAt="2020-01-01T00:00:00Z")
    serve(fake_service, wire.audience(latestVersion=odd))
    seen = text(get(as_viewer, "version-list"))
    assert "The status is published, but publishedAt is empty." in seen
    assert "becameDraftAt is before createdAt." in seen


def test_marks_unknown_statuses_and_extra_fields_cost_nothing(
    fake_service: FakeService, as_viewer: Client
) -> None:
    odd = wire.version(createdAt=wire.MARK, status="simmering", becameDraftAt=None, mood="hopeful")
    serve(fake_service, wire.audience(latestVersion=odd))
    seen = text(get(as_viewer, "version-list"))
    assert "simmering" in seen
    assert "ID, not a date" in seen


def test_an_audience_without_versions_has_an_empty_state(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, {"audienceId": "aud_1"})
    assert "No versions yet" in text(get(as_viewer, "version-list"))


def test_live_and_latest_are_chosen_to_be_compared(
    fake_service: FakeService, as_viewer: Client
) -> None:
    serve(fake_service, wire.audience())
    page = get(as_viewer, "version-list")
    checked = [i.attributes for i in elements(page, "input") if "checked" in i.attributes]
    chosen = {i["name"]: i["value"] for i in checked if i["name"] in ("from", "to")}
    assert chosen == {"from": "ver_1", "to": "ver_2"}


@pytest.fixture
def long_history() -> None:
    body = wire.version()
    rows = []
    for number in range(2001, 1, -1):
        sent = body | {"versionId": f"ver_{number}", "versionNumber": number}
        sent["supplementaryContext"] = f"Runs {number} trucks. " * 20
        version = AudienceVersion.model_validate(sent)
        rows.append(
            VersionRecord(
                page_id="page_1",
                audience_id="aud_1",
                version_id=version.version_id,
                version_number=number,
                status="draft",
                body=version.model_dump_json(by_alias=True),
                first_seen_at=datetime.now(UTC),
                last_seen_at=datetime.now(UTC),
            )
        )
    VersionRecord.objects.bulk_create(rows)


@pytest.mark.usefixtures("long_history")
def test_2000_versions_come_in_consecutive_pages_of_50(
    fake_service: FakeService, as_viewer: Client, django_assert_max_num_queries: Any
) -> None:
    serve(fake_service, wire.audience())
    start = time.process_time()
    # Ten of them count for the sidebar, once in ten seconds. One compares again what changed, which
    # takes a lock on PostgreSQL. Three record what is live, as this is the first read.
    with django_assert_max_num_queries(37 + connection.features.has_select_for_update):
        page = get(as_viewer, "version-list")
    # Half a second on a fast machine, mostly for compiling the templates.
    assert time.process_time() - start < 5
    assert headings(page)[-1] == "Version 1952"
    assert "1,951 older versions" in text(page)
    link = next(a for a in elements(page, "a") if a.attributes.get("hx-target") == "#more")
    assert link.attributes["href"].endswith("?before=ver_1952")
    part = get(as_viewer, "version-list", target="more", before="ver_1952")
    assert headings(part)[0] == "Version 1951"
    assert "<html" not in part
    whole = get(as_viewer, "version-list", before="ver_1952")
    assert headings(whole) == headings(part)
    assert "Show the newest" in text(whole)


@pytest.mark.usefixtures("long_history")
def test_loaded_pages_are_in_the_url_and_come_back(
    fake_service: FakeService, as_viewer: Client, django_assert_max_num_queries: Any
) -> None:
    serve(fake_service, wire.audience())
    shown_at = list_at = address("version-list")
    last = 1952
    for rows in (100, 150, 200):
        shown_at = address_after_loading(as_viewer, last, shown_at)
        assert shown_at == f"{list_at}?show={rows}"
        with django_assert_max_num_queries(23):
            page = as_viewer.get(shown_at).text
        last -= 50
        assert headings(page) == [f"Version {number}" for number in range(2001, last - 1, -1)]
        links = [a.attributes for a in elements(page, "a")]
        more = [a["href"] for a in links if a.get("hx-target") == "#more"]
        assert more == [f"{list_at}?before=ver_{last}"]
    beyond = address_after_loading(as_viewer, last, shown_at)
    assert beyond == f"{list_at}?before=ver_{last}"
    assert address_after_loading(as_viewer, last - 50, beyond) == f"{beyond}&show=100"
    page = as_viewer.get(f"{beyond}&show=100").text
    assert headings(page) == [f"Version {last - number}" for number in range(1, 101)]


@pytest.mark.usefixtures("long_history")
def test_one_url_shows_200_versions_at_most(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience())
    assert len(headings(get(as_viewer, "version-list", show="2000"))) == 200


@pytest.mark.usefixtures("long_history")
def test_the_last_page_is_in_the_url(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience())
    shown_at = address("version-list", before="ver_53")
    assert address_after_loading(as_viewer, 3, shown_at) == f"{shown_at}&show=52"
    page = get(as_viewer, "version-list", before="ver_53", show="52")
    assert headings(page)[-1] == "Version 1"
    assert "Load more" not in page


def address_after_loading(client: Client, last: int, shown_at: str) -> str:
    """Return the browser's URL after loading the versions below `last`."""
    headers = {"HX-Request": "true", "HX-Target": "more"}
    headers["HX-Current-URL"] = f"http://testserver{shown_at}"
    url = address("version-list", before=f"ver_{last}")
    return client.get(url, headers=headers)["HX-Replace-Url"]


@pytest.mark.usefixtures("long_history")
def test_the_last_page_offers_no_more(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience())
    part = get(as_viewer, "version-list", target="more", before="ver_3")
    assert headings(part) == ["Version 2", "Version 1"]
    assert "Load more" not in part


def test_an_unknown_start_shows_the_newest(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience())
    assert headings(get(as_viewer, "version-list", before="gone")) == ["Version 2", "Version 1"]


def test_versions_with_equal_numbers_are_all_shown(
    fake_service: FakeService, as_viewer: Client
) -> None:
    see(2, versionId="ver_twin")
    serve(fake_service, wire.audience())
    assert headings(get(as_viewer, "version-list")).count("Version 2") == 2


@pytest.mark.parametrize(
    ("answer", "status"), [({"status_code": 500}, 502), ({"status_code": 200, "text": "<"}, 502)]
)
def test_an_outage_shows_the_history_without_publishing(
    answer: dict[str, Any], status: int, fake_service: FakeService, as_publisher: Client
) -> None:
    fake_service.answers(**answer)
    assert get(as_publisher, "version-list", status=status)
    record_audiences("page_1", [Audience.model_validate(wire.audience())])
    page = get(as_publisher, "version-list")
    assert headings(page) == ["Version 2", "Version 1"]
    assert "Showing the last known state" in page
    assert "/publish/" not in page


def test_a_service_that_does_not_respond_is_reported(
    fake_service: FakeService, as_viewer: Client
) -> None:
    fake_service.fails(httpx.ConnectError)
    assert "Service unreachable" in get(as_viewer, "version-list", status=504)


def test_an_excerpt_from_right_to_left_turns_no_words_after_it(
    fake_service: FakeService, as_viewer: Client
) -> None:
    latest = wire.version(supplementaryContext="شاحنة على خريطة")
    serve(fake_service, wire.audience(latestVersion=latest))
    assert "<bdi>“شاحنة على خريطة”</bdi>" in get(as_viewer, "version-list")


def test_one_call_makes_the_page(fake_service: FakeService, as_viewer: Client) -> None:
    serve(fake_service, wire.audience())
    get(as_viewer, "version-list")
    assert len(fake_service.sent) == 1
