"""People: list, live search, one open person, pagination both ways, and failures."""

from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode

import httpx
import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import ListEnvelope
from dashboard.ledger import recording
from dashboard.ledger.models import AudienceRecord, Operation, PageRecord
from dashboard.web.live.shell_state import shell_state
from tests.support import wire
from tests.support.embedded_api_factories import make_person
from tests.support.fake_service import FakeService
from tests.support.hostile_strings import PAYLOADS
from tests.support.html import Element, elements, response_text, text
from tests.support.matrix import sampled


def numbered(number: int, **differs: Any) -> dict[str, Any]:
    values = {"personId": f"prospect_{number}", "name": f"Person {number}"}
    return wire.person(**values | differs)


def part_of_120(request: httpx.Request, count: int = 120) -> httpx.Response:
    """Answer as a service with 120 people whose cursors are `c` and the number to start at."""
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


def get(client: Client, address: str, target: str = "", **headers: str) -> str:
    sent = {"HX-Request": "true", "HX-Target": target, **headers} if target else headers
    response = client.get(address, headers=sent)
    assert response.status_code == 200
    return response.text


def link(html: str, named: str) -> str:
    """Return where the link of that text leads."""
    at = html.index(named)
    return elements(html[html.rindex("<a ", 0, at) : at], "a")[0].attributes["href"]


def by_id(html: str, identifier: str) -> Element | None:
    options = [e for e in elements(html) if e.attributes.get("id") == identifier]
    return options[0] if options else None


def test_the_list_shows_people_and_their_total(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = part_of_120
    html = get(as_viewer, "/people/")
    assert "Person 0 ada@analytical.example" in text(html)
    assert "50 of 120 people." in text(html)
    assert "Load 50 more" in text(html)
    assert "Export 120 as CSV" in text(html)
    assert [str(request.url.path) for request in fake_service.sent] == ["/v0/persons"]


def test_a_name_like_a_placeholder_is_a_name(as_viewer: Client, fake_service: FakeService) -> None:
    odd = wire.person(name="{email} {0} {", email="{address}", domain="%s", personId="{name}")
    fake_service.answer = lambda request: httpx.Response(200, json=wire.envelope(odd))
    html = get(as_viewer, "/people/")
    assert "{email} {0} { {address} %s" in text(html)
    assert link(html, "{email}") == "/people/?person=%7Bname%7D"


def test_the_service_searches_and_matches_are_marked(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    html = get(as_viewer, "/people/?q=LOVE+ada+7946")
    assert "<mark>Ada</mark> <mark>Love</mark>lace" in html
    assert "<mark>ada</mark>@analytical.example" in html
    assert "+44 20 <mark>7946</mark> 0001" in html
    assert "1 person matches “LOVE ada 7946”" in text(html)
    assert fake_service.sent[0].url.path == "/v0/persons/search"
    assert fake_service.sent[0].url.params["query"] == "LOVE ada 7946"


def test_a_match_in_a_hidden_field_is_shown(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person(slug="countess-7")))
    html = get(as_viewer, "/people/?q=count")
    assert 'Slug: <bdi translate="no"><mark>count</mark>ess-7</bdi>' in html
    html = get(as_viewer, "/people/?q=ada+babbage")
    assert "Matched by the service: “babbage” isn’t in any field shown" in text(html)


def test_the_embedded_service_finds_by_every_word(as_viewer: Client) -> None:
    make_person("Jürgen Weiß", email="j.weiss@x.example", domain="x.example")
    make_person("Jürgen Peña")
    html = get(as_viewer, "/people/?q=JURGEN+weiss")
    assert "<mark>Jürgen</mark> <mark>Weiß</mark>" in unescape(html)
    assert "Peña" not in text(html)
    assert "1 of 1 match." in text(html)


def test_typing_gets_the_results_and_the_toolbar_updates_only(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    html = get(as_viewer, "/people/?q=ada", target="results")
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
    as_viewer: Client, fake_service: FakeService, case: tuple[str, str, str, str]
) -> None:
    current_url, words, header, address = case
    fake_service.answers(200, json=wire.envelope(wire.person()))
    headers = {"HX-Request": "true", "HX-Target": "results"}
    headers["HX-Current-URL"] = f"http://testserver{current_url}"
    response = as_viewer.get("/people/", {"q": words}, headers=headers)
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
    as_viewer: Client, fake_service: FakeService, current_url: str, header: str, status: int
) -> None:
    fake_service.answers(status, json=wire.envelope(numbered(1), numbered(2)))
    address = "/people/?q=person&person=prospect_1"
    headers = {"HX-Request": "true", "HX-Target": "person"}
    headers["HX-Current-URL"] = f"http://testserver{current_url}"
    response = as_viewer.get(address, headers=headers)
    assert response[header] == address
    assert len({"HX-Push-Url", "HX-Replace-Url"} & {*response.headers}) == 1


