"""The page detail: every field returned, and the audiences with their next actions."""

import json
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.contract.audiences import Audience
from dashboard.contract.pages import Page
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.ledger.recording import record_audiences, record_page
from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import Answer, FakeService
from tests.support.html import elements, text
from tests.support.service_page import ServicePage

FULL = wire.page(
    actions=[
        {"actionIndex": 1, "actionId": "b", "buttonTitle": "Second", "url": "javascript:alert(1)"},
        {"actionIndex": 0, "actionId": "a", "buttonTitle": "First", "url": "https://a.example/x"},
    ],
    headerActionId="b",
    actionCardWidgets=[
        {"type": "logo_strip", "title": "Carriers", "logos": [{"image": {"altText": "Nordlys"}}]},
        {"type": "quote", "title": None},
    ],
    footerLinks=[{"id": "f", "title": "Legal", "links": [{"text": "Imprint", "url": "//evil"}]}],
    scripts=[{"name": "Counter", "content": "</pre><script>alert(1)</script>", "enabled": False}],
    pageContext="One.\n\nTwo.\n\nThree.\n\nFour <b>bold</b>.",
    metadata={
        "title": "Meta title",
        "keywords": ["fleet", "reefer"],
        "author": None,
        "canonicalUrl": "https://pages.example/fleet/regional",
        "themeColor": "#12355b",
        "ogImageUrl": "https://cdn.example/x.png",
    },
    unheardOf={"kept": True},
)


def serving(page: dict[str, Any], *audiences: Any, **envelope: Any) -> Answer:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(200, json=wire.envelope(*audiences, **envelope))
        return httpx.Response(200, json=page)

    return answer


@pytest.fixture
def detail(as_viewer: Client, fake_service: FakeService) -> ServicePage:
    """The page in a viewer's browser."""
    return ServicePage(as_viewer, fake_service, "/pages/page_1/")


@pytest.fixture
def publishers_page(as_publisher: Client, fake_service: FakeService) -> ServicePage:
    """The page in a publisher's browser."""
    return ServicePage(as_publisher, fake_service, "/pages/page_1/")


def test_a_page_shows_every_section(detail: ServicePage) -> None:
    detail.service.answer = serving(FULL, wire.audience())
    html = detail.html()
    page_text = text(html)
    assert html.index("<b>First</b>") < html.index("<b>Second</b>")
    assert 'Second</b> <span class="chip">Header</span>' in " ".join(html.split())
    for words in ("Carriers", "Nordlys", "logo_strip", "Legal", "Imprint", "Counter", "Disabled"):
        assert words in page_text
    assert "5 of 21 fields set" in page_text
    assert "unheardOf" in page_text
    assert "Computed name: Brightwater Foods Group plc" in page_text


