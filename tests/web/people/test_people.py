"""People: list, live search, one open person, pagination both ways, and failures."""

from html import unescape
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger.models import AudienceRecord, Operation, PageRecord
from dashboard.ledger.recording import record_audiences, record_pages
from dashboard.web.live.shell_state import shell_state
from tests.support import wire
from tests.support.embedded_api_factories import make_person
from tests.support.fake_service import FakeService
from tests.support.hostile_strings import PAYLOADS
from tests.support.html import Element, elements, page_html, text
from tests.support.matrix import sampled
from tests.support.service_page import ServicePage


def numbered(number: int, **differs: Any) -> dict[str, Any]:
    values = {"personId": f"prospect_{number}", "name": f"Person {number}"}
    return wire.person(**values | differs)


def part_of_120(request: httpx.Request, count: int = 120) -> httpx.Response:
    """Respond as a service with 120 people, whose cursors are `c` and the start number."""
    params = parse_qs(request.url.query.decode())
    start = int(params.get("cursor", ["c0"])[0].removeprefix("c"))
    items = [
        numbered(number) for number in range(start, min(start + int(params["limit"][0]), count))
    ]
    end = start + len(items)
    more = {"nextCursor": f"c{end}"} if end < count else {}
    listed = wire.envelope(*items, totalCount=count, hasMore=end < count)
    return httpx.Response(200, json=listed | more)


def part_of_250(request: httpx.Request) -> httpx.Response:
    return part_of_120(request, count=250)


@pytest.fixture
def people(as_viewer: Client, fake_service: FakeService) -> ServicePage:
    """The list of people in a viewer's browser."""
    return ServicePage(as_viewer, fake_service, "/people/")


def link(html: str, named: str) -> str:
    """Return the URL of the link with that text."""
    at = html.index(named)
    return elements(html[html.rindex("<a ", 0, at) : at], "a")[0].attributes["href"]


def by_id(html: str, identifier: str) -> Element | None:
    options = [e for e in elements(html) if e.attributes.get("id") == identifier]
    return options[0] if options else None


def test_the_list_shows_people_and_their_total(people: ServicePage) -> None:
    people.service.answer = part_of_120
    seen = people.text()
    assert "Person 0 ada@analytical.example" in seen
    assert "50 of 120 people." in seen
    assert "Load 50 more" in seen
    assert "Export 120 as CSV" in seen
    assert people.paths == ["/v0/persons"]


def test_a_name_like_a_placeholder_is_a_name(people: ServicePage) -> None:
    odd = wire.person(name="{email} {0} {", email="{address}", domain="%s", personId="{name}")
    people.service.answer = lambda request: httpx.Response(200, json=wire.envelope(odd))
    html = people.html()
    assert "{email} {0} { {address} %s" in text(html)
    assert link(html, "{email}") == "/people/?person=%7Bname%7D"


def test_the_service_searches_and_matches_are_marked(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope(wire.person()))
    html = people.html("?q=LOVE+ada+7946")
    assert "<mark>Ada</mark> <mark>Love</mark>lace" in html
    assert "<mark>ada</mark>@analytical.example" in html
    assert "+44 20 <mark>7946</mark> 0001" in html
    assert "1 person matches “LOVE ada 7946”" in text(html)
    assert people.service.sent[0].url.path == "/v0/persons/search"
    assert people.service.sent[0].url.params["query"] == "LOVE ada 7946"


def test_a_match_in_a_hidden_field_is_shown(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope(wire.person(slug="countess-7")))
    html = people.html("?q=count")
    assert 'Slug: <bdi translate="no"><mark>count</mark>ess-7</bdi>' in html
    html = people.html("?q=ada+babbage")
    assert "Matched by the service: “babbage” isn’t in any field shown" in text(html)


def test_the_embedded_service_finds_by_every_word(as_viewer: Client) -> None:
    make_person("Jürgen Weiß", email="j.weiss@x.example", domain="x.example")
    make_person("Jürgen Peña")
    html = page_html(as_viewer, "/people/?q=JURGEN+weiss")
    assert "<mark>Jürgen</mark> <mark>Weiß</mark>" in unescape(html)
    assert "Peña" not in text(html)
    assert "1 of 1 match." in text(html)


def test_typing_gets_the_results_and_the_toolbar_updates_only(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope(wire.person()))
    html = people.html("?q=ada", "results")
    assert "<h1" not in html
    assert 'role="search"' not in html
    around = {e.attributes["id"] for e in elements(html) if "hx-swap-oob" in e.attributes}
    assert around == {"people-count", "people-clear", "people-export", "fresh", "saved-views"}
    assert "/people/export.csv?q=ada" in html


