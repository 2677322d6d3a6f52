"""Bad input to "Create page": a clear error, nothing lost, nothing rejected sent or stored.

Bad input to the receiver is in test_receiver.py.
"""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.page_drafts.models import PageDraft
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text
from tests.support.matrix import sampled
from tests.support.page_form import (
    HTMX,
    NEW,
    WHOLE,
    bodies,
    creates,
    filled,
    form_fields,
    offered,
    problems,
    values,
)

START = "Start with https://"
NULL = "Null characters are not allowed."
LONG = "characters; the limit is "
LINK = "footerLinks.0.links.0.url"
LOGO = "actionCardWidgets.0.logos.0.image.url"
BAD = [
    ("name", "", "Enter a name."),
    ("name", " \t\u2003\n", "Enter a name."),
    ("name", "a\0b", NULL),
    ("name", "x" * 5_001, f"5001 {LONG}5000."),
    ("brandId", "", "Enter a brand ID."),
    ("brandId", "\0", NULL),
    ("brandId", "b" * 5_001, LONG),
    ("pageContext", "", "Enter a context."),
    ("pageContext", "\r\n", "Enter a context."),
    ("pageContext", "a\0", NULL),
    ("pageContext", "x" * 500_001, f"500001 {LONG}500000."),
    ("pageType", "", "Choose a type."),
    ("pageType", "hologram", "Choose one of the five types."),
    ("pageType", "INBOUND", "Choose one of the five types."),
    ("headerActionId", "gone", "No action below has this ID."),
    ("headerActionId", "\0", "No action below has this ID."),
    ("actions.0.url", "javascript:alert(1)", START),
    ("actions.0.url", "JaVaScRiPt:alert(1)", START),
    ("actions.0.url", "data:text/html,x", START),
    ("actions.0.url", "vbscript:x", START),
    ("actions.0.url", "ftp://a.example", START),
    ("actions.0.url", "//a.example", START),
    ("actions.0.url", "https://", START),
    ("actions.0.url", "https:///path", START),
    ("actions.0.url", "https://a.example/a b", START),
    ("actions.0.url", "file:///etc/passwd", START),
    ("actions.0.url", "https://a.example/" + "x" * 5_000, LONG),
    ("actions.0.url", "https://a.example/\nx", START),
    ("actions.0.buttonTitle", "\0", NULL),
    (LINK, "javascript:alert(1)", START),
    (LINK, "a.example", START),
    (LOGO, "data:image/png;base64,x", START),
    ("metadata.canonicalUrl", "javascript:alert(1)", START),
    ("metadata.ogUrl", "x", START),
    ("metadata.keywords", "\0", NULL),
    ("metadata.description", "x" * 5_001, LONG),
    ("scripts.0.content", "\0", NULL),
    ("scripts.0.content", "x" * 500_001, LONG),
    ("actionCardWidgets.0.type", "\0", NULL),
    ("footerLinks.0.id", "x" * 5_001, LONG),
]


def test_bad_input_is_reported_and_kept_unsaved(
    as_publisher: Client, fake_service: FakeService, pytestconfig: pytest.Config
) -> None:
    creates(fake_service)
    form = form_fields(as_publisher)
    wrong: dict[tuple[str, str], Any] = {}
    # A run submits the one half, and leaves the fields of the other in the test below.
    for field, bad, words in sampled(BAD, pytestconfig, turn=0, of=2):
        html = as_publisher.post(NEW, form | filled(**{field: bad})).text
        field_values = values(html)
        others = {name: WHOLE[name] for name in WHOLE if name in field_values and name != field}
        lost = {name: field_values[name] for name in others if field_values[name] != others[name]}
        if words not in problems(html) or lost:
            wrong[field, bad[:40]] = {"expected": words, "shown": problems(html), "lost": lost}
    assert wrong == {}
    assert bodies(fake_service) == []
    assert Operation.objects.count() == 0


def left(client: Client, field: str, form: dict[str, str]) -> str:
    response = client.post(f"{NEW}field/", form | {"left": field}, headers=HTMX)
    assert response.status_code == 200
    return response.text


@pytest.mark.same_on_any_database
def test_a_field_error_appears_on_leaving_it(
    as_publisher: Client, fake_service: FakeService, pytestconfig: pytest.Config
) -> None:
    wrong = {}
    for field, bad, words in sampled(BAD, pytestconfig, turn=1, of=2):
        if len(bad) < 100:
            html = left(as_publisher, field, filled(**{field: bad}) | {"metadata.author": "\0"})
            is_alone = len(elements(html, "p")) == 1
            if words not in text(html) or not is_alone or 'role="alert"' not in html:
                wrong[field, bad] = {"expected": words, "shown": html}
    assert wrong == {}


