"""The list of all audiences, from the ledger only: filtered, sorted, loaded and exported."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from tests.support import wire
from tests.support.audience_list import LIST, canceled, html_of, live, named, names_in
from tests.support.fake_service import FakeService
from tests.support.html import Element, elements, response_text, text
from tests.support.live_page import Region
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db


def not_live(number: int) -> dict[str, Any]:
    return named(number, publishedVersion=None)


def link(html: str, words: str) -> str:
    """Return the URL of the link with this id."""
    return next(
        element.attributes["href"]
        for element in elements(html, "a")
        if element.attributes.get("id") == words
    )


# Rows


def test_a_row_of_any_page_needs_no_call(as_viewer: Client, fake_service: FakeService) -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience())
    html = html_of(as_viewer)
    row = text(html.split('<tr role="row" id="audience-')[1].split("</tr>")[0])
    assert "Brightwater Foods Fleet telematics" in row
    assert "2 Draft 1 since 1 Feb" in row.replace("\u2002", " ")
    assert "Unpublished changes Yes 1 Mar" in row
    assert 'href="/pages/page_1/"' in html
    assert 'href="/pages/page_1/audiences/aud_1/"' in html
    assert fake_service.sent == []


@pytest.mark.parametrize("blank", ["   ", "\u200b\ufeff\u2060", "\u3164", "\u202e"])
def test_a_name_with_nothing_to_see_is_no_name(as_viewer: Client, blank: str) -> None:
    seed_pages(wire.page(name=blank))
    seed_audiences(
        named(1, blank, customName=None, computedName="Acme"),
        named(2, blank, customName=blank, computedName=blank),
    )
    html = html_of(as_viewer, f"{LIST}?sort=name")
    assert names_in(html) == ["aud_2", "Acme"]
    row = text(html.split('<tr role="row" id="audience-')[1].split("</tr>")[0])
    assert "aud_2 page_1" in row


@pytest.mark.parametrize(
    ("audience", "words"),
    [
        (live(1), "Up to date"),
        (not_live(1), "Not live"),
        (named(1), "Unpublished changes"),
        (named(1, latestVersion=wire.version(status="queued")), "In progress"),
        (canceled(1), "Latest canceled"),
    ],
)
def test_the_live_status_says_how_the_two_versions_relate(
    as_viewer: Client, audience: dict[str, Any], words: str
) -> None:
    seed_audiences(audience)
    html = html_of(as_viewer)
    cell = html.split('data-label="Live status">')[1].split("</td>")[0]
    assert text(cell) == words


def test_a_failed_publish_of_the_latest_version_is_linked(as_viewer: Client, paula: User) -> None:
    seed_audiences(named(1), named(2))
    _, attempt = begin(
        operation_key="key-1",
        kind=OperationKind.PUBLISH_VERSION,
        actor=paula,
        target=Target("page_1", "aud_1", "ver_1_2"),
        body={},
    )
    assert attempt
    end(attempt, AttemptResult(Outcome.REJECTED, status_code=409))
    html = html_of(as_viewer)
    assert html.count("Publish failed") == 1
    assert 'href="/activity/key-1/"' in html


def test_an_unread_page_is_shown_by_its_id(as_viewer: Client) -> None:
    seed_audiences(named(1), page_id="page/9")
    html = html_of(as_viewer)
    assert "page/9" in text(html)
    assert names_in(html) == ["Company 1"]


# Search, filters, order


def seed_many() -> None:
    seed_pages(wire.page(), wire.page(pageId="page_2", name="Cold chain"), total=2)
    seed_audiences(live(1), not_live(2), named(3, "Kühllogistik", isNewPageAgent=False))
    seed_audiences(canceled(4), named(5, isNewPageAgent=None), page_id="page_2")


NARROWED = [
    ("q=kuhl", ["Kühllogistik"]),
    ("q=KÜHL", ["Kühllogistik"]),
    ("q=aud_5", ["Company 5"]),
    ("q=company+4", ["Company 4"]),
    ("page=page_2", ["Company 4", "Company 5"]),
    ("page=page_1&page=page_2&q=4", ["Company 4"]),
    ("live=live", ["Company 1", "Company 4", "Company 5", "Kühllogistik"]),
    ("live=up-to-date", ["Company 1"]),
    ("live=not-live", ["Company 2"]),
    ("live=changed", ["Company 5", "Kühllogistik"]),
    ("live=canceled", ["Company 4"]),
    ("live=up-to-date&live=not-live", ["Company 1", "Company 2"]),
    ("status=published", ["Company 1"]),
    ("status=cancelled", ["Company 4"]),
    ("agent=no", ["Kühllogistik"]),
    ("agent=none", ["Company 5"]),
    ("agent=yes&live=canceled", ["Company 4"]),
    ("live=unheard-of&agent=perhaps", [*(f"Company {n}" for n in (1, 2, 4, 5)), "Kühllogistik"]),
]


def test_the_url_narrows_the_list(as_viewer: Client, subtests: pytest.Subtests) -> None:
    seed_many()
    for query, names in NARROWED:
        with subtests.test(query=query):
            assert names_in(html_of(as_viewer, f"{LIST}?{query}&sort=name")) == names


def test_a_filter_counts_what_it_would_leave(as_viewer: Client) -> None:
    seed_many()
    html = html_of(as_viewer, f"{LIST}?live=changed&page=page_2")
    counts = {e.attributes["id"]: e for e in elements(html, "small") if "id" in e.attributes}
    assert {"n-live-changed", "n-live-canceled", "n-agent-none"} <= counts.keys()
    assert ">1<" in html.split('id="n-live-canceled"')[1][:20].replace("\n", "")
    assert ">0<" in html.split('id="n-live-up-to-date"')[1][:24].replace("\n", "")
    assert ">2<" in html.split('id="n-live-live"')[1][:20].replace("\n", "")


def test_each_active_filter_can_be_removed(as_viewer: Client) -> None:
    seed_many()
    html = html_of(as_viewer, f"{LIST}?q=company&page=page_2&live=canceled&agent=yes")
    words = text(html)
    assert "Page: Cold chain" in words
    assert "Live status: Latest canceled" in words
    removed = [element.attributes["href"] for element in elements(html, "a")]
    assert "?q=company&live=canceled&agent=yes" in removed
    assert "?page=page_2&live=canceled&agent=yes" in removed


@pytest.mark.parametrize(
    ("sort", "order"),
    [("name", [1, 2, 3]), ("-name", [3, 2, 1]), ("-live", [2, 3, 1]), ("live", [3, 2, 1])],
)
def test_the_list_is_sorted_by_a_column(as_viewer: Client, sort: str, order: list[int]) -> None:
    seed_audiences(
        not_live(1),
        live(2, publishedAt="2026-05-02T09:00:00Z"),
        live(3, publishedAt="2026-05-01T09:00:00Z"),
    )
    expected = [f"Company {number}" for number in order]
    if sort == "live":
        expected = ["Company 3", "Company 2", "Company 1"]
    assert names_in(html_of(as_viewer, f"{LIST}?sort={sort}")) == expected


def test_the_latest_audience_is_first(as_viewer: Client) -> None:
    seed_audiences(
        named(1, createdAt="2026-05-01T09:00:00Z"),
        named(2, createdAt="2026-05-03T09:00:00Z"),
        named(3, createdAt="2026-05-02T09:00:00Z"),
    )
    html = html_of(as_viewer)
    assert names_in(html) == ["Company 2", "Company 3", "Company 1"]
    assert "Audiences, most recently updated first" in text(html)


def test_the_page_filter_searches_by_name(as_viewer: Client) -> None:
    seed_many()
    part = html_of(as_viewer, f"{LIST}?find=cold", "f-page")
    assert [e.attributes["value"] for e in elements(part, "input")] == ["page_2"]
    assert len(elements(html_of(as_viewer, LIST, "f-page"), "input")) == 2


def test_a_partial_has_the_page_url_without_empty_fields(as_viewer: Client) -> None:
    seed_many()
    headers = {"HX-Request": "true", "HX-Target": "results"}
    response = as_viewer.get(f"{LIST}?q=company&find=&live=live", headers=headers)
    assert response["HX-Replace-Url"] == f"{LIST}?q=company&live=live"
    assert "<h1" not in response.text


def test_no_match_says_whether_it_is_final(as_viewer: Client) -> None:
    seed_pages(wire.page(audiencesCount=1), total=1)
    html = html_of(as_viewer, f"{LIST}?q=nothing")
    assert "No audiences match “nothing” among those loaded" in text(html)
    seed_audiences(named(1))
    assert "among those loaded" not in text(html_of(as_viewer, f"{LIST}?q=nothing"))


# Loading more rows


def test_loaded_rows_are_there_on_the_way_back(as_viewer: Client) -> None:
    seed_audiences(*(named(number) for number in range(70)))
    html = html_of(as_viewer, f"{LIST}?sort=name")
    assert len(names_in(html)) == 50
    assert "50 of 70 audiences" in text(html)
    more = link(html, "load-more")
    headers = {"HX-Request": "true", "HX-Target": "rows"}
    headers["HX-Current-URL"] = f"http://testserver{LIST}?sort=name"
    response = as_viewer.get(f"{LIST}{more}", headers=headers)
    assert len({*names_in(html), *names_in(response.text)}) == 70
    assert "70 of 70 audiences" in response_text(response)
    assert response["HX-Replace-Url"] == f"{LIST}?sort=name&show=70"
    assert len(names_in(html_of(as_viewer, response["HX-Replace-Url"]))) == 70


# Loading the rest


def serving(pages: int, failing: str = "") -> Any:
    """Return a service with this many pages of one audience each. The page `failing` fails."""

    def answer(request: httpx.Request) -> httpx.Response:
        page_id = request.url.path.split("/")[3] if "audiences" in request.url.path else ""
        if page_id and page_id == failing:
            return httpx.Response(500, json={"detail": "Out of order"})
        if page_id:
            number = int(page_id.removeprefix("page_"))
            return httpx.Response(200, json=wire.envelope(named(number)))
        start = int(request.url.params.get("cursor") or 0)
        limit = min(int(request.url.params["limit"]), 10)
        items = [
            wire.page(pageId=f"page_{n}", name=f"Page {n}", audiencesCount=1)
            for n in range(start, min(start + limit, pages))
        ]
        is_more = start + limit < pages
        more = {"nextCursor": str(start + limit)} if is_more else {}
        envelope = wire.envelope(*items, totalCount=pages, hasMore=is_more)
        return httpx.Response(200, json=envelope | more)

    return answer


def loaded(client: Client, address: str, *, presses: int) -> str:
    """Press "Load the rest" without JavaScript, at most `presses` times; return the last page."""
    html = html_of(client, address)
    for _ in range(presses):
        actions = [e.attributes["action"] for e in elements(html, "form")]
        load = [action for action in actions if action.startswith(f"{LIST}load/")]
        if not load:
            break
        response = client.post(load[0], follow=True)
        assert response.status_code == 200
        html = response.text
    return html


def test_the_list_says_how_much_it_covers(as_viewer: Client, fake_service: FakeService) -> None:
    seed_pages(*(wire.page(pageId=f"page_{n}", audiencesCount=1) for n in range(3)), total=9)
    seed_audiences(named(1), page_id="page_1")
    assert "1+ audiences. Searching 1 of 9 pages" in text(html_of(as_viewer))


def test_load_the_rest_reads_everything_step_by_step(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = serving(35)
    html = loaded(as_viewer, f"{LIST}?sort=name", presses=10)
    assert AudienceRecord.objects.count() == 35
    assert "35 audiences" in text(html)
    assert "Load the rest" not in html
    assert len(fake_service.sent) == 4 + 35, "nothing is read twice"


def test_with_htmx_loading_continues_to_the_end(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = serving(12)
    headers = {"HX-Request": "true", "HX-Target": "coverage"}
    response = as_viewer.post(f"{LIST}load/?q=company", headers=headers)
    assert "Loaded 10 of 12 pages" in response_text(response)
    form = next(e for e in elements(response.text, "form"))
    assert "load delay" in form.attributes["hx-trigger"]
    response = as_viewer.post(form.attributes["hx-post"], headers=headers)
    assert response["HX-Retarget"] == "#results"
    assert "12 matches" in response_text(response)


def test_a_failing_page_stops_and_is_skipped_next(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = serving(8, failing="page_3")
    headers = {"HX-Request": "true", "HX-Target": "coverage"}
    response = as_viewer.post(f"{LIST}load/", headers=headers)
    assert "Loading stopped" in response_text(response)
    assert "Out of order" in response_text(response)
    form: Element = next(e for e in elements(response.text, "form"))
    assert "load delay" not in form.attributes["hx-trigger"]
    response = as_viewer.post(form.attributes["hx-post"], headers=headers)
    assert AudienceRecord.objects.count() == 7
    assert "Searching 7 of 8 pages" in response_text(response)


def test_a_page_with_unread_audiences_is_read_again(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = serving(1)
    loaded(as_viewer, LIST, presses=3)
    assert "Load the rest" not in html_of(as_viewer)
    seed_pages(wire.page(pageId="page_0", audiencesCount=2), total=1)
    assert "Load the rest" in html_of(as_viewer)
    loaded(as_viewer, LIST, presses=1)
    assert "Load the rest" not in html_of(as_viewer)


def test_a_service_outage_leaves_the_list_unchanged(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_pages(wire.page(audiencesCount=1), total=5)
    seed_audiences(named(1))
    fake_service.fails(httpx.ConnectError)
    headers = {"HX-Request": "true", "HX-Target": "coverage"}
    response = as_viewer.post(f"{LIST}load/", headers=headers)
    assert response.status_code == 200
    assert "Loading stopped after 1 pages" in response_text(response)
    assert names_in(html_of(as_viewer)) == ["Company 1"]


# Rows in progress


def moving(number: int, status: str = "queued", minutes: float = 1) -> dict[str, Any]:
    queued_at = (timezone.now() - timedelta(minutes=minutes)).isoformat()
    queued = wire.version(status=status, queuedAt=queued_at, versionId=f"ver_{number}_2")
    return named(number, latestVersion=queued)


def list_of(client: Client) -> Region:
    return Region(client, LIST, "results")


def test_with_nothing_in_progress_nothing_is_read(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_audiences(named(1))
    region = list_of(as_viewer)
    assert not region.is_moving
    assert "audience" in region.topics
    region.refresh()
    assert fake_service.sent == []


def test_rows_in_progress_are_read_until_they_are_settled(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_pages(wire.page(), total=1)
    seed_audiences(moving(1), named(2))
    AudienceRecord.objects.update(last_seen_at="2026-03-03T09:00:00Z")
    region = list_of(as_viewer)
    assert region.is_moving
    version = wire.live_version(versionId="ver_1_2", versionNumber=2)
    done = named(1, latestVersion=version, publishedVersion=version)
    fake_service.answers(200, json=wire.envelope(done, named(2)))
    region.refresh()
    assert "2 Live" in next(row for row in region.rows if "Company 1" in row).replace("\u2002", " ")
    assert [request.url.path for request in fake_service.sent] == ["/v0/pages/page_1/audiences"]
    assert not region.is_moving


def test_a_row_that_left_the_filter_is_still_followed(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_pages(wire.page(), total=1)
    seed_audiences(named(1), named(2))
    region = Region(as_viewer, f"{LIST}?live=changed", "results")
    assert len(region.rows) == 2
    version = wire.live_version(versionId="ver_1_2", versionNumber=2)
    seed_audiences(named(1, latestVersion=version, publishedVersion=version))
    fits, left = region.refresh().rows
    assert "Company 2" in fits
    assert "2 Live" in left.replace("\u2002", " ")
    assert "data-left" in region.html.split(region.row_ids[0])[1]


@pytest.mark.usefixtures("clock")
def test_a_page_in_progress_is_read_once_in_three_seconds(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_pages(wire.page(), total=1)
    seed_audiences(moving(1))
    AudienceRecord.objects.update(last_seen_at="2026-03-03T09:00:00Z")
    fake_service.answers(200, json=wire.envelope(moving(1)))
    tabs = [list_of(as_viewer) for _ in range(5)]
    for tab in tabs:
        tab.refresh()
    assert len(fake_service.sent) == 1


def test_a_stuck_version_is_not_read_again_and_again(as_viewer: Client) -> None:
    seed_audiences(moving(1, minutes=31))
    assert not list_of(as_viewer).is_moving


def test_a_read_that_fails_leaves_the_rows(as_viewer: Client, fake_service: FakeService) -> None:
    seed_audiences(moving(1))
    AudienceRecord.objects.update(last_seen_at="2026-03-03T09:00:00Z")
    region = list_of(as_viewer)
    before = region.rows
    fake_service.fails(httpx.ConnectError)
    assert region.refresh().rows == before
    assert region.is_moving


# Export


def exported(client: Client, query: str = "") -> list[str]:
    response = client.get(f"{LIST}export.csv{query}")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return b"".join(response).decode().removeprefix("\ufeff").splitlines()


def test_the_export_follows_the_list_s_order(as_viewer: Client) -> None:
    seed_many()
    header, *rows = exported(as_viewer, "?q=company&sort=-name")
    assert header.startswith("Page,Page name,Audience,Name,Latest version,Latest status")
    assert [row.split(",")[3] for row in rows[:4]] == [f"Company {n}" for n in (5, 4, 2, 1)]
    assert rows[1].split(",")[:9] == [
        *("page_2", "Cold chain", "aud_4", "Company 4", "2", "Canceled", "1"),
        *("2026-02-01T10:00:38+00:00", "Latest canceled"),
    ]


def test_the_export_of_an_incomplete_list_says_so(as_viewer: Client) -> None:
    seed_pages(wire.page(audiencesCount=1), total=7)
    seed_audiences(named(1))
    assert exported(as_viewer)[-1] == "Not complete: audiences of 1 of 7 pages are loaded."


def test_a_formula_name_is_exported_as_text(as_viewer: Client) -> None:
    seed_audiences(named(1, "=1+1"))
    assert ",'=1+1," in exported(as_viewer)[1]


# Around it


def test_the_sidebar_and_the_palette_lead_here(as_viewer: Client) -> None:
    seed_audiences(named(1), named(2))
    html = html_of(as_viewer)
    entry = html.split('href="/audiences/" aria-current="page">')[1].split("</a>")[0]
    assert text(entry).split() == ["Audiences", "2+"]
    palette = html_of(as_viewer, "/find/?q=audiences", "palette-list")
    assert 'href="/audiences/"' in palette


def test_ids_with_any_character_are_linked(as_viewer: Client) -> None:
    seed_audiences(named(1, audienceId="a/b ä?"), page_id="p/1")
    expected = f"/pages/p%252F1/audiences/{quote(quote('a/b ä?', safe=''))}/"
    assert expected in html_of(as_viewer)