@pytest.mark.parametrize(
    "case",
    [
        ("/people/", "a", "HX-Push-Url", "/people/?q=a"),
        ("/people/?q=a", "ad", "HX-Replace-Url", "/people/?q=ad"),
        ("/people/?q=ad", "", "HX-Push-Url", "/people/"),
        ("/people/?cursor=c50&after=50&person=x", " ", "HX-Replace-Url", "/people/"),
    ],
)
def test_back_undoes_a_search_and_not_a_letter(
    people: ServicePage, case: tuple[str, str, str, str]
) -> None:
    current_url, words, header, address = case
    people.service.answers(200, json=wire.envelope(wire.person()))
    response = people.get(f"?q={words}", "results", at=current_url)
    assert response[header] == address
    assert len({"HX-Push-Url", "HX-Replace-Url"} & {*response.headers}) == 1


@pytest.mark.parametrize(
    ("current_url", "header"),
    [
        ("/people/?q=person", "HX-Push-Url"),
        ("/people/?q=person&person=prospect_2", "HX-Replace-Url"),
        ("/people/?q=person&row=3", "HX-Replace-Url"),
    ],
)
@pytest.mark.parametrize("status", [200, 500])
def test_back_closes_a_person_and_goes_through_no_others(
    people: ServicePage, current_url: str, header: str, status: int
) -> None:
    people.service.answers(status, json=wire.envelope(numbered(1), numbered(2)))
    address = "/people/?q=person&person=prospect_1"
    response = people.get(address, "person", at=current_url)
    assert response[header] == address
    assert len({"HX-Push-Url", "HX-Replace-Url"} & {*response.headers}) == 1


def test_a_restored_page_is_complete(people: ServicePage) -> None:
    people.service.answer = part_of_120
    headers = {"HX-History-Restore-Request": "true"}
    assert "<h1>People</h1>" in people.html("?q=a", "results", headers=headers)


def test_more_rows_are_appended_and_the_first_is_focused(people: ServicePage) -> None:
    people.service.answer = part_of_120
    address = link(people.html(), "Load 50 more")
    rows = people.html(address, "rows")
    assert rows.count("<tr") == 50
    assert "100 of 120 people." in text(rows)
    focused = [a for a in elements(rows, "a") if "data-autofocus" in a.attributes]
    assert [a.attributes["href"] for a in focused] == [elements(rows, "a")[0].attributes["href"]]
    last = people.html(link(rows, "Load 20 more"), "rows")
    assert last.count("<tr") == 20
    assert by_id(last, "load-more") is None


@pytest.mark.parametrize(
    ("current_url", "address"),
    [
        ("/people/", "/people/?show=100"),
        ("/people/?person=prospect_7", "/people/?person=prospect_7&show=100"),
        ("/people/?show=200", "/people/?cursor=c50&after=50&back=0-"),
        ("/people/?q=typed+since", "/people/?cursor=c50&after=50&back=0-"),
    ],
)
def test_the_url_contains_what_was_loaded(
    people: ServicePage, current_url: str, address: str
) -> None:
    people.service.answer = part_of_250
    count = "200" if "200" in current_url else "50"
    link = f"?cursor=c{count}&after={count}&back=0-"
    response = people.get(link, "rows", at=current_url)
    assert response["HX-Replace-Url"] == address.replace("50", count)


def test_a_url_with_loaded_rows_shows_all_of_them(people: ServicePage) -> None:
    people.service.answer = part_of_250
    html = people.html("?show=100&person=prospect_60")
    assert "100 of 250 people." in text(html)
    assert "Person 60" in text(html[html.index('id="person"') :])
    assert link(html, "Load 50 more") == "/people/?cursor=c100&after=100&back=0-"
    assert link(html, "Person 99").startswith("/people/?show=100&")


def test_a_loaded_person_opens_within_all_rows(people: ServicePage) -> None:
    people.service.answer = part_of_250
    for opened, address in [
        ("person=prospect_60", "/people/?person=prospect_60&show=100"),
        ("row=11", "/people/?row=61&show=100"),
    ]:
        response = people.get(f"?cursor=c50&after=50&{opened}", "person", at="/people/?show=100")
        assert response["HX-Push-Url"] == address


def test_the_list_pages_forward_and_back_without_scripts(people: ServicePage) -> None:
    people.service.answer = part_of_120
    first = people.html("?q=person")
    second = people.html(link(first, "Load 50 more"))
    third = people.html(link(second, "Load 20 more"))
    assert "101 to 120 of 120 matches." in text(third)
    assert "100 earlier results" in text(third)
    back = people.html(link(third, "Previous"))
    assert "51 to 100 of 120 matches." in text(back)
    start = people.html(link(back, "Previous"))
    assert "50 of 120 matches." in text(start)
    assert "Previous" not in text(start)
    assert link(third, "Back to start") == "/people/?q=person"
    sent = [request.url.params.get("cursor") for request in people.service.sent]
    assert sent == [None, "c50", "c100", "c50", None]


