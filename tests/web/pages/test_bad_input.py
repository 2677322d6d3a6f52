"""Bad input to "Create page": a clear error, no lost input, and nothing rejected is sent or stored.

test_receiver.py has bad input to the receiver.
"""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.ledger.models import Operation
from dashboard.page_drafts.models import PageDraft
from tests.support.fake_service import FakeService
from tests.support.html import elements
from tests.support.matrix import sampled
from tests.support.page_form import HTMX, NEW, WHOLE, PageForm, filled

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
    form: PageForm, pytestconfig: pytest.Config
) -> None:
    first = form.new()
    wrong: dict[tuple[str, str], Any] = {}
    # A run submits one half; the test below leaves the fields of the other half.
    for field, bad, words in sampled(BAD, pytestconfig, turn=0, of=2):
        fields = form.post(first | filled(**{field: bad})).fields
        others = {name: WHOLE[name] for name in WHOLE if name in fields and name != field}
        lost = {name: fields[name] for name in others if fields[name] != others[name]}
        if words not in form.problems or lost:
            wrong[field, bad[:40]] = {"expected": words, "shown": form.problems, "lost": lost}
    assert wrong == {}
    assert form.bodies == []
    assert Operation.objects.count() == 0


@pytest.mark.same_on_any_database
def test_a_field_error_appears_on_leaving_it(form: PageForm, pytestconfig: pytest.Config) -> None:
    wrong = {}
    for field, bad, words in sampled(BAD, pytestconfig, turn=1, of=2):
        if len(bad) < 100:
            form.leave(field, filled(**{field: bad}) | {"metadata.author": "\0"})
            is_alone = len(elements(form.html, "p")) == 1
            if words not in form.text or not is_alone or 'role="alert"' not in form.html:
                wrong[field, bad] = {"expected": words, "shown": form.html}
    assert wrong == {}


@pytest.mark.same_on_any_database
def test_a_valid_field_has_no_error(form: PageForm) -> None:
    for field in ("name", "actions.0.url", "metadata.ogUrl", LOGO):
        form.leave(field, filled(**{"actions.0.purpose": "\0"}))
        assert form.text == "", field
        assert "hidden" in elements(form.html, "p")[0].attributes, field


@pytest.mark.same_on_any_database
def test_an_unknown_field_gets_an_empty_response(form: PageForm) -> None:
    for field in ("", "nothing", "actions.9.url", "actions", "\0", "a" * 9_000):
        form.post(filled(left=field), "field/", headers=HTMX)
        assert (form.status, form.html) == (204, ""), field[:40]


def test_a_blank_row_keeps_its_place(form: PageForm) -> None:
    fields = filled(**{"scripts.0.name": "", "scripts.0.content": "", "scripts.1.content": "\0"})
    html = form.leave("scripts.1.content", fields).html
    assert elements(html, "p")[0].attributes["id"] == "scripts.1.content_error"
    assert NULL in form.text


@pytest.mark.same_on_any_database
def test_too_many_rows_are_reported_and_kept(form: PageForm, pytestconfig: pytest.Config) -> None:
    count = 1_000 if pytestconfig.getoption("exhaustive") else 100
    many = {f"scripts.{n}.name": f"Script {n}" for n in range(count)}
    fields = form.post(form.new() | filled(**many)).fields
    assert f"Scripts: {count:,} rows; the limit is 50." in form.problems
    assert [n for n in range(count) if fields[f"scripts.{n}.name"] != f"Script {n}"] == []
    assert len(form.drafts) == 1
    assert form.bodies == []


def test_too_many_nested_rows_are_reported_too(form: PageForm) -> None:
    many = {f"footerLinks.0.links.{n}.text": f"Link {n}" for n in range(51)}
    assert "Links: 51 rows; the limit is 50." in form.submit(**many).problems
    assert 'href="#footerLinks.0"' in form.html


def test_two_actions_can_t_share_an_id(form: PageForm) -> None:
    twice = {"actions.1.actionId": "book", "actions.1.buttonTitle": "Another"}
    problems = form.submit(**twice).problems
    assert "Action 2, Action ID: Action 1 already uses this ID." in problems
    assert form.bodies == []


FORM = "application/x-www-form-urlencoded"
TOO_MUCH: list[dict[str, Any]] = [
    {"pageContext": "x" * 2_700_000},
    {f"scripts.{n}.name": "" for n in range(20_001)},
]


@pytest.mark.parametrize("much", TOO_MUCH, ids=["megabytes", "fields"])
@pytest.mark.parametrize("checks", [True, False])
def test_an_unreadably_large_form_is_rejected_with_a_reason(
    fake_service: FakeService, paula: User, much: dict[str, str], checks: bool
) -> None:
    form = PageForm(Client(enforce_csrf_checks=checks), fake_service)
    form.client.force_login(paula)
    form.show(form.client.post(NEW, urlencode(filled(**much)), content_type=FORM))
    assert form.status == 413
    assert "Nothing was sent. The limit is 20,000 fields and 2.5 MB." in form.text
    assert "The draft may be missing your latest changes." in form.text
    assert (form.bodies, Operation.objects.count()) == ([], 0)


@pytest.mark.parametrize("much", TOO_MUCH, ids=["megabytes", "fields"])
def test_a_draft_too_large_is_refused_in_its_status(form: PageForm, much: dict[str, str]) -> None:
    body = urlencode(form.whole() | much)
    response = form.client.post(f"{NEW}draft/", body, content_type=FORM, headers=HTMX)
    assert (response.status_code, response.content) == (413, b"")
    assert PageDraft.objects.count() == 0


@pytest.mark.parametrize("query", ["draft=%00", "draft=", "draft=x%2Fy"])
def test_a_draft_with_an_invalid_key_is_not_found(form: PageForm, query: str) -> None:
    assert "Draft not found" in form.open(f"{NEW}?{query}").text
