"""The page list: live, searched in the ledger, and without the service."""

import re
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.contract.audiences import Audience
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.recording import record_audiences
from dashboard.web.live.shell_state import shell_state
from tests.support import wire
from tests.support.fake_service import Answer, FakeService
from tests.support.html import elements, page_html, response_text, text
from tests.support.page_list import dated, numbered, publish, record
from tests.support.service_page import ServicePage


def audience(**differs: Any) -> Audience:
    return Audience.model_validate(wire.audience(**differs))


def part_of(total: int) -> Answer:
    """Return a service with `total` pages, whose cursors are start numbers."""

    def answer(request: httpx.Request) -> httpx.Response:
        params = parse_qs(request.url.query.decode())
        start, limit = int(params.get("cursor", ["0"])[0]), int(params["limit"][0])
        items = [numbered(number) for number in range(start, min(start + limit, total))]
        end = start + len(items)
        more = {"nextCursor": str(end)} if end < total else {}
        envelope = wire.envelope(*items, totalCount=total, hasMore=end < total)
        return httpx.Response(200, json=envelope | more)

    return answer


@pytest.fixture
def pages(as_viewer: Client, fake_service: FakeService) -> ServicePage:
    """The list of pages in a viewer's browser."""
    return ServicePage(as_viewer, fake_service, "/pages/")


def test_the_list_shows_each_page_as_returned(pages: ServicePage) -> None:
    pages.service.answers(200, json=wire.envelope(wire.page()))
    html = pages.html()
    assert "Fleet telematics Every truck on one map" in text(html)
    assert "Outbound" in html
    assert "Published" in html
    assert "1 of 1 page" in text(html)
    assert pages.paths == ["/v0/pages"]


def test_a_name_in_any_script_is_shown_unchanged(pages: ServicePage) -> None:
    name = "Żółć “quoted” & <b>, 中文, \U0001f69a, é"
    pages.service.answers(200, json=wire.envelope(wire.page(name=name)))
    assert name in pages.text()


def test_a_complete_list_starts_with_the_latest_update(pages: ServicePage) -> None:
    pages.service.answers(200, json=wire.envelope(dated(1, 3), dated(2, 9), dated(3, 6)))
    html = pages.html()
    assert names_in(html) == ["page_2", "page_3", "page_1"]
    assert "Pages, most recently updated first" in text(html)
    assert sorted_column(html) == "?sort=updated"
    assert "last known" not in text(html)


def test_a_list_one_call_short_is_completed(pages: ServicePage) -> None:
    pages.service.answer = part_of(120)
    assert "most recently updated first" in pages.html()
    assert [request.url.params["limit"] for request in pages.service.sent] == ["50", "200"]
    seen = pages.text()
    assert len(pages.service.sent) == 3
    assert "70 of 120 pages show the last known state" in seen
    assert "50 of 120 pages" in seen


def test_an_incomplete_list_keeps_the_service_s_order(pages: ServicePage) -> None:
    pages.service.answers(
        200,
        json=wire.envelope(
            dated(1, 3), dated(2, 9), totalCount=900, hasMore=True, nextCursor="abc"
        ),
    )
    html = pages.html()
    assert names_in(html) == ["page_1", "page_2"]
    assert "Pages, in the service’s order" in text(html)
    assert sorted_column(html) is None
    assert "Search, filters, and sorting cover 2 of 900 pages. Load all 900" in text(html)
    assert len(pages.service.sent) == 1


def test_an_unlisted_page_is_not_shown(pages: ServicePage) -> None:
    record(numbered(7))
    pages.service.answers(200, json=wire.envelope(dated(1, 3), dated(2, 9)))
    assert names_in(pages.html()) == ["page_1", "page_2"]


def test_loading_more_continues_in_the_same_order(pages: ServicePage) -> None:
    pages.service.answers(200, json=wire.envelope(*(dated(n, n % 28 + 1) for n in range(70))))
    html = pages.html()
    more = next(e for e in elements(html, "a") if e.attributes.get("id") == "load-more")
    address = more.attributes["href"]
    rows = pages.html(address, "rows")
    names = names_in(html) + names_in(rows)
    assert len(set(names)) == 70
    days = [int(name.removeprefix("page_")) % 28 for name in names]
    assert days == sorted(days, reverse=True)