def test_the_earlier_cursors_in_a_url_are_limited(people: ServicePage) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        count = int(request.url.params.get("cursor", "0").strip("x"))
        cursor = "x" * 100 + str(count + 1)
        return httpx.Response(
            200, json=wire.envelope(wire.person(), hasMore=True, totalCount=99, nextCursor=cursor)
        )

    people.service.answer = answer
    address = "/people/"
    for _ in range(20):
        html = people.html(address)
        address = link(html, "Load ")
        assert len(address) < 2_000
    assert "Previous" in text(html)
    assert "Back to start" in text(html)


def test_an_unknown_cursor_links_to_the_start(people: ServicePage) -> None:
    people.service.answer = part_of_120
    html = people.html("?cursor=c50&after=nonsense&back=junk&back=-&back=x-c3")
    assert "Earlier results not shown" in text(html)
    assert "Previous" not in text(html)
    assert link(html, "Back to start") == "/people/"


@pytest.mark.same_on_any_database
@pytest.mark.parametrize("status", [400, 404, 410, 422])
@pytest.mark.parametrize("target", ["", "rows", "person"])
def test_a_rejected_cursor_restarts_the_list_with_a_message(
    people: ServicePage, status: int, target: str
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if "cursor" in request.url.params:
            return httpx.Response(status, json={"detail": "What a cursor"})
        return httpx.Response(200, json=wire.envelope(wire.person()))

    people.service.answer = answer
    response = people.get("?q=ada&cursor=old&after=50", target)
    html = response.text
    assert response.status_code == 200
    assert "so it starts over" in text(html)
    assert "1 of 1 match." in text(html)
    assert response.get("HX-Retarget") == ("#results" if target else None)


@pytest.mark.parametrize(
    "address", ["/people/?cursor=c7", "/people/?cursor=c9&back=0-&back=50-c7&after=100"]
)
def test_a_repeated_cursor_ends_the_list(people: ServicePage, address: str) -> None:
    body = wire.envelope(wire.person(), hasMore=True, totalCount=9, nextCursor="c7")
    people.service.answers(200, json=body)
    html = people.html(address)
    assert "the API can’t return them" in text(html)
    assert by_id(html, "load-more") is None


def test_an_empty_page_with_more_links_to_the_next(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope(hasMore=True, totalCount=9, nextCursor="c1"))
    html = people.html()
    assert "returned no people here, but reports more" in text(html)
    assert "cursor=c1" in link(html, "Load next page")
    assert len(people.service.sent) == 1


def test_each_empty_list_has_a_sentence(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope())
    assert "No people yet" in people.text()
    assert "No people match “zebra”" in people.text("?q=zebra")
    assert "No more people after the first 50" in text(people.html("?cursor=c50&after=50"))
    assert "Export" not in people.text()
    people.service.answers(200, json=wire.envelope(totalCount=12))
    assert "reports 12, but returned none" in people.text()


def test_an_unreadable_field_is_marked_in_its_row(people: ServicePage) -> None:
    odd = wire.person(name=["no", "text"], email="odd@example.org")
    people.service.answers(200, json=wire.envelope(wire.person(), odd))
    seen = people.text()
    assert "odd@example.org No name Unreadable: name" in seen
    assert "could not be read" not in seen


def test_an_unreadable_item_costs_one_line(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope(wire.person(), ["broken"], numbered(2)))
    seen = people.text("?person=prospect_2")
    assert "1 item could not be read" in seen
    assert "3 of 3 people." in seen
    assert "Person 2 3 of 3 people" in seen
    rows = people.html("?cursor=c3&after=3", "rows")
    assert "1 item could not be read" in text(rows)


def test_missing_fields_have_placeholders(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope({}, {"name": "", "email": None, "domain": ""}))
    html = people.html()
    assert text(html).count("No name") == 2
    opened = people.html(elements(html[html.index("<tbody") :], "a")[1].attributes["href"])
    panel = text(opened[opened.index("<aside") :])
    assert "No name 2 of 2 people" in panel
    assert "Person Not given Email Not given Domain Empty text" in panel
    assert "this person has none" in panel


def test_a_person_opens_beside_the_list_with_every_field(people: ServicePage) -> None:
    source = wire.person(email="ada+b?bcc=eve@x.example", nickname="Countess", score={"a": 1})
    people.service.answers(200, json=wire.envelope(numbered(0), source, numbered(2)))
    html = people.html()
    panel = people.html(link(html, "Ada Lovelace"), "person")
    assert panel.strip().startswith('<aside class="panel sticky" id="person"')
    for current_url in ("2 of 3 people", "analytical.example", "ada-lovelace", "+44 20 7946 0001"):
        assert current_url in text(panel)
    assert "nickname Countess" in text(panel)
    links = {a.attributes.get("href") for a in elements(panel, "a")}
    assert "mailto:ada%2Bb%3Fbcc%3Deve@x.example" in links
    assert "https://linkedin.example/in/ada" in links
    assert {"/people/?person=prospect_0", "/people/?person=prospect_2"} <= links
    copied = {b.attributes.get("data-copy") for b in elements(panel, "button")}
    assert {"prospect_1", "ten_1", "+44 20 7946 0001", "ada+b?bcc=eve@x.example"} <= copied


def test_an_open_person_has_a_url_to_share(people: ServicePage) -> None:
    people.service.answer = part_of_120
    second = people.html(link(people.html("?q=per"), "Load 50 more"), "rows")
    address = elements(second, "a")[2].attributes["href"]
    html = people.html(address)
    assert "<h1>People</h1>" in html
    assert "<mark>Per</mark>son 52" in html
    panel = html[html.index("<aside") :]
    assert "Person 52 53 of 120 matches" in text(panel)
    current = [a for a in elements(html, "a") if a.attributes.get("aria-current") == "true"]
    assert [a.attributes["href"] for a in current] == [address]
    close = [a for a in elements(panel, "a") if "data-close-person" in a.attributes]
    assert "person=" not in close[0].attributes["href"]


def test_the_pressed_arrow_keeps_the_focus_while_it_exists(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope(numbered(0), numbered(1), numbered(2)))

    def takes_focus(person: str, trigger: str) -> bool:
        address = f"/people/?person={person}"
        html = people.html(address, "person", headers={"HX-Trigger": trigger})
        return "data-autofocus" in html

    assert takes_focus("prospect_1", "") is True
    assert takes_focus("prospect_1", "person-next") is False
    assert takes_focus("prospect_2", "person-next") is True
    assert takes_focus("prospect_0", "person-previous") is True


def test_a_person_not_on_this_page_has_a_message(people: ServicePage) -> None:
    people.service.answer = part_of_120
    html = people.html("?q=x&person=prospect_99")
    assert "isn’t on this page of results" in text(html)
    assert "/people/?person=prospect_99" in html
    assert "50 of 120 matches." in text(html)


def remember_audience(**differs: Any) -> None:
    audience = Audience.model_validate(wire.audience(**differs))
    record_audiences(audience.page_id or "page_1", [audience])


def test_a_person_s_audiences_have_their_id(people: ServicePage) -> None:
    record_pages(ListEnvelope[PageItem].model_validate(wire.envelope(wire.page())))
    remember_audience()
    remember_audience(audienceId="aud_2", effectiveName="Elsewhere", prospectId="prospect_2")
    remember_audience(audienceId="a/3", pageId="page 9", publishedVersion=None)
    people.service.answers(200, json=wire.envelope(wire.person()))
    panel = people.html("?person=prospect_1", "person")
    assert "/pages/page_1/audiences/aud_1/" in panel
    assert "/pages/page%25209/audiences/a%252F3/" in panel
    assert "Brightwater Foods On Fleet telematics Version 1 live" in text(panel)
    assert "Brightwater Foods On page 9 Draft" in text(panel)
    assert "Elsewhere" not in panel


def test_a_person_without_an_id_has_no_audiences(people: ServicePage) -> None:
    remember_audience(prospectId="")
    people.service.answers(200, json=wire.envelope(wire.person(personId="")))
    panel = people.html("?row=1", "person")
    assert "Brightwater" not in panel
    assert "this person has none" in text(panel)


def test_a_page_costs_one_call_and_fixed_queries(
    people: ServicePage, django_assert_num_queries: Any
) -> None:
    people.service.answer = part_of_120
    for number in range(3):
        remember_audience(audienceId=f"aud_{number}", prospectId="prospect_7")
    shell_state()  # counts once; the pages below use the cache
    # The session, the user, two queries for permissions, the bell's count, and the views.
    with django_assert_num_queries(7):
        people.html("?q=person")
    with django_assert_num_queries(8):  # and the audiences
        people.html("?q=person&person=prospect_7")
    assert len(people.service.sent) == 2


FAILURES = [
    (lambda request: httpx.Response(500, json={"detail": "Out of paper"}), 502, "Out of paper"),
    (lambda request: httpx.Response(400, json={"detail": "Bad words"}), 502, "Bad words"),
    (lambda request: httpx.Response(429), 503, "Rate limit reached"),
    (lambda request: httpx.Response(401), 502, "API key rejected"),
    (lambda request: httpx.Response(200, content=b"<html>"), 502, "not JSON"),
    (lambda request: httpx.Response(200, json={"items": []}), 502, "hasMore"),
]


@pytest.mark.same_on_any_database
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(
    ("target", "lands_in"),
    [("", None), ("results", "#results"), ("rows", "#list-pagination"), ("person", "#person")],
)
def test_a_failure_is_shown_in_place_with_the_search(
    people: ServicePage,
    failure: tuple[Any, int, str],
    target: str,
    lands_in: str | None,
) -> None:
    people.service.answer, status, message = failure
    response = people.get("?q=ada&person=prospect_1", target)
    html = response.text
    assert response.status_code == status
    assert message in text(html)
    assert "Try again" in text(html)
    assert response.get("HX-Retarget") == lands_in
    assert ("<h1>People</h1>" in html) is not bool(target)
    assert "/people/?q=ada&amp;person=prospect_1" in html
    if not target:
        search = by_id(html, "people-q")
        assert search is not None
        assert search.attributes["value"] == "ada"


def test_an_unavailable_service_has_a_message(people: ServicePage) -> None:
    people.service.fails(httpx.ReadTimeout)
    seen = people.text("?q=ada", status=504)
    assert "Service unreachable" in seen
    assert "Your search for “ada” is unchanged." in seen


@pytest.mark.same_on_any_database
def test_text_from_the_service_stays_text(people: ServicePage, pytestconfig: pytest.Config) -> None:
    baseline = get_counts(people, "Plain")
    # A run takes a third of them, but not the third of test_conversation.py.
    for payload in sampled(PAYLOADS, pytestconfig, turn=1, of=3):
        assert get_counts(people, payload) <= baseline, payload


def get_counts(people: ServicePage, payload: str) -> set[str]:
    """Return every tag and attribute of the page of a person with that payload in every field."""
    storable = payload.encode("utf-8", "replace").decode()
    fields = ("name", "email", "domain", "slug", "phoneNumber", "linkedinProfileUrl", "createdAt")
    person = dict.fromkeys(fields, storable) | {"updatedAt": "soon", "personId": "p", "x": storable}
    people.service.answers(200, json=wire.envelope(person))
    html = people.html("?q=ain+scr&person=p")
    matching = {f"{e.tag}.{name}" for e in elements(html) for name in ("", *e.attributes)}
    hrefs = [a.attributes.get("href", "") for a in elements(html, "a")]
    assert not [href for href in hrefs if "script:" in href or href.startswith("data:")]
    return matching - {"mark.", "a.rel"}


def test_people_are_never_stored_or_logged(
    people: ServicePage, caplog: pytest.LogCaptureFixture
) -> None:
    people.service.answers(200, json=wire.envelope(wire.person()))
    with caplog.at_level("DEBUG"):
        response = people.get("?q=lovelace&person=prospect_1")
        people.get("/people/export.csv?q=lovelace")
    assert "no-store" in response["Cache-Control"]
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith("django.db")]
    assert not [line for line in ours if "ovelace" in line or "prospect_1" in line]
    assert not any("ovelace" in str(session.get_decoded()) for session in Session.objects.all())
    for model in (AudienceRecord, PageRecord, Operation):
        assert not model.objects.exists()


def test_people_require_a_sign_in(client: Client, db: None, fake_service: FakeService) -> None:
    for address in ("/people/?q=ada", "/people/export.csv"):
        assert client.get(address).status_code == 302
    assert fake_service.sent == []


def test_a_person_without_a_name_is_listed_by_email(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope(wire.person(name="")))
    html = people.html()
    row = text(html[html.index('<th scope="row"') :].split("</th>")[0])
    assert row == f"{wire.person()['email']} No name"


def test_names_are_not_translated_and_addresses_not_offered(people: ServicePage) -> None:
    people.service.answers(200, json=wire.envelope(wire.person()))
    html = people.html("?person=prospect_1")
    assert '<bdi translate="no">Ada Lovelace</bdi>' in html
    assert '<span class="id" translate="no"><span title="prospect_1">' in html
    (search,) = (
        field for field in elements(html, "input") if field.attributes.get("id") == "people-q"
    )
    assert {"data-1p-ignore", "data-lpignore"} <= search.attributes.keys()
    assert "email" not in search.attributes["placeholder"].lower()
