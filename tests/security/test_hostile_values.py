"""No value of a form field, a parameter or an ID in a URL causes an internal error."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import AttemptResult
from tests.conftest import logged_in, person
from tests.support.fake_service import FakeService
from tests.support.html import elements
from tests.support.matrix import sampled
from tests.support.named_urls import URLS
from tests.support.operations import operation
from tests.support.seeding import (
    seed_approval,
    seed_delivery,
    seed_notification,
    seed_release,
    seed_subscription,
    seed_view,
)
from tests.web.every_page import PAGES, answer

VALUES = [
    b"on",
    b"",
    b"\0",
    b"a\0b",
    b"9" * 5_000,
    b"9" * 5_000 + b"-1.1",
    b"1-x." * 20_000,
    b"-1",
    b"0",
    b"9" * 19,
    "٣".encode(),
    "²".encode(),
    b"1e999",
    b"NaN",
    b"//evil.example",
    b"https://[",
    b"/\\evil.example/\r\nX-Evil: 1",
    b"x" * 60_000,
    b"\xed\xa0\x80",
    b"\xff",
    b'{"url": "\\ud800", "events": [[]], "9": null}',
    b"[" * 5_000,
    b"0001-01-01",
    b"page_1/aud_1/ver_2/",
    b"%00",
    b"..",
]
"""Values as sent: texts, numbers, URLs, JSON, dates, IDs, invalid UTF-8."""
IDS = {
    "page_id": "page_1",
    "audience_id": "aud_1",
    "version_id": "ver_2",
    "subscription_id": "whs_1",
    "operation_key": "key-unknown",
    "message_key": "m_1",
    "secret": "guessed",
    "index": 0,
}
"""Values for parts of URLs; all other parts are 1."""
_READ = re.compile(r'\.get(?:list)?\("(\w+)"|(?:GET|POST|params)\["(\w+)"\]|_FIELD = "(\w+)"')


class Cell(NamedTuple):
    """One request. The field `name` gets the value, or all known fields if `name` is ""."""

    method: str
    path: str
    name: str
    value: bytes


@pytest.fixture
def session(db: None, fake_service: FakeService) -> str:
    """The session of Mia, who has every permission; one object of each kind is recorded."""
    fake_service.answer = answer
    now = timezone.now()
    seed_subscription()
    seed_delivery()
    seed_release(1)
    seed_release(2, state="running", started_at=now)
    seed_release(3, state="finished", started_at=now, finished_at=now)
    seed_release(4)
    seed_approval(4)
    mia = person("mia", "Publishers", "Administrators")
    seed_view(mia)
    seed_notification(mia)
    operation(mia, "key-done")
    operation(mia, "key-unknown", ending=AttemptResult(Outcome.UNKNOWN))
    return logged_in(mia).session.session_key or ""


Forms = dict[tuple[str, str], dict[str, str]]
"""The fields of forms and links, with a valid value, by method and path."""


def test_no_value_of_any_field_is_an_internal_error(
    session: str, pytestconfig: pytest.Config
) -> None:
    forms = _forms(session)
    names = [*_names_in_code(), *{name for fields in forms.values() for name in fields}]
    failures = {}
    # A run takes one in two hundred.
    for cell in sampled(_cells(forms), pytestconfig, turn=0, of=200):
        fields = {name: value.encode() for name, value in forms.get(cell[:2], {}).items()}
        hostile = {cell.name: cell.value} if cell.name else dict.fromkeys(names, cell.value)
        response = _send(session, cell, fields | hostile)
        if response.status_code >= 500:
            failures[str(cell)[:200]] = response.exc_info
    assert failures == {}


def test_a_return_url_is_never_a_view_name(session: str) -> None:
    for value in (b"logout", b"on", b"//evil.example", b"https://evil.example/"):
        for path in ("/accounts/theme/", "/accounts/utc/", "/accounts/keys/"):
            response = _send(session, Cell("POST", path, "", b""), {"next": value})
            assert (response.status_code, response["Location"]) == (302, "/")


def test_an_announced_length_without_end_is_no_error(session: str) -> None:
    _browser.cookies[settings.SESSION_COOKIE_NAME] = session
    response = _browser.post("/accounts/keys/", CONTENT_LENGTH="9" * 5_000)
    assert response.status_code < 500


def _cells(forms: Forms) -> Iterator[Cell]:
    """Yield every field of every form with every value, and every URL with all fields at once."""
    for (method, path), fields in forms.items():
        yield from (Cell(method, path, name, value) for name in fields for value in VALUES)
    for pattern in URLS:
        for path in _paths(pattern.name, pattern.converters):
            for method in ("GET", "POST"):
                yield from (Cell(method, path, "", value) for value in VALUES)


def _paths(name: str, converters: Any) -> Iterator[str]:
    """Yield the URL of that name, and variants with an odd ID or number."""
    usual = {part: IDS.get(part, 1) for part in converters}
    yield reverse(name, kwargs=usual)
    for part in converters:
        odd_ids = ["\0", "%00", "x" * 3_000, "."] if isinstance(usual[part], str) else [9**25]
        for odd in odd_ids:
            yield reverse(name, kwargs=usual | {part: odd})


def _forms(session: str) -> Forms:
    """Return the forms and links of all pages."""
    forms: Forms = defaultdict(dict)
    for path in (path for paths in PAGES.values() for path in paths):
        response = _send(session, Cell("GET", path, "", b""), {})
        if not response.streaming:
            _read_page(response.text, path, forms)
    return forms


def _read_page(html: str, page: str, forms: Forms) -> None:
    by_id: dict[str, dict[str, str]] = {}
    fields: dict[str, str] = {}
    for element in elements(html):
        attributes = element.attributes
        links = [attributes[name] for name in ("href", "hx-get") if name in attributes]
        for link in (urlsplit(link) for link in links if link.startswith(("/", "?"))):
            forms["GET", link.path or page.partition("?")[0]].update(parse_qsl(link.query))
        if element.tag == "form":
            action = urlsplit(attributes.get("action", page)).path
            fields = forms[attributes.get("method", "get").upper(), action]
            by_id[attributes.get("id", "")] = fields
        elif element.tag in ("input", "textarea", "select", "button") and attributes.get("name"):
            own = by_id.setdefault(attributes["form"], {}) if "form" in attributes else fields
            own[attributes["name"]] = attributes.get("value", "")


def _names_in_code() -> set[str]:
    """Return the names of fields and parameters in the code of views."""
    modules = Path(settings.BASE_DIR, "dashboard").glob("[aw][ce][cb]*/**/*.py")
    matches_by_module = (_READ.findall(module.read_text()) for module in modules)
    return {name for matches in matches_by_module for match in matches for name in match if name}


_browser = Client(raise_request_exception=False)
_quote = lru_cache(quote_plus)
"""Cached, because three hundred fields have the same value of up to 80 KB."""


def _send(session: str, cell: Cell, fields: dict[str, bytes]) -> Any:
    """Send a request and undo its changes."""
    _browser.cookies.clear()
    _browser.cookies[settings.SESSION_COOKIE_NAME] = session
    query, form = urlencode(fields, quote_via=_quote), "application/x-www-form-urlencoded"
    with transaction.atomic():
        if cell.method == "GET":
            path, _, own = cell.path.partition("?")
            response = _browser.get(f"{path}?{own}&{query}")
            b"".join(response) if response.streaming else None
        else:
            response = _browser.post(cell.path, query, content_type=form)
        transaction.set_rollback(True)
    return response