@pytest.mark.same_on_any_database
def test_a_valid_field_has_no_error(as_publisher: Client, fake_service: FakeService) -> None:
    for field in ("name", "actions.0.url", "metadata.ogUrl", LOGO):
        html = left(as_publisher, field, filled(**{"actions.0.purpose": "\0"}))
        assert text(html) == "", field
        assert "hidden" in elements(html, "p")[0].attributes, field


@pytest.mark.same_on_any_database
def test_an_unknown_field_gets_an_empty_response(
    as_publisher: Client, fake_service: FakeService
) -> None:
    for field in ("", "nothing", "actions.9.url", "actions", "\0", "a" * 9_000):
        response = as_publisher.post(f"{NEW}field/", filled(left=field), headers=HTMX)
        assert (response.status_code, response.content) == (204, b""), field[:40]


def test_a_blank_row_keeps_its_place(as_publisher: Client, fake_service: FakeService) -> None:
    form = filled(**{"scripts.0.name": "", "scripts.0.content": "", "scripts.1.content": "\0"})
    html = left(as_publisher, "scripts.1.content", form)
    assert elements(html, "p")[0].attributes["id"] == "scripts.1.content_error"
    assert NULL in text(html)


@pytest.mark.same_on_any_database
def test_too_many_rows_are_reported_and_kept(
    as_publisher: Client, fake_service: FakeService, pytestconfig: pytest.Config
) -> None:
    count = 1_000 if pytestconfig.getoption("exhaustive") else 100
    many = {f"scripts.{n}.name": f"Script {n}" for n in range(count)}
    html = as_publisher.post(NEW, form_fields(as_publisher) | filled(**many)).text
    assert f"Scripts: {count:,} rows; the limit is 50." in problems(html)
    field_values = values(html)
    assert [n for n in range(count) if field_values[f"scripts.{n}.name"] != f"Script {n}"] == []
    assert len(offered(as_publisher)) == 1
    assert bodies(fake_service) == []


def test_too_many_nested_rows_are_reported_too(
    as_publisher: Client, fake_service: FakeService
) -> None:
    many = {f"footerLinks.0.links.{n}.text": f"Link {n}" for n in range(51)}
    html = as_publisher.post(NEW, filled(**many)).text
    assert "Links: 51 rows; the limit is 50." in problems(html)
    assert 'href="#footerLinks.0"' in html


def test_two_actions_can_t_share_an_id(as_publisher: Client, fake_service: FakeService) -> None:
    twice = {"actions.1.actionId": "book", "actions.1.buttonTitle": "Another"}
    html = as_publisher.post(NEW, filled(**twice)).text
    assert "Action 2, Action ID: Action 1 already uses this ID." in problems(html)
    assert bodies(fake_service) == []


FORM = "application/x-www-form-urlencoded"
TOO_MUCH: list[dict[str, Any]] = [
    {"pageContext": "x" * 2_700_000},
    {f"scripts.{n}.name": "" for n in range(20_001)},
]


@pytest.mark.parametrize("much", TOO_MUCH, ids=["megabytes", "fields"])
@pytest.mark.parametrize("checks", [True, False])
def test_an_unreadably_large_form_is_rejected_with_a_reason(
    fake_service: FakeService, paula: Any, much: dict[str, str], checks: bool
) -> None:
    client = Client(enforce_csrf_checks=checks)
    client.force_login(paula)
    response = client.post(NEW, urlencode(filled(**much)), content_type=FORM)
    assert response.status_code == 413
    assert "Nothing was sent. The limit is 20,000 fields and 2.5 MB." in response_text(response)
    assert "The draft may be missing your latest changes." in response_text(response)
    assert (bodies(fake_service), Operation.objects.count()) == ([], 0)


@pytest.mark.parametrize("much", TOO_MUCH, ids=["megabytes", "fields"])
def test_a_draft_too_large_is_refused_in_its_status(
    as_publisher: Client, fake_service: FakeService, much: dict[str, str]
) -> None:
    body = urlencode(form_fields(as_publisher) | WHOLE | much)
    response = as_publisher.post("/pages/new/draft/", body, content_type=FORM, headers=HTMX)
    assert (response.status_code, response.content) == (413, b"")
    assert PageDraft.objects.count() == 0


@pytest.mark.parametrize("address", [f"{NEW}?draft=%00", f"{NEW}?draft=", f"{NEW}?draft=x%2Fy"])
def test_a_draft_with_an_invalid_key_is_not_found(
    as_publisher: Client, fake_service: FakeService, address: str
) -> None:
    html = as_publisher.get(address, follow=True).text
    assert "Draft not found" in text(html)
