"""Search by words and by ID in the ledger, people live, commands, and keyboard shortcuts."""

import re
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import Target, begin
from dashboard.releases.models import Release
from dashboard.web.live.shell_state import shell_state
from tests.support import wire
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text
from tests.support.one_audience import serve
from tests.support.seeding import seed_audiences, seed_pages, seed_subscription

pytestmark = pytest.mark.django_db

AUDIENCE = "/pages/page_1/audiences/aud_1/"


def find(client: Client, words: str = "", *, target: str = "", status: int = 200) -> str:
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    response = client.get(f"/find/?q={quote(words)}", headers=headers)
    assert response.status_code == status
    return response.text


def options(html: str) -> list[str]:
    """Return the URLs of the palette's options, in order."""
    options = [e for e in elements(html, "a") if e.attributes.get("role") == "option"]
    return [e.attributes["href"] for e in options]


def palette(client: Client, words: str = "") -> list[str]:
    return options(find(client, words, target="palette-list"))


def know_things() -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience())
    seed_subscription()


# By words


def test_the_page_shows_results_in_groups(as_viewer: Client) -> None:
    know_things()
    html = find(as_viewer, "BRIGHT foods")
    assert AUDIENCE in [e.attributes.get("href") for e in elements(html, "a")]
    assert "Audiences Brightwater Foods Fleet telematics Version 1 live" in text(html)
    assert "<mark>Bright</mark>water <mark>Foods</mark>" in html


def test_the_palette_offers_the_same_as_options(as_viewer: Client) -> None:
    know_things()
    assert palette(as_viewer, "bright")[0] == AUDIENCE
    assert palette(as_viewer, "fleet")[0] == "/pages/page_1/"
    assert palette(as_viewer, "crm")[0] == "/webhooks/whs_1/"
    assert palette(as_viewer, "activ")[0] == "/activity/"


def test_every_word_must_match_in_the_palette(as_viewer: Client) -> None:
    know_things()
    assert palette(as_viewer, "bright & zebra") == [
        "/audiences/?q=bright+%26+zebra",
        "/pages/?q=bright+%26+zebra",
        "/people/?q=bright+%26+zebra",
    ]


def test_names_that_begin_with_the_words_come_first(as_viewer: Client) -> None:
    seed_audiences(
        wire.audience(audienceId="a", effectiveName="All bright"),
        wire.audience(audienceId="b", effectiveName="Brighton"),
    )
    assert palette(as_viewer, "bright")[:2] == [
        "/pages/page_1/audiences/b/",
        "/pages/page_1/audiences/a/",
    ]


def test_a_partial_id_matches(as_viewer: Client) -> None:
    seed_audiences(wire.audience(audienceId="aud_01ke7ttn"))
    assert palette(as_viewer, "01ke7")[0] == "/pages/page_1/audiences/aud_01ke7ttn/"


def test_special_characters_are_searched_literally(as_viewer: Client) -> None:
    know_things()
    for words in ("%", "_", "\\", "'", '"', "\0", "✓", "(", "[a-z]", "x" * 5000):
        assert AUDIENCE not in palette(as_viewer, words) or words in "_\0", words


def test_the_coverage_is_shown(as_viewer: Client) -> None:
    assert "No pages loaded yet" in text(find(as_viewer))
    seed_pages(wire.page(), total=9)
    assert "Searching 1 of 9 pages and their audiences." in text(find(as_viewer, "x"))
    seed_pages(wire.page(), total=1)
    assert "Searching 1 page and its audiences" in text(find(as_viewer, "x"))


def test_names_are_never_markup(as_viewer: Client) -> None:
    seed_audiences(wire.audience(effectiveName="<img src=x onerror=alert(1)> bright"))
    html = find(as_viewer, "bright img", target="palette-list")
    assert elements(html, "img") == []
    assert "&lt;<mark>img</mark> src=x" in html