def sorted_column(html: str) -> str | None:
    """Return the link of the heading that the list is sorted by, or None."""
    match = re.search(r'aria-sort="(?:de|a)scending">\s*<a href="([^"]+)"', html)
    return match[1] if match else None


def test_load_more_continues_after_the_last_row(pages: ServicePage) -> None:
    pages.service.answer = part_of(620)
    seen = pages.text()
    assert "50 of 620 pages" in seen
    assert "Load 50 more" in seen
    rows = pages.html("?cursor=600&after=600", "rows")
    assert rows.count("<tr") == 20
    assert "620 of 620 pages" in text(rows)
    assert "load-more" not in rows
    assert "<h1" not in rows


def names_in(html: str) -> list[str]:
    links = [e.attributes.get("href", "") for e in elements(html, "a")]
    return [link.split("/")[2] for link in links if link.startswith("/pages/page_")]


@pytest.mark.parametrize(
    ("url", "more", "first"),
    [
        ("/pages/", "/pages/?cursor=50&after=50", 0),
        ("/pages/?cursor=10&after=10", "/pages/?cursor=60&after=60", 10),
    ],
)
def test_loaded_rows_are_there_on_the_way_back(
    pages: ServicePage, url: str, more: str, first: int
) -> None:
    pages.service.answer = part_of(620)
    html = pages.html(pages.get(more, "rows", at=url)["HX-Replace-Url"])
    assert names_in(html) == [f"page_{number}" for number in range(first, first + 100)]
    assert len(pages.service.sent) == 2


def test_loaded_matches_are_there_on_the_way_back(pages: ServicePage) -> None:
    record(*[numbered(number) for number in range(70)])
    response = pages.get("?q=number&sort=name&after=50", "rows", at="/pages/?q=number&sort=name")
    address = response["HX-Replace-Url"]
    assert address == "/pages/?q=number&sort=name&show=70"
    assert len(names_in(pages.html(address))) == 70
    assert pages.service.sent == []


def test_beyond_the_url_limit_only_new_rows_are_shown(pages: ServicePage) -> None:
    record(*[numbered(number) for number in range(260)])
    response = pages.get("?q=number&after=200", "rows", at="/pages/?q=number&show=200")
    address = response["HX-Replace-Url"]
    assert address == "/pages/?q=number&after=200"
    assert "201 to 250 of 260 matches" in pages.text(address)


@pytest.mark.parametrize(
    ("show", "limit"), [("100", "100"), ("9", "50"), ("x", "50"), ("999999", "200")]
)
def test_no_url_shows_more_than_two_hundred_rows(pages: ServicePage, show: str, limit: str) -> None:
    pages.service.answer = part_of(620)
    pages.html(f"?show={show}")
    assert pages.service.sent[0].url.params["limit"] == limit


def test_a_rejected_limit_restarts_the_list_and_says_so(pages: ServicePage) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.params["limit"] != "50":
            return httpx.Response(422, json={"detail": "What a limit"})
        return part_of(620)(request)

    pages.service.answer = answer
    for _ in range(2):
        html = pages.html("?show=100")
        assert "couldn’t continue this list, so it starts over" in text(html)
        assert "50 of 620 pages" in text(html)


def test_a_window_of_the_list_shows_its_range(pages: ServicePage) -> None:
    pages.service.answer = part_of(620)
    seen = pages.text("?cursor=50&after=50")
    assert "51 to 100 of 620 pages" in seen
    assert "Back to start" in seen