def test_a_page_makes_two_calls_and_few_queries(
    detail: ServicePage,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A second later, unchanged reads would be dated again.
    stopped(monkeypatch)
    many = [wire.audience(audienceId=f"aud_{n}", latestVersion=None) for n in range(400)]
    detail.service.answer = serving(FULL, *many)
    detail.html()
    detail.service.sent.clear()
    with django_assert_max_num_queries(14):
        detail.html()
    assert detail.paths == [
        "/v0/pages/page_1",
        "/v0/pages/page_1/audiences",
    ]


def test_the_audiences_partial_makes_one_call(detail: ServicePage) -> None:
    detail.service.answer = serving(FULL, wire.audience())
    assert "Brightwater Foods" in detail.html(target="audience-results")
    assert detail.paths == ["/v0/pages/page_1/audiences"]


def test_the_audiences_of_a_missing_page_are_404(detail: ServicePage) -> None:
    detail.service.answers(404, json={"detail": "Page not found."})
    assert "Page not found." in detail.text("/pages/gone/", "audience-results", status=404)


def test_the_audiences_partial_says_that_they_could_not_load(detail: ServicePage) -> None:
    detail.service.answer = lambda request: httpx.Response(
        500 if request.url.path.endswith("/audiences") else 200, json=FULL
    )
    assert "Couldn’t load the audiences" in detail.text(target="audience-results")


def test_the_audiences_partial_falls_back_to_last_known(publishers_page: ServicePage) -> None:
    publishers_page.service.answers(500)
    assert publishers_page.get(target="audience-results").status_code == 502
    record()
    html = publishers_page.html(target="audience-results")
    assert "Brightwater Foods" in html
    assert "unavailable until the service responds" in text(html)


def test_no_page_text_becomes_markup(detail: ServicePage) -> None:
    detail.service.answer = serving(FULL, wire.audience(effectiveName="<img src=x>"))
    html = detail.html()
    scripts = [tag.attributes for tag in elements(html, "script")]
    assert all(script.get("src", "").startswith("/static/") for script in scripts)
    links = [tag.attributes.get("href", "") for tag in elements(html, "a")]
    assert not [link for link in links if link.startswith(("javascript:", "//"))]
    assert elements(html, "img") == []
    assert "<b>bold</b>" not in html


def test_an_invalid_color_is_not_rendered(detail: ServicePage) -> None:
    detail.service.answer = serving(wire.page(metadata={"themeColor": "url(https://evil)"}))
    html = detail.html()
    assert "url(https://evil)" in text(html)
    assert elements(html, "rect") == []


def test_null_absent_and_empty_are_distinguished(detail: ServicePage) -> None:
    detail.service.answer = serving(wire.page(metadata={"title": None, "author": ""}))
    html = detail.html()
    assert '<dt>title</dt><dd class="none">null</dd>' in html.replace("\n", "").replace("  ", "")
    assert "Not returned" in html
    assert "0 of 21 fields set" in text(html)


def test_a_page_with_the_spec_minimum_is_shown(detail: ServicePage) -> None:
    page = wire.page(
        actions=[{}],
        actionCardWidgets=[{}],
        scripts=[{}],
        pageContext="",
        name="",
        title="",
        status="evaporated",
        pageType="hologram",
        headerActionId="gone",
    )
    del page["footerLinks"]
    detail.service.answer = serving(
        page, {}, wire.audience(latestVersion=None, publishedVersion=None)
    )
    page_text = detail.text()
    for words in ("Unnamed page", "evaporated", "hologram", "No action here has", "No content"):
        assert words in page_text
    assert "Not returned" in page_text
    assert "Unnamed audience" in page_text


def test_an_unreadable_audience_does_not_hide_the_others(detail: ServicePage) -> None:
    odd_version = wire.version(versionNumber=-9223372036854775809)
    broken = wire.audience(effectiveName="Odd Foods", latestVersion=odd_version)
    detail.service.answer = serving(wire.page(metadata={"title": 7}), broken, wire.audience())
    page_text = detail.text()
    assert "1 item could not be read Odd Foods items.0.latestVersion.versionNumber" in page_text
    assert "Brightwater Foods" in page_text
    assert "1 value could not be read metadata.title" in page_text


def test_an_incomplete_list_of_audiences_says_so(detail: ServicePage) -> None:
    detail.service.answer = serving(wire.page(), wire.audience(), hasMore=True, totalCount=120)
    assert "1 of 120 audiences loaded; the API can’t return the rest" in detail.text()


def test_a_page_without_audiences_says_so(detail: ServicePage) -> None:
    detail.service.answer = serving(wire.page())
    assert "No audiences yet" in detail.text()


def test_audiences_are_filtered_sorted_and_shown_in_steps(detail: ServicePage) -> None:
    many = [
        wire.audience(
            audienceId=f"aud_{n}",
            effectiveName=f"Name {n:03}",
            customName=None,
            latestVersion=wire.version(versionNumber=n, status="draft" if n % 2 else "queued"),
        )
        for n in range(120)
    ]
    detail.service.answer = serving(wire.page(), *many)
    html = detail.html("?status=draft&sort=-name", "audience-results")
    assert "<h1" not in html
    assert html.count("<tr") == 11
    assert "Showing 10 of 60 matches" in text(html)
    assert "Show 50 more" in text(html)
    assert html.index("Name 119") < html.index("Name 117")
    html = detail.html("?status=draft&sort=-name&show=60")
    assert "Showing 60 of 60 matches" in text(html)
    html = detail.html("?q=name+11&show=100")
    assert "Showing 11 of 11 matches" in text(html)
    assert "No audiences match “zebra”" in detail.text("?q=zebra")


def test_the_audience_filter_ignores_accents(detail: ServicePage) -> None:
    named = wire.audience(effectiveName="Hanseatic Kühllogistik")
    detail.service.answer = serving(wire.page(), named, wire.audience(audienceId="b"))
    assert "Showing 1 of 1 match" in detail.text("?q=kuhl")


def test_ten_audiences_are_shown_at_first(detail: ServicePage) -> None:
    many = [wire.audience(audienceId=f"aud_{n}") for n in range(34)]
    detail.service.answer = serving(wire.page(audiencesCount=34), *many)
    html = detail.html()
    before_context = html[: html.index('id="context"')]
    assert before_context.count("<tr") == 11
    assert "Showing 10 of 34 audiences" in text(before_context)
    more = next(e for e in elements(html, "a") if e.attributes.get("id") == "show-more")
    assert more.attributes["href"] == "?show=60#audiences"
    assert "Showing 34 of 34 audiences" in detail.text("?show=60")


def test_a_page_links_its_sections_above_its_audiences(detail: ServicePage) -> None:
    detail.service.answer = serving(wire.page(), wire.audience())
    html = detail.html()
    above = html[: html.index('<section class="section" id="audiences"')]
    anchors = [e.attributes["href"][1:] for e in elements(above, "a") if "href" in e.attributes]
    parts = ["audiences", "context", "actions", "widgets", "footer", "scripts", "metadata"]
    assert [anchor for anchor in anchors if anchor in parts] == parts
    assert all(f'id="{part}"' in html for part in parts)


def test_audiences_are_filtered_by_their_flags(detail: ServicePage) -> None:
    live = wire.live_version()
    detail.service.answer = serving(
        wire.page(),
        wire.audience(audienceId="a", effectiveName="Up to date", latestVersion=live),
        wire.audience(audienceId="b", effectiveName="Written on", latestVersion=wire.version()),
        wire.audience(audienceId="c", effectiveName="Never live", publishedVersion=None),
    )
    html = detail.html("?flag=changed", "audience-results")
    assert "Written on" in html
    assert "Up to date" not in html
    assert "Showing 1 of 1 match" in text(html)
    assert "Live (2) Not live (1) Unpublished changes (1)" in text(html)
    assert "Draft (1)" in text(html)


def test_the_live_version_is_marked_wherever_it_is(detail: ServicePage) -> None:
    live = wire.live_version()
    older = wire.audience(audienceId="aud_1", latestVersion=wire.version())
    latest = wire.audience(audienceId="aud_2", latestVersion=live, publishedVersion=live)
    detail.service.answer = serving(wire.page(), older, latest)
    html = detail.html()
    rows = [row.partition("</tr>")[0] for row in html.split("<tr ")[2:4]]
    assert [text(row).count("Live") for row in rows] == [1, 2]


def steps(html: str) -> list[str]:
    """Return the action of each row, in order."""
    return [part.split("</td>")[0] for part in html.split('<td role="cell" class="actions">')[1:]]


def test_each_audience_offers_its_next_action(publishers_page: ServicePage) -> None:
    live = wire.live_version()
    rows = [
        wire.audience(),
        wire.audience(audienceId="aud_2", latestVersion=wire.version(status="queued")),
        wire.audience(audienceId="aud_3", latestVersion=live, publishedVersion=live),
        wire.audience(audienceId="aud_4", latestVersion=wire.version(status="cancelled")),
        wire.audience(audienceId="aud_5", latestVersion=wire.version(status="archived")),
    ]
    publishers_page.service.answer = serving(wire.page(), *rows)
    step_texts = [text(step) for step in steps(publishers_page.html())]
    assert [words.split(" of ")[0] for words in step_texts] == [
        "Publish 2",
        "View progress",
        "Up to date",
        "—Nothing to publish",
        "—Nothing to publish",
    ]


@pytest.mark.parametrize(
    ("page", "audience"),
    [({"status": "archived"}, {}), ({}, {"archivedAt": "2026-11-01T00:00:00Z"})],
)
def test_what_is_archived_is_not_offered_to_publish(
    page: dict[str, str], audience: dict[str, str], publishers_page: ServicePage
) -> None:
    publishers_page.service.answer = serving(wire.page(**page), wire.audience(**audience))
    [step] = steps(publishers_page.html())
    assert text(step) == "—Nothing to publish"


def test_a_viewer_is_not_offered_to_publish(detail: ServicePage) -> None:
    detail.service.answer = serving(wire.page(), wire.audience())
    html = detail.html()
    assert "/publish/" not in html
    assert "Duplicate" not in html


@pytest.mark.parametrize(
    ("outcome", "words"), [(Outcome.UNKNOWN, "Check"), (Outcome.REJECTED, "Retry")]
)
def test_a_failed_publish_appears_at_its_audience(
    publishers_page: ServicePage, paula: User, outcome: Outcome, words: str
) -> None:
    target = Target(page_id="page_1", audience_id="aud_1", version_id="ver_2")
    _, attempt = begin(
        operation_key="k", kind=OperationKind.PUBLISH_VERSION, actor=paula, target=target, body={}
    )
    assert attempt
    end(attempt, AttemptResult(outcome))
    publishers_page.service.answer = serving(wire.page(), wire.audience())
    assert words in steps(publishers_page.html())[0]


def test_an_unchanged_audience_offers_each_user_their_own_action(
    publishers_page: ServicePage, detail: ServicePage, paula: User
) -> None:
    publishers_page.service.answer = serving(wire.page(), wire.audience())
    assert "Publish 2" in text(steps(publishers_page.html())[0])
    assert steps(detail.html()) == []
    target = Target(page_id="page_1", audience_id="aud_1", version_id="ver_2")
    begin(
        operation_key="k", kind=OperationKind.PUBLISH_VERSION, actor=paula, target=target, body={}
    )
    assert "View progress of version 2" in text(steps(publishers_page.html())[0])
    assert steps(detail.html()) == []


def record() -> None:
    record_page(Page.model_validate(wire.page()))
    record_audiences("page_1", [Audience.model_validate(wire.audience())])


@pytest.mark.parametrize(
    "failure",
    [
        lambda fake_service: fake_service.fails(httpx.ConnectError),
        lambda fake_service: fake_service.fails(httpx.ReadTimeout),
        lambda fake_service: fake_service.answers(500),
        lambda fake_service: fake_service.answers(200, text="garbage"),
        lambda fake_service: fake_service.answers(200, json=[]),
    ],
)
def test_an_outage_shows_last_known_and_disables_publishing(
    publishers_page: ServicePage, failure: Any
) -> None:
    failure(publishers_page.service)
    assert publishers_page.get().status_code in (502, 504)
    record()
    html = publishers_page.html()
    assert "Showing the last known state" in text(html)
    assert "Brightwater Foods" in html
    assert "/publish/" not in html
    assert "unavailable until the service responds" in text(html)


@pytest.mark.parametrize("status", [404, 500])
def test_audiences_that_do_not_load_leave_the_page_readable(
    publishers_page: ServicePage, status: int
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/audiences"):
            return httpx.Response(status, json={"detail": "No list today"})
        return httpx.Response(200, json=FULL)

    publishers_page.service.answer = answer
    page_text = publishers_page.text()
    assert "Couldn’t load the audiences" in page_text
    assert "No list today" in page_text
    assert "Carriers" in page_text


def test_a_page_that_does_not_exist_is_not_found(detail: ServicePage) -> None:
    detail.service.answers(404, json={"detail": "Page not found."})
    assert "Page not found." in detail.text("/pages/gone/", status=404)


def test_an_id_of_any_characters_is_requested_unchanged(detail: ServicePage) -> None:
    detail.service.answer = serving(wire.page(pageId="a/b ?"))
    html = detail.html("/pages/a%252Fb%2520%253F/")
    assert detail.service.sent[0].url.raw_path == b"/v0/pages/a%2Fb%20%3F"
    assert "/v0/pages/a%2Fb%20%3F" in text(html)
    assert "fake-service-key" not in html


def test_link_groups_and_logos_are_shown_whole(detail: ServicePage) -> None:
    page = wire.page(
        footerLinks=[
            {
                "id": "grp",
                "title": "Legal",
                "links": [{"text": "A", "url": "https://a.example/x", "id": "lnk"}],
            }
        ],
        actionCardWidgets=[
            {
                "type": "t",
                "title": "C",
                "logos": [
                    {
                        "image": {
                            "fileId": "fil",
                            "assetId": "ass",
                            "altText": "Alt",
                            "url": "https://i.example/l.svg",
                        }
                    }
                ],
            }
        ],
    )
    detail.service.answers(200, json=page)
    html = detail.html()
    words = text(html)
    for label in (
        "grp",
        "lnk",
        "https://a.example/x",
        "fil",
        "ass",
        "Alt",
        "https://i.example/l.svg",
    ):
        assert label in words
    assert not elements(html, "img")


def test_the_json_can_be_copied_as_returned(detail: ServicePage) -> None:
    detail.service.answers(200, json=wire.page(unheard='"of" <b>'))
    html = detail.html()
    copied = [
        t.attributes["data-copy"] for t in elements(html, "button") if "data-copy" in t.attributes
    ]
    [whole] = [words for words in copied if words.startswith("{")]
    assert json.loads(whole) == wire.page(unheard='"of" <b>')


def test_a_slow_request_does_not_overwrite_a_later_one(detail: ServicePage) -> None:
    now = serving(FULL | {"name": "New"}, wire.audience(effectiveName="New audience"))
    long_ago = serving(FULL | {"name": "Old"}, wire.audience(effectiveName="Old audience"))

    def answer(request: httpx.Request) -> httpx.Response:
        detail.service.answer = now
        detail.html()
        detail.service.answer = answer
        return long_ago(request)

    detail.service.answer = answer
    detail.html()
    detail.service.fails(httpx.ConnectError)
    last_known = detail.text()
    assert "New audience" in last_known
    assert "Old" not in last_known
