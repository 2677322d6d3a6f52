"""The HTML of every page is what a validator wants: it parses without one error, and refers
to nothing that is not there.

A browser mends what it reads, so its tree says nothing of this: the answers are read as sent.
"""

from collections import Counter
from typing import Any

from playwright.sync_api import Page
from tinyhtml5.parser import HTMLParser

from tests.browser.addresses import addresses
from tests.browser.conftest import confirm, log_in
from tests.processes import Running

REFERENCES = (
    "for",
    "list",
    "popovertarget",
    "aria-labelledby",
    "aria-describedby",
    "aria-controls",
    "aria-activedescendant",
)
NOT_TYPED = {"hidden", "radio", "checkbox", "submit"}


def wrong_with(html: str) -> list[str]:
    """Return what is wrong with a document."""
    parser = HTMLParser(namespace_html_elements=False)
    tree = parser.parse(html)
    every: list[Any] = [element for element in tree.iter() if isinstance(element.tag, str)]
    ids = Counter(element.get("id") for element in every if element.get("id"))
    found = [f"line {place[0]}: {code} {more}" for place, code, more in parser.errors]
    found += [f"{count} elements of the id {one}" for one, count in ids.items() if count > 1]
    for element in every:
        for name in REFERENCES:
            refers_to = (element.get(name) or "").split()
            found += [f"{name} of nothing: {one}" for one in refers_to if one not in ids]
        if element.tag == "button" and not element.get("type"):
            found.append(f"a button without a type: {element.attrib}")
    return found + [f"no autocomplete: {field.attrib}" for field in asking_in_silence(tree)]


def asking_in_silence(tree: Any) -> list[Any]:
    """Return the fields of which a browser must guess what they ask for."""
    forms = [form for form in tree.iter("form") if form.get("autocomplete")]
    told = {field for form in forms for field in form.iter("input")}
    return [
        field
        for field in tree.iter("input")
        if field.get("type", "text") not in NOT_TYPED
        and not field.get("autocomplete")
        and field not in told
    ]


def test_every_page_is_html_without_an_error(page: Page, server: Running) -> None:
    confirm(log_in(page))
    wrong = {}
    asked = addresses(server) | {"API": "/service/docs"}
    for name, address in asked.items():
        found = wrong_with(page.request.get(address).text())
        if found:
            wrong[name] = found
    assert wrong == {}


def test_the_log_in_is_html_without_an_error(page: Page) -> None:
    assert wrong_with(page.request.get("/accounts/login/").text()) == []