def test_the_number_of_queries_is_constant(
    as_publisher: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        seed_pages(wire.page(pageId=f"page_{number}"))
        seed_audiences(wire.audience(audienceId=f"aud_{number}"), page_id=f"page_{number}")
    shell_state()  # counts once; the page below uses the cache
    with django_assert_max_num_queries(23):
        assert len(palette(as_publisher, "e")) > 12


# Totals


def know_many(count: int, name: str = "Hans") -> None:
    audiences = [
        wire.audience(audienceId=f"a{n}", effectiveName=f"{name} {n}") for n in range(count)
    ]
    seed_audiences(*audiences)


def headings(html: str) -> list[str]:
    return re.findall(r"<h[23][^>]*>([^<]+)</h[23]>", html)


def test_the_palette_shows_totals_and_links_to_all(as_viewer: Client) -> None:
    know_many(7)
    seed_pages(*(wire.page(pageId=f"p{n}", name=f"Hans {n}") for n in range(8)))
    html = find(as_viewer, "hans", target="palette-list")
    assert "Audiences: 6 of 7" in headings(html)
    assert "Pages: 6 of 8" in headings(html)
    assert "/find/?q=hans&all=audiences" in options(html)
    assert "All 7 audiences matching “hans”" in text(html)
    assert "All 8 pages matching “hans”" in text(html)


def test_the_best_match_is_first_among_many(as_viewer: Client) -> None:
    know_many(30, name="All of Hanseatic")
    seed_audiences(wire.audience(audienceId="b", effectiveName="Hanseatic Kühllogistik"))
    assert palette(as_viewer, "hans")[0] == "/pages/page_1/audiences/b/"
    assert palette(as_viewer, "hanseatic kuhl")[0] == "/pages/page_1/audiences/b/"


def test_few_are_shown_without_a_count(as_viewer: Client) -> None:
    know_many(6)
    html = find(as_viewer, "hans", target="palette-list")
    assert "Audiences" in headings(html)
    assert "all=audiences" not in html


def test_all_matching_audiences_are_paginated(as_viewer: Client) -> None:
    know_many(230)
    first = as_viewer.get("/find/?q=hans&all=audiences").text
    assert "1 to 100 of 230" in text(first)
    assert "Audiences: 100 of 230" in headings(first)
    links = [e.attributes["href"] for e in elements(first, "a") if "start=" in e.attributes["href"]]
    assert links == ["?q=hans&all=audiences&start=100"]
    last = as_viewer.get("/find/?q=hans&all=audiences&start=200").text
    assert "201 to 230 of 230" in text(last)
    links = [e.attributes["href"] for e in elements(last, "a")]
    assert len([address for address in links if "/audiences/a" in address]) == 30


@pytest.mark.matrix
@pytest.mark.parametrize("kind", ["audiences", "webhooks"])
@pytest.mark.parametrize("start", ["", "-1", "x", "9999999999"])
def test_an_empty_list_of_results_has_a_sentence(kind: str, start: str, as_viewer: Client) -> None:
    response = as_viewer.get(f"/find/?q=hans&all={kind}&start={start}")
    assert response.status_code == 200
    assert "No results" in response_text(response)


def test_people_are_counted_and_link_to_all(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person(), totalCount=42))
    html = find(as_viewer, "ada", target="palette-people")
    assert headings(html) == ["People: 1 of 42"]
    assert options(html)[-1] == "/people/?q=ada"
    assert "All 42 people matching “ada”" in text(html)


def test_accents_are_marked_with_what_was_typed_without(as_viewer: Client) -> None:
    seed_audiences(wire.audience(effectiveName="Hanseatic Kühllogistik"))
    assert "<mark>Kühl</mark>logistik" in find(as_viewer, "kuhl", target="palette-list")


# By id


@pytest.mark.parametrize(
    ("identifier", "address"),
    [
        ("page_1", "/pages/page_1/"),
        (" aud_1 ", AUDIENCE),
        ("ver_2", f"{AUDIENCE}versions/#v2"),
        ("whs_1", "/webhooks/whs_1/"),
        ("op-1", "/activity/op-1/"),
    ],
)
def test_an_id_redirects_to_its_object(
    identifier: str, address: str, as_viewer: Client, paula: User
) -> None:
    know_things()
    begin(
        operation_key="op-1", kind=OperationKind.CREATE_PAGE, actor=paula, target=Target(), body={}
    )
    response = as_viewer.get(f"/find/?q={quote(identifier)}")
    assert (response.status_code, response["Location"]) == (302, address)
    assert palette(as_viewer, identifier)[0] == address
    assert palette(as_viewer, identifier).count(address) == 1


@pytest.mark.parametrize("identifier", ["a/b", "a b?c#d", "..", "%2F", "ä✓", "<b>", "new"])
def test_an_id_may_hold_any_character(
    identifier: str, as_viewer: Client, fake_service: FakeService
) -> None:
    seed_audiences(wire.audience(audienceId=identifier))
    serve(fake_service, wire.audience(audienceId=identifier))
    response = as_viewer.get(f"/find/?q={quote(identifier, safe='')}", follow=True)
    assert response.status_code == 200
    assert response.resolver_match.kwargs["audience_id"] == identifier