@pytest.mark.parametrize("status", [400, 404, 410, 422])
@pytest.mark.parametrize("target", ["", "rows"])
def test_a_rejected_cursor_restarts_the_list_and_says_so(
    pages: ServicePage, status: int, target: str
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if "cursor" in request.url.params:
            return httpx.Response(status, json={"detail": "What a cursor"})
        return httpx.Response(200, json=wire.envelope(wire.page()))

    pages.service.answer = answer
    response = pages.get("?cursor=old&after=50", target)
    assert response.status_code == 200
    assert "couldn’t continue this list, so it starts over" in response_text(response)
    assert "1 of 1 page" in response_text(response)
    assert response.content.count(b'id="list-pagination"') == 1
    assert response.get("HX-Retarget") == ("#results" if target else None)


def test_more_pages_without_a_cursor_are_reported(pages: ServicePage) -> None:
    pages.service.answers(200, json=wire.envelope(wire.page(), hasMore=True, totalCount=9))
    assert "returned no cursor to load them" in pages.html()


def test_unexpected_values_do_not_break_the_list(pages: ServicePage) -> None:
    bare = wire.page(pageId="a/b ?#", name="Bare", title="", extra={"x": 1}, headerActionId=None)
    del bare["pageType"], bare["status"], bare["footerLinks"]
    strange = wire.page(pageId="..", pageType="hologram", status="evaporated", updatedAt="soon")
    broken = {"name": "no id"}
    pages.service.answers(200, json=wire.envelope(bare, strange, broken))
    html = pages.html()
    assert "1 item could not be read" in text(html)
    assert html.count('title="Not in the list response. Open the page to see it.">Unknown<') == 2
    assert "evaporated" in html
    assert "hologram" in html
    assert "/pages/a%252Fb%2520%253F%2523/" in html
    assert "3 of 3 pages" in text(html)


def test_an_empty_list_says_so(pages: ServicePage) -> None:
    pages.service.answers(200, json=wire.envelope())
    assert "The service returned no pages" in pages.html()


def test_a_search_uses_the_ledger_and_makes_no_call(pages: ServicePage) -> None:
    record(wire.page(), numbered(2, status="draft"), total=240)
    html = pages.html("?q=number")
    assert "Page number 2" in html
    assert "Fleet telematics" not in html
    assert "1 match. Searching 2 of 240 pages" in text(html)
    assert "Load the rest" in text(html)
    assert pages.service.sent == []


def test_no_match_is_final_once_all_pages_are_loaded(pages: ServicePage) -> None:
    record(wire.page(), total=240)
    assert "239 pages not loaded yet" in pages.html("?q=zebra")
    record(wire.page(), total=1)
    assert "Check the spelling or remove a filter." in pages.html("?q=zebra")


def test_filters_have_counts_and_can_be_removed(pages: ServicePage) -> None:
    record(wire.page(), numbered(2, status="draft"), numbered(3, status="odd"))
    html = pages.html("?status=draft&status=odd&type=outbound")
    boxes = [
        box for box in elements(html, "input") if box.attributes.get("name") in {"status", "type"}
    ]
    assert {box.attributes["value"] for box in boxes if "checked" in box.attributes} == {
        "draft",
        "odd",
        "outbound",
    }
    assert '<small id="n-status-draft">1</small>' in html
    links = [e.attributes["href"] for e in elements(html, "a")]
    assert "?status=odd&type=outbound" in links
    assert "?status=draft&status=odd" in links
    assert "2 of 3 pages" in text(html)


def test_pages_are_filtered_by_the_flags_of_their_audiences(pages: ServicePage) -> None:
    record(numbered(1), numbered(2), numbered(3))
    live, draft = wire.live_version(), wire.version()
    record_audiences("page_1", [audience(latestVersion=live, publishedVersion=live)])
    record_audiences("page_2", [audience(latestVersion=draft, publishedVersion=live)])
    seen = pages.text("?flag=changed")
    assert "1 of 3 pages" in seen
    assert "Page number 2" in seen
    assert "Audiences: Unpublished changes" in seen
    counts = pages.html("?q=number", "f-flag")
    assert text(counts) == "2 0 1 0 0"


def test_typing_returns_results_counts_and_a_clean_url(pages: ServicePage) -> None:
    record(wire.page(), numbered(2, status="draft"))
    response = pages.get("?q=number&sort=", "results")
    html = response.text
    assert "<h1" not in html
    assert 'id="n-status-draft" hx-swap-oob="true">1<' in html
    assert response["HX-Replace-Url"] == "/pages/?q=number"
    assert "HX-Target" in response["Vary"]


def test_sorting_twice_by_a_column_reverses_the_order(pages: ServicePage) -> None:
    record(numbered(1, audiencesCount=3), numbered(2, audiencesCount=7))
    html = pages.html("?sort=-audiences")
    assert html.index("Page number 2") < html.index("Page number 1")
    headings = {
        e.attributes["aria-sort"] for e in elements(html, "th") if "aria-sort" in e.attributes
    }
    assert headings == {"none", "descending"}
    assert "?sort=audiences" in [e.attributes["href"] for e in elements(html, "a")]


def test_pages_sort_by_type_and_status_with_blanks_last(pages: ServicePage) -> None:
    bare = numbered(3)
    del bare["pageType"], bare["status"]
    record(
        numbered(1, pageType="outbound", status="draft"),
        bare,
        numbered(2, pageType="custom", status="published"),
    )
    plain = pages.html("?q=page")
    sorts = [e.attributes["href"] for e in elements(plain, "a")]
    assert {"?q=page&sort=type", "?q=page&sort=status"} <= set(sorts)
    assert names_in(pages.html("?sort=type")) == ["page_2", "page_1", "page_3"]
    assert names_in(pages.html("?sort=-type")) == ["page_1", "page_2", "page_3"]
    assert names_in(pages.html("?sort=status")) == ["page_1", "page_2", "page_3"]
    assert names_in(pages.html("?sort=-status")) == ["page_2", "page_1", "page_3"]
    assert pages.service.sent == []


def test_many_matches_are_loaded_in_steps(pages: ServicePage) -> None:
    record(*[numbered(number) for number in range(70)])
    html = pages.html("?q=number&sort=name")
    assert html.count("<tr") == 51
    links = {e.attributes.get("id"): e.attributes.get("href", "") for e in elements(html, "a")}
    address = links["load-more"]
    assert pages.html(address, "rows").count("<tr") == 20


@pytest.mark.parametrize("sort", ["", "name", "-updated", "-audiences"])
def test_loading_all_matches_returns_each_once(pages: ServicePage, sort: str) -> None:
    """The first rows are few of the matches, the last ones many, which takes different queries."""
    # Other pages are between the matches in every order.
    for part in range(0, 600, 200):
        record(
            *(
                numbered(
                    number,
                    title="Odd" if number % 2 else "Even",
                    audiencesCount=number % 7,
                    updatedAt=f"2026-11-{number % 28 + 1:02}T10:00:00Z",
                )
                for number in range(part, part + 200)
            ),
            total=600,
        )
    met: list[str] = []
    for after in range(0, 300, 50):
        rows = pages.html(f"?q=odd&sort={sort}&after={after}", "rows")
        links = [e.attributes.get("href", "") for e in elements(rows, "a")]
        met += [link for link in links if link.startswith("/pages/page_")]
    assert sorted(met) == sorted(f"/pages/page_{number}/" for number in range(1, 600, 2))


def test_loading_the_rest_continues_until_all_pages_are_known(pages: ServicePage) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        start = int(request.url.params.get("cursor", "0"))
        items = [numbered(number) for number in range(start, min(start + 200, 450))]
        end = start + len(items)
        more = {"nextCursor": str(end)} if end < 450 else {}
        return httpx.Response(
            200, json=wire.envelope(*items, totalCount=450, hasMore=end < 450) | more
        )

    pages.service.answer = answer
    address, parts = "?q=number+449&read=0", []
    for _ in range(9):
        response = pages.get(address, "coverage")
        parts.append(response_text(response))
        polling = [e for e in elements(response.text) if "hx-trigger" in e.attributes]
        if not polling:
            break
        address = polling[0].attributes["hx-get"]
    assert "Loaded 200 of 450 pages" in parts[0]
    assert "Loaded 400 of 450 pages" in parts[1]
    assert "1 of 450 pages" in parts[2]
    assert response["HX-Retarget"] == "#results"
    assert len(pages.service.sent) == 3


def test_loading_the_rest_works_without_scripts(pages: ServicePage) -> None:
    pages.service.answer = part_of(120)
    response = pages.get("?q=number&read=0", follow=True)
    assert response.redirect_chain == [("/pages/?q=number", 302)]
    assert "120 of 120 pages" in response_text(response)


def test_loading_that_fails_halfway_says_so_and_can_continue(pages: ServicePage) -> None:
    pages.service.fails(httpx.ReadTimeout)
    html = pages.html("?q=x&read=200&cursor=abc", "coverage")
    assert "Loading stopped after 200 pages" in text(html)
    assert "?q=x&read=200&cursor=abc" in [e.attributes["href"] for e in elements(html, "a")]
    assert "hx-trigger" not in html


def test_a_repeated_cursor_ends_the_loading(pages: ServicePage) -> None:
    pages.service.answers(200, json=wire.envelope(wire.page(), hasMore=True, nextCursor="abc"))
    html = pages.html("?q=x&read=200&cursor=abc", "coverage")
    assert "hx-trigger" not in html


FAILURES = [
    lambda fake_service: fake_service.fails(httpx.ConnectError),
    lambda fake_service: fake_service.answers(500, text="<h1>oops</h1>"),
    lambda fake_service: fake_service.answers(200, text="garbage"),
    lambda fake_service: fake_service.answers(200, json={"items": 3}),
    lambda fake_service: fake_service.answers(401, json={"detail": "no"}),
]


@pytest.mark.parametrize("failure", FAILURES)
def test_an_outage_shows_the_last_known(
    as_publisher: Client, fake_service: FakeService, failure: Any
) -> None:
    record(wire.page())
    failure(fake_service)
    html = page_html(as_publisher, "/pages/")
    assert "Showing the last known state" in text(html)
    assert "Fleet telematics" in html
    create = [e for e in elements(html, "button") if e.attributes.get("aria-disabled")]
    assert len(create) == 1


@pytest.mark.parametrize("failure", FAILURES)
def test_without_any_knowledge_a_failure_is_an_error_page(pages: ServicePage, failure: Any) -> None:
    failure(pages.service)
    response = pages.get()
    assert response.status_code in (502, 504)
    assert "Try again" in response_text(response)


def test_a_failed_publish_shows_until_another_succeeds(pages: ServicePage, vera: User) -> None:
    pages.service.answers(200, json=wire.envelope(wire.page()))
    publish(vera, "ver_1", Outcome.REJECTED)
    assert "Publish failed" in pages.html()
    publish(vera, "ver_2", Outcome.UNKNOWN)
    assert "Publish: outcome unknown" in pages.html()
    publish(vera, "ver_3", Outcome.ACCEPTED)
    assert "Publish" not in pages.text().replace("Published", "")


def test_a_viewer_is_not_offered_to_create(pages: ServicePage) -> None:
    pages.service.answers(200, json=wire.envelope(wire.page()))
    assert "Create page" not in pages.html()


def test_text_of_the_service_is_never_markup(pages: ServicePage) -> None:
    pages.service.answers(
        200, json=wire.envelope(wire.page(name="<script>x</script>", title="<b>"))
    )
    html = pages.html("?")
    assert "<script>x" not in html
    assert "&lt;script&gt;x" in html


@pytest.mark.parametrize(
    "address", ["?q=%00&status=%00", "?after=-1&cursor=", "?sort=drop&after=1e9", "?read=x"]
)
def test_invalid_parameters_still_show_a_list(pages: ServicePage, address: str) -> None:
    pages.service.answers(200, json=wire.envelope(wire.page()))
    assert pages.get(address, follow=True).status_code == 200


def test_a_list_costs_the_same_however_long(
    pages: ServicePage, django_assert_max_num_queries: Any
) -> None:
    pages.service.answer = part_of(620)
    shell_state()  # counts once; the page below uses the cache
    # One of them is for the crawl, as the list is incomplete. Two add records to the feed.
    with django_assert_max_num_queries(18):
        pages.html()
    with django_assert_max_num_queries(12):
        pages.html("?q=number&sort=name")
    assert len(pages.service.sent) == 1