def test_a_restored_page_is_complete(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answer = part_of_120
    headers = {"HX-History-Restore-Request": "true"}
    assert "<h1>People</h1>" in get(as_viewer, "/people/?q=a", target="results", **headers)


def test_more_rows_are_appended_and_the_first_is_focused(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = part_of_120
    address = link(get(as_viewer, "/people/"), "Load 50 more")
    rows = get(as_viewer, address, target="rows")
    assert rows.count("<tr") == 50
    assert "100 of 120 people." in text(rows)
    focused = [a for a in elements(rows, "a") if "data-autofocus" in a.attributes]
    assert [a.attributes["href"] for a in focused] == [elements(rows, "a")[0].attributes["href"]]
    last = get(as_viewer, link(rows, "Load 20 more"), target="rows")
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
    as_viewer: Client, fake_service: FakeService, current_url: str, address: str
) -> None:
    fake_service.answer = part_of_250
    headers = {"HX-Request": "true", "HX-Target": "rows"}
    headers["HX-Current-URL"] = f"http://testserver{current_url}"
    url = "/people/?cursor=c200&after=200&back=0-" if "200" in current_url else ""
    url = url or "/people/?cursor=c50&after=50&back=0-"
    response = as_viewer.get(url, headers=headers)
    assert response["HX-Replace-Url"] == address.replace(
        "50", "200" if "200" in current_url else "50"
    )


def test_a_url_with_loaded_rows_shows_all_of_them(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = part_of_250
    html = get(as_viewer, "/people/?show=100&person=prospect_60")
    assert "100 of 250 people." in text(html)
    assert "Person 60" in text(html[html.index('id="person"') :])
    assert link(html, "Load 50 more") == "/people/?cursor=c100&after=100&back=0-"
    assert link(html, "Person 99").startswith("/people/?show=100&")


def test_a_loaded_person_opens_within_all_rows(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = part_of_250
    headers = {"HX-Request": "true", "HX-Target": "person"}
    headers["HX-Current-URL"] = "http://testserver/people/?show=100"
    for opened, address in [
        ("person=prospect_60", "/people/?person=prospect_60&show=100"),
        ("row=11", "/people/?row=61&show=100"),
    ]:
        response = as_viewer.get(f"/people/?cursor=c50&after=50&{opened}", headers=headers)
        assert response["HX-Push-Url"] == address


def test_the_list_pages_forward_and_back_without_scripts(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = part_of_120
    first = get(as_viewer, "/people/?q=person")
    second = get(as_viewer, link(first, "Load 50 more"))
    third = get(as_viewer, link(second, "Load 20 more"))
    assert "101 to 120 of 120 matches." in text(third)
    assert "100 earlier results" in text(third)
    back = get(as_viewer, link(third, "Previous"))
    assert "51 to 100 of 120 matches." in text(back)
    start = get(as_viewer, link(back, "Previous"))
    assert "50 of 120 matches." in text(start)
    assert "Previous" not in text(start)
    assert link(third, "Back to start") == "/people/?q=person"
    sent = [request.url.params.get("cursor") for request in fake_service.sent]
    assert sent == [None, "c50", "c100", "c50", None]


def test_the_earlier_cursors_in_a_url_are_limited(
    as_viewer: Client, fake_service: FakeService
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        count = int(request.url.params.get("cursor", "0").strip("x"))
        cursor = "x" * 100 + str(count + 1)
        return httpx.Response(
            200, json=wire.envelope(wire.person(), hasMore=True, totalCount=99, nextCursor=cursor)
        )

    fake_service.answer = answer
    address = "/people/"
    for _ in range(20):
        html = get(as_viewer, address)
        address = link(html, "Load ")
        assert len(address) < 2_000
    assert "Previous" in text(html)
    assert "Back to start" in text(html)


def test_an_unknown_cursor_links_to_the_start(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answer = part_of_120
    html = get(as_viewer, "/people/?cursor=c50&after=nonsense&back=junk&back=-&back=x-c3")
    assert "Earlier results not shown" in text(html)
    assert "Previous" not in text(html)
    assert link(html, "Back to start") == "/people/"


@pytest.mark.same_on_any_database
@pytest.mark.parametrize("status", [400, 404, 410, 422])
@pytest.mark.parametrize("target", ["", "rows", "person"])
def test_a_rejected_cursor_restarts_the_list_with_a_message(
    as_viewer: Client, fake_service: FakeService, status: int, target: str
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if "cursor" in request.url.params:
            return httpx.Response(status, json={"detail": "What a cursor"})
        return httpx.Response(200, json=wire.envelope(wire.person()))

    fake_service.answer = answer
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    response = as_viewer.get("/people/?q=ada&cursor=old&after=50", headers=headers)
    html = response.text
    assert response.status_code == 200
    assert "so it starts over" in text(html)
    assert "1 of 1 match." in text(html)
    assert response.get("HX-Retarget") == ("#results" if target else None)


@pytest.mark.parametrize(
    "address", ["/people/?cursor=c7", "/people/?cursor=c9&back=0-&back=50-c7&after=100"]
)
def test_a_repeated_cursor_ends_the_list(
    as_viewer: Client, fake_service: FakeService, address: str
) -> None:
    body = wire.envelope(wire.person(), hasMore=True, totalCount=9, nextCursor="c7")
    fake_service.answers(200, json=body)
    html = get(as_viewer, address)
    assert "the API can’t return them" in text(html)
    assert by_id(html, "load-more") is None


def test_an_empty_page_with_more_links_to_the_next(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(hasMore=True, totalCount=9, nextCursor="c1"))
    html = get(as_viewer, "/people/")
    assert "returned no people here, but reports more" in text(html)
    assert "cursor=c1" in link(html, "Load next page")
    assert len(fake_service.sent) == 1


def test_each_empty_list_has_a_sentence(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answers(200, json=wire.envelope())
    assert "No people yet" in text(get(as_viewer, "/people/"))
    assert "No people match “zebra”" in text(get(as_viewer, "/people/?q=zebra"))
    assert "No more people after the first 50" in text(
        get(as_viewer, "/people/?cursor=c50&after=50")
    )
    assert "Export" not in text(get(as_viewer, "/people/"))
    fake_service.answers(200, json=wire.envelope(totalCount=12))
    assert "reports 12, but returned none" in text(get(as_viewer, "/people/"))


def test_an_unreadable_field_is_marked_in_its_row(
    as_viewer: Client, fake_service: FakeService
) -> None:
    odd = wire.person(name=["no", "text"], email="odd@example.org")
    fake_service.answers(200, json=wire.envelope(wire.person(), odd))
    seen = text(get(as_viewer, "/people/"))
    assert "odd@example.org No name Unreadable: name" in seen
    assert "could not be read" not in seen


def test_an_unreadable_item_costs_one_line(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person(), ["broken"], numbered(2)))
    html = get(as_viewer, "/people/?person=prospect_2")
    assert "1 item could not be read" in text(html)
    assert "3 of 3 people." in text(html)
    assert "Person 2 3 of 3 people" in text(html)
    rows = get(as_viewer, "/people/?cursor=c3&after=3", target="rows")
    assert "1 item could not be read" in text(rows)


def test_missing_fields_have_placeholders(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answers(200, json=wire.envelope({}, {"name": "", "email": None, "domain": ""}))
    html = get(as_viewer, "/people/")
    assert text(html).count("No name") == 2
    opened = get(as_viewer, elements(html[html.index("<tbody") :], "a")[1].attributes["href"])
    panel = text(opened[opened.index("<aside") :])
    assert "No name 2 of 2 people" in panel
    assert "Person Not given Email Not given Domain Empty text" in panel
    assert "this person has none" in panel


def test_a_person_opens_beside_the_list_with_every_field(
    as_viewer: Client, fake_service: FakeService
) -> None:
    source = wire.person(email="ada+b?bcc=eve@x.example", nickname="Countess", score={"a": 1})
    fake_service.answers(200, json=wire.envelope(numbered(0), source, numbered(2)))
    html = get(as_viewer, "/people/")
    panel = get(as_viewer, link(html, "Ada Lovelace"), target="person")
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


def test_an_open_person_has_a_url_to_share(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.answer = part_of_120
    second = get(as_viewer, link(get(as_viewer, "/people/?q=per"), "Load 50 more"), target="rows")
    address = elements(second, "a")[2].attributes["href"]
    html = get(as_viewer, address)
    assert "<h1>People</h1>" in html
    assert "<mark>Per</mark>son 52" in html
    panel = html[html.index("<aside") :]
    assert "Person 52 53 of 120 matches" in text(panel)
    current = [a for a in elements(html, "a") if a.attributes.get("aria-current") == "true"]
    assert [a.attributes["href"] for a in current] == [address]
    close = [a for a in elements(panel, "a") if "data-close-person" in a.attributes]
    assert "person=" not in close[0].attributes["href"]


def test_the_pressed_arrow_keeps_the_focus_while_it_exists(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(numbered(0), numbered(1), numbered(2)))

    def takes_focus(person: str, trigger: str) -> bool:
        address = f"/people/?person={person}"
        html = get(as_viewer, address, target="person", **{"HX-Trigger": trigger})
        return "data-autofocus" in html

    assert takes_focus("prospect_1", "") is True
    assert takes_focus("prospect_1", "person-next") is False
    assert takes_focus("prospect_2", "person-next") is True
    assert takes_focus("prospect_0", "person-previous") is True


def test_a_person_not_on_this_page_has_a_message(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answer = part_of_120
    html = get(as_viewer, "/people/?q=x&person=prospect_99")
    assert "isn’t on this page of results" in text(html)
    assert "/people/?person=prospect_99" in html
    assert "50 of 120 matches." in text(html)


def remember_audience(**differs: Any) -> None:
    audience = Audience.model_validate(wire.audience(**differs))
    recording.record_audiences(audience.page_id or "page_1", [audience])


def test_a_person_s_audiences_have_their_id(as_viewer: Client, fake_service: FakeService) -> None:
    recording.record_pages(ListEnvelope[PageItem].model_validate(wire.envelope(wire.page())))
    remember_audience()
    remember_audience(audienceId="aud_2", effectiveName="Elsewhere", prospectId="prospect_2")
    remember_audience(audienceId="a/3", pageId="page 9", publishedVersion=None)
    fake_service.answers(200, json=wire.envelope(wire.person()))
    panel = get(as_viewer, "/people/?person=prospect_1", target="person")
    assert "/pages/page_1/audiences/aud_1/" in panel
    assert "/pages/page%25209/audiences/a%252F3/" in panel
    assert "Brightwater Foods On Fleet telematics Version 1 live" in text(panel)
    assert "Brightwater Foods On page 9 Draft" in text(panel)
    assert "Elsewhere" not in panel


def test_a_person_without_an_id_has_no_audiences(
    as_viewer: Client, fake_service: FakeService
) -> None:
    remember_audience(prospectId="")
    fake_service.answers(200, json=wire.envelope(wire.person(personId="")))
    panel = get(as_viewer, "/people/?row=1", target="person")
    assert "Brightwater" not in panel
    assert "this person has none" in text(panel)


def test_a_page_costs_one_call_and_fixed_queries(
    as_viewer: Client, fake_service: FakeService, django_assert_num_queries: Any
) -> None:
    fake_service.answer = part_of_120
    for number in range(3):
        remember_audience(audienceId=f"aud_{number}", prospectId="prospect_7")
    shell_state()  # counted once for the pages of a while
    # The session, the person, two of their rights, the count of the bell, and the views.
    with django_assert_num_queries(7):
        get(as_viewer, "/people/?q=person")
    with django_assert_num_queries(8):  # and the audiences
        get(as_viewer, "/people/?q=person&person=prospect_7")
    assert len(fake_service.sent) == 2


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
    as_viewer: Client,
    fake_service: FakeService,
    failure: tuple[Any, int, str],
    target: str,
    lands_in: str | None,
) -> None:
    fake_service.answer, status, message = failure
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    address = "/people/?" + urlencode({"q": "ada", "person": "prospect_1"})
    response = as_viewer.get(address, headers=headers)
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


def test_an_unavailable_service_has_a_message(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.fails(httpx.ReadTimeout)
    response = as_viewer.get("/people/?q=ada")
    assert response.status_code == 504
    assert "Service unreachable" in response_text(response)
    assert "Your search for “ada” is unchanged." in response_text(response)


@pytest.mark.same_on_any_database
def test_text_from_the_service_stays_text(
    as_viewer: Client, fake_service: FakeService, pytestconfig: pytest.Config
) -> None:
    baseline = get_counts(as_viewer, fake_service, "Plain")
    # A run takes a third of them, another one than the page of conversations.
    for payload in sampled(PAYLOADS, pytestconfig, turn=1, of=3):
        assert get_counts(as_viewer, fake_service, payload) <= baseline, payload


def get_counts(client: Client, fake_service: FakeService, payload: str) -> set[str]:
    """Return every tag and attribute of a page about a person who is that payload all over."""
    storable = payload.encode("utf-8", "replace").decode()
    fields = ("name", "email", "domain", "slug", "phoneNumber", "linkedinProfileUrl", "createdAt")
    person = dict.fromkeys(fields, storable) | {"updatedAt": "soon", "personId": "p", "x": storable}
    fake_service.answers(200, json=wire.envelope(person))
    html = get(client, "/people/?" + urlencode({"q": "ain scr", "person": "p"}))
    matching = {f"{e.tag}.{name}" for e in elements(html) for name in ("", *e.attributes)}
    hrefs = [a.attributes.get("href", "") for a in elements(html, "a")]
    assert not [href for href in hrefs if "script:" in href or href.startswith("data:")]
    return matching - {"mark.", "a.rel"}


def test_people_are_never_stored_or_logged(
    as_viewer: Client, fake_service: FakeService, caplog: pytest.LogCaptureFixture
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    with caplog.at_level("DEBUG"):
        response = as_viewer.get("/people/?q=lovelace&person=prospect_1")
        as_viewer.get("/people/export.csv?q=lovelace")
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


def test_a_person_without_a_name_is_listed_by_email(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person(name="")))
    html = as_viewer.get("/people/").text
    row = text(html[html.index('<th scope="row"') :].split("</th>")[0])
    assert row == f"{wire.person()['email']} No name"


def test_names_are_not_translated_and_addresses_not_offered(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.envelope(wire.person()))
    html = get(as_viewer, "/people/?person=prospect_1")
    assert '<bdi translate="no">Ada Lovelace</bdi>' in html
    assert '<span class="id" translate="no"><span title="prospect_1">' in html
    (search,) = (
        field for field in elements(html, "input") if field.attributes.get("id") == "people-q"
    )
    assert {"data-1p-ignore", "data-lpignore"} <= search.attributes.keys()
    assert "email" not in search.attributes["placeholder"].lower()