def test_an_ambiguous_id_does_not_redirect(as_viewer: Client) -> None:
    seed_audiences(wire.audience())
    seed_audiences(wire.audience(), page_id="page_2")
    html = find(as_viewer, "aud_1")
    assert "Exact ID match" in text(html)
    assert palette(as_viewer, "aud_1")[:2] == [AUDIENCE, "/pages/page_2/audiences/aud_1/"]


def test_id_matches_are_shown_with_their_page(as_viewer: Client, paula: User) -> None:
    know_things()
    target = Target(page_id="page_1", audience_id="aud_1", target_name="Brightwater Foods")
    begin(
        operation_key="op-1",
        kind=OperationKind.PUBLISH_VERSION,
        actor=paula,
        target=target,
        body={},
    )
    version = text(find(as_viewer, "ver_2", target="palette-list"))
    assert "Version 2 Brightwater Foods, Fleet telematics" in version
    operation = text(find(as_viewer, "op-1", target="palette-list"))
    assert "Brightwater Foods Fleet telematics" in operation


def test_a_version_has_the_state_of_its_history(as_viewer: Client) -> None:
    seed_audiences(wire.audience())
    assert "Version 1 Brightwater Foods, page_1 Live" in by_id(as_viewer, "ver_1")
    newer = wire.live_version(versionId="ver_2", versionNumber=2)
    seed_audiences(wire.audience(latestVersion=newer, publishedVersion=newer))
    assert "Version 2 Brightwater Foods, page_1 Live" in by_id(as_viewer, "ver_2")
    assert "Version 1 Brightwater Foods, page_1 Superseded" in by_id(as_viewer, "ver_1")


def test_an_archived_live_version_is_superseded_in_the_palette(as_viewer: Client) -> None:
    archived = wire.live_version(status="archived")
    newer = wire.live_version(versionId="ver_2", versionNumber=2)
    seed_audiences(wire.audience(latestVersion=archived, publishedVersion=newer))
    assert "Version 1 Brightwater Foods, page_1 Superseded" in by_id(as_viewer, "ver_1")


def by_id(client: Client, version_id: str) -> str:
    return text(find(client, version_id, target="palette-list"))


# Commands


def test_a_publisher_is_offered_to_publish_and_to_create(as_publisher: Client) -> None:
    know_things()
    offered = palette(as_publisher, "bright")
    assert f"{AUDIENCE}versions/ver_2/publish/" in offered
    assert f"{AUDIENCE}versions/compare/?from=ver_1&to=ver_2" in offered
    assert palette(as_publisher, "create")[0] == "/pages/new/"


PUBLISH = f"{AUDIENCE}versions/ver_2/publish/"
COMPARE = f"{AUDIENCE}versions/compare/?from=ver_1&to=ver_2"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("publish brightwater", PUBLISH),
        ("pub BRIGHT foods", PUBLISH),
        ("Publish… bright", PUBLISH),
        ("publish aud_1", PUBLISH),
        ("compare bright", COMPARE),
        ("com bright", COMPARE),
    ],
)
def test_a_verb_before_a_name_comes_first(words: str, offered: str, as_publisher: Client) -> None:
    know_things()
    options = palette(as_publisher, words)
    assert options[0] == offered
    assert [address.split("?")[0] for address in options[1:]] == [
        "/audiences/",
        "/pages/",
        "/people/",
    ]


def test_an_unknown_verb_or_name_offers_no_command(as_publisher: Client) -> None:
    know_things()
    for words in ("pu bright", "publisher bright", "publish zebra", "publish"):
        assert not any("/versions/" in item for item in palette(as_publisher, words)), words


def test_a_verb_alone_applies_to_recent_publishable_visits(
    as_publisher: Client, fake_service: FakeService
) -> None:
    live = wire.live_version()
    for audience in (
        wire.audience(audienceId="aud_9", latestVersion=live, publishedVersion=live),
        wire.audience(),
    ):
        serve(fake_service, audience)
        seed_audiences(audience)
        as_publisher.get(f"/pages/page_1/audiences/{audience['audienceId']}/")
    assert palette(as_publisher, "publish")[0] == PUBLISH
    assert palette(as_publisher, "comp")[0] == COMPARE
    assert not any("aud_9" in address for address in palette(as_publisher, "pub"))


def test_a_publishable_audience_is_found_among_namesakes(as_publisher: Client) -> None:
    live = wire.live_version()
    others = [
        wire.audience(
            audienceId=f"a_{number}",
            effectiveName=f"Bright {number}",
            latestVersion=live,
            publishedVersion=live,
        )
        for number in range(20)
    ]
    seed_audiences(*others, wire.audience())
    assert PUBLISH not in palette(as_publisher, "bright")
    assert palette(as_publisher, "publish bright")[0] == PUBLISH


def test_a_verb_adds_few_queries(as_publisher: Client, django_assert_max_num_queries: Any) -> None:
    for number in range(30):
        seed_pages(wire.page(pageId=f"page_{number}"))
        seed_audiences(wire.audience(audienceId=f"aud_{number}"), page_id=f"page_{number}")
    with django_assert_max_num_queries(21):
        options = palette(as_publisher, "publish bright")
    assert len(options) == 10
    assert options[6] == "/find/?q=bright&all=audiences"


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("setti", "/accounts/settings/"),
        ("time zone", "/accounts/settings/"),
        ("notification set", "/accounts/settings/notifications/"),
        ("receiver", "/hooks/"),
        ("outcome unknown", "/activity/?outcome=unknown"),
        ("approval rule", "/accounts/settings/approvals/"),
        ("review", "/review/"),
        ("tokens", "/accounts/settings/tokens/"),
        ("address of the site", "/accounts/settings/site/"),
    ],
)
def test_pages_are_found_by_what_they_hold(
    words: str, address: str, as_administrator: Client
) -> None:
    assert palette(as_administrator, words)[0] == address


def test_pages_without_a_right_are_not_offered(as_viewer: Client) -> None:
    assert "/accounts/settings/approvals/" not in palette(as_viewer, "approval rule")
    assert "/accounts/settings/site/" not in palette(as_viewer, "address of the site")
    assert as_viewer.get(palette(as_viewer, "tokens")[0]).status_code == 200


def test_the_dark_theme_is_one_command(as_viewer: Client) -> None:
    html = find(as_viewer, "dark", target="palette-list")
    [button] = [e.attributes for e in elements(html, "button")]
    assert (button["form"], button["name"], button["value"]) == ("theme-form", "theme", "dark")
    assert 'id="theme-form"' in find(as_viewer)


def test_a_command_that_matches_nothing_says_so(
    as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope())
    assert "Nothing to publish matches “zebra”" in text(
        find(as_publisher, "publish zebra", target="palette-list")
    )
    assert "No people match" not in find(as_publisher, "publish zebra", target="palette-people")
    assert "No people match" in find(as_publisher, "zebra", target="palette-people")


def test_a_persons_full_id_finds_their_audience(as_viewer: Client) -> None:
    person_id = "prospect_" + "a1" * 13
    seed_audiences(wire.audience(prospectId=person_id))
    assert palette(as_viewer, person_id)[0] == AUDIENCE


def test_viewers_are_offered_no_publish_and_no_create(as_viewer: Client) -> None:
    know_things()
    assert not any("publish/" in address for address in palette(as_viewer, "bright"))
    assert not any("publish/" in address for address in palette(as_viewer, "publish bright"))
    assert "/pages/new/" not in palette(as_viewer, "create")
    assert "/pages/new/" not in palette(as_viewer)


@pytest.mark.parametrize("words", ["bright", "publish bright", "compare bright"])
def test_of_two_namesakes_the_archived_one_is_not_offered(words: str, as_publisher: Client) -> None:
    seed_pages(wire.page(), wire.page(pageId="page_2", name="Cold chain"))
    seed_audiences(wire.audience(archivedAt="2026-11-01T00:00:00Z"))
    seed_audiences(wire.audience(), page_id="page_2")
    offered = [address for address in palette(as_publisher, words) if "/versions/" in address]
    assert offered
    assert all(address.startswith("/pages/page_2/") for address in offered)
    html = find(as_publisher, words, target="palette-list")
    assert "Publish version 2: Brightwater Foods, Cold chain…" in text(html) or words.startswith(
        "compare"
    )
    assert "Compare versions 1 and 2: Brightwater Foods, Cold chain" in text(html) or "pub" in words


def test_an_archived_audience_follows_its_namesake(as_viewer: Client) -> None:
    seed_pages(wire.page(), wire.page(pageId="page_2", name="Cold chain"))
    seed_audiences(wire.audience(archivedAt="2026-11-01T00:00:00Z"))
    seed_audiences(wire.audience(), page_id="page_2")
    assert palette(as_viewer, "bright")[0] == "/pages/page_2/audiences/aud_1/"
    html = find(as_viewer, "bright", target="palette-list")
    assert "Brightwater Foods Fleet telematics, archived" in text(html)


def test_an_archived_page_offers_no_publishing(as_publisher: Client) -> None:
    seed_pages(wire.page(status="archived"))
    seed_audiences(wire.audience())
    assert PUBLISH not in palette(as_publisher, "bright")


@pytest.mark.parametrize("words", ["", "sign out", "log out", "logout", "out"])
def test_sign_out_is_a_result_that_posts(words: str, as_viewer: Client) -> None:
    html = find(as_viewer, words, target="palette-list")
    [button] = elements(html, "button")
    assert button.attributes["role"] == "option"
    page = find(as_viewer, words)
    [form] = [e for e in elements(page, "form") if e.attributes.get("id") == "sign-out"]
    assert form.attributes["method"] == "post"
    assert button.attributes["form"] == "sign-out"
    assert "Sign out" in text(html)


@pytest.mark.parametrize("status", ["queued", "processing", "pending", "cancelled", "archived"])
def test_a_version_in_progress_is_not_offered_to_publish(status: str, as_publisher: Client) -> None:
    seed_audiences(wire.audience(latestVersion=wire.version(status=status)))
    assert f"{AUDIENCE}versions/ver_2/publish/" not in palette(as_publisher, "bright")


@pytest.mark.parametrize(
    ("words", "note"),
    [("carriers", "For regional carriers"), ("page_", "page_1"), ("fleet", ""), ("FLEET", "")],
)
def test_a_page_matched_by_another_field_shows_that_field(
    words: str, note: str, as_viewer: Client
) -> None:
    seed_pages(wire.page(name="Fleet telematics", title="For regional carriers"))
    html = find(as_viewer, words, target="palette-list")
    assert " ".join(filter(None, ["Fleet telematics", note, "Published"])) in text(html)


# People


def test_people_are_loaded_in_their_own_partial(
    as_viewer: Client, fake_service: FakeService
) -> None:
    html = find(as_viewer, "ada", target="palette-list")
    assert fake_service.sent == []
    part = next(e for e in elements(html) if e.attributes.get("id") == "palette-people")
    assert part.attributes["hx-get"] == "/find/?q=ada"
    fake_service.answers(200, json=wire.envelope(wire.person()))
    people = find(as_viewer, "ada", target="palette-people")
    assert options(people) == ["/people/?q=ada%40analytical.example"]
    assert [request.url.path for request in fake_service.sent] == ["/v0/persons/search"]


def test_one_character_searches_no_people(as_viewer: Client, fake_service: FakeService) -> None:
    assert "palette-people" not in find(as_viewer, "a", target="palette-list")
    find(as_viewer, "a", target="palette-people")
    assert fake_service.sent == []


@pytest.mark.parametrize("part", ["find-people", "palette-people"])
def test_a_failed_people_search_costs_one_line(
    part: str, as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.fails(httpx.ConnectError)
    assert "Couldn’t search people." in text(find(as_viewer, "ada", target=part))


@pytest.mark.parametrize("part", ["find-people", "palette-people"])
def test_no_matching_people_have_a_sentence(
    part: str, as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope())
    assert "No people match “ada”" in text(find(as_viewer, "ada", target=part))


@pytest.mark.usefixtures("clock")
def test_a_fast_service_has_people_on_the_page(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    as_viewer.get("/people/")
    page = elements(find(as_viewer, "ada"))
    assert "/people/?q=ada%40analytical.example" in [e.attributes.get("href") for e in page]
    assert "/find/?q=ada" not in [e.attributes.get("hx-get") for e in page]
    assert fake_service.sent[-1].url.path == "/v0/persons/search"


def test_a_slow_service_is_searched_after_the_page_loads(
    as_viewer: Client, fake_service: FakeService, clock: Clock
) -> None:
    def slowly(request: httpx.Request) -> httpx.Response:
        clock.advance(0.4)
        return httpx.Response(200, json=wire.envelope(wire.person()))

    fake_service.answer = slowly
    as_viewer.get("/people/")
    calls = len(fake_service.sent)
    assert "/find/?q=ada" in [e.attributes.get("hx-get") for e in elements(find(as_viewer, "ada"))]
    assert len(fake_service.sent) == calls


@pytest.mark.usefixtures("clock")
def test_a_failing_fast_service_costs_one_line(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    as_viewer.get("/people/")
    fake_service.fails(httpx.ConnectError)
    assert "Couldn’t search people." in text(find(as_viewer, "ada"))


def test_without_javascript_people_are_a_link(as_viewer: Client) -> None:
    links = [e.attributes.get("href") for e in elements(find(as_viewer, "a&b"), "a")]
    assert "/people/?q=a%26b" in links


# Recent visits


def test_recent_visits_come_first(as_viewer: Client, fake_service: FakeService) -> None:
    know_things()
    serve(fake_service, wire.audience())
    as_viewer.get(AUDIENCE)
    as_viewer.get("/pages/page_1/")
    assert palette(as_viewer)[:3] == ["/pages/page_1/", AUDIENCE, "/"]
    as_viewer.get(f"{AUDIENCE}versions/")
    assert palette(as_viewer)[:3] == [AUDIENCE, "/pages/page_1/", "/"]


def test_eight_visits_are_stored_per_user(
    as_viewer: Client, ada: User, fake_service: FakeService
) -> None:
    for number in range(9):
        page = wire.page(pageId=f"page/{number}")
        seed_pages(page)
        serve(fake_service, page=page)
        as_viewer.get(f"/pages/page%252F{number}/")
    visited = [address for address in palette(as_viewer) if address.startswith("/pages/page")]
    assert visited == [f"/pages/page%252F{number}/" for number in range(8, 0, -1)]
    as_viewer.force_login(ada)
    assert palette(as_viewer)[0] == "/"


def test_long_ids_do_not_exceed_the_cookie_limit(
    as_viewer: Client, fake_service: FakeService
) -> None:
    for letter in "abc":
        page = wire.page(pageId=letter * 700)
        seed_pages(page)
        serve(fake_service, page=page)
        as_viewer.get(f"/pages/{letter * 700}/")
    assert all(len(cookie.value) < 2_100 for cookie in as_viewer.cookies.values())
    assert palette(as_viewer)[0] == f"/pages/{'c' * 700}/"


def test_a_missing_page_is_not_recorded_as_visited(
    as_viewer: Client, vera: User, fake_service: FakeService
) -> None:
    as_viewer.get("/pages/gone/")
    assert f"pressroom_recent_{vera.pk}" not in as_viewer.cookies


@pytest.mark.parametrize("cookie", ["x", ":", "a:b:c", "!!", "%00:%00", "a:!:b", "%ff:%ff"])
def test_an_invalid_cookie_has_no_visits(cookie: str, as_viewer: Client, vera: User) -> None:
    as_viewer.cookies[f"pressroom_recent_{vera.pk}"] = cookie
    assert palette(as_viewer)[0] == "/"


# Keyboard shortcuts


def test_shortcuts_are_listed_on_page_and_dialog(as_viewer: Client) -> None:
    assert "Go to Overview, Pages, Audiences, Review, Releases, People" in text(find(as_viewer))
    dialog = find(as_viewer, target="dialogs")
    assert [e.attributes["id"] for e in elements(dialog, "dialog")] == ["keys-dialog"]
    assert "Go to Overview, Pages, Audiences, Review, Releases, People" in text(dialog)


def test_single_key_shortcuts_can_be_turned_off_and_on(as_viewer: Client) -> None:
    def is_off() -> bool:
        body = elements(find(as_viewer), "body")[0]
        return body.attributes.get("data-keys") == "off"

    assert not is_off()
    response = as_viewer.post("/accounts/keys/", {"next": "/find/"})
    assert response["Location"] == "/find/"
    assert is_off()
    as_viewer.post("/accounts/keys/", {"keys": "on", "next": "https://elsewhere.example/"})
    assert not is_off()


# Releases


def test_a_release_is_found_by_name(as_viewer: Client, paula: User) -> None:
    now = timezone.now()
    created = {
        name: Release.objects.create(name=name, state=state, created_at=now, owner=paula)
        for name, state in (("Wintertexte für Köln", "held"), ("Summer wording", "draft"))
    }
    hits = find(as_viewer, "koln winter")
    assert f"/releases/{created['Wintertexte für Köln'].pk}/" in palette(as_viewer, "koln winter")
    assert "Wintertexte für Köln Held" in text(hits)
    assert "Summer wording" not in text(hits)


def test_many_releases_lead_to_their_list(as_viewer: Client, paula: User) -> None:
    for number in range(8):
        Release.objects.create(name=f"Rates {number}", created_at=timezone.now(), owner=paula)
    assert "Releases: 6 of 8" in text(find(as_viewer, "rates"))
    assert "/releases/?q=rates" in palette(as_viewer, "rates")
