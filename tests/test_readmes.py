"""The READMEs: their links, lengths, variables, commands and metrics, checked against the code."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.test import Client
from django.utils import timezone

from config.environment import Environment
from dashboard.ledger.models import Crawl

ROOT = Path(__file__).parent.parent
READMES = [
    ROOT / "README.md",
    *(ROOT / room / "README.md" for room in ("config", "dashboard", "tests")),
    *(ROOT / "dashboard" / room / "README.md" for room in ("embedded_api", "machine")),
    ROOT / "CHANGELOG.md",
]
RUNNING = ROOT / "config" / "README.md"
DEPLOY = ROOT / "config" / "deploy"
COMMAND_FILES = {".service", ".yaml", ""}
MAX_LINES = 160

LINK = re.compile(r"\]\((?P<link>[^)\s]+)\)|src=\"(?P<picture>[^\"]+)\"")
CODE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:manage\.py|pressroom-manage) (?P<words>[a-z][^|\n#)]*)")
PATHS = ("dashboard", "tests", "config", "templates", "static", ".ci", ".")
NOT_OURS = {"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"}
"""Variables that the libraries read themselves."""


def anchors(readme: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", readme.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def code(readme: Path, language: str) -> list[str]:
    """Return the code blocks of a language."""
    return [
        block["text"]
        for block in CODE.finditer(readme.read_text())
        if block["language"] == language
    ]


def commands() -> list[str]:
    """Return each call of `manage.py` in the READMEs' shell blocks, the units and scripts."""
    texts = [text for readme in READMES for text in code(readme, "sh")]
    texts += [
        path.read_text()
        for path in DEPLOY.rglob("*")
        if path.is_file() and path.suffix in COMMAND_FILES
    ]
    return sorted(
        {matches["words"].strip() for text in texts for matches in COMMAND.finditer(text)}
    )


def test_the_first_page_is_short() -> None:
    assert len(READMES[0].read_text().splitlines()) <= MAX_LINES


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_relative_link_leads_somewhere(readme: Path) -> None:
    for matches in LINK.finditer(CODE.sub("", readme.read_text())):
        link = matches["link"] or matches["picture"]
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (readme.parent / name).resolve() if name else readme
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_code_names_no_document_but_readmes_and_the_changelog() -> None:
    folders = ("config", "dashboard", "static", "templates", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    code = [path for path in files if path.suffix in {".py", ".html", ".css", ".js"}]
    names = {name for path in code for name in re.findall(r"\b[A-Z-]+\.md\b", path.read_text())}
    assert names == {"README.md", "CHANGELOG.md"}


def test_each_module_of_the_map_exists() -> None:
    text = CODE.sub("", (ROOT / "dashboard" / "README.md").read_text())
    named = {
        name for name in re.findall(r"`([\w./-]+\.(?:py|html|css|js))`", text) if "/_" not in name
    }
    missing = [
        name
        for name in named
        if not any((ROOT / start / name).exists() for start in PATHS)
        and not list((ROOT / "static").rglob(name))
        and not list((ROOT / "templates").rglob(name))
    ]
    assert missing == []


def test_each_function_of_the_map_is_in_its_module() -> None:
    text = (ROOT / "dashboard" / "README.md").read_text()
    pairs = re.findall(r"`([\w/]+\.py)`,\s+`(\w+)`", text)
    assert len(pairs) > 10
    missing = [
        (module, name)
        for module, name in pairs
        if not re.search(
            rf"^(?:def |class )?{name}\b", (ROOT / "dashboard" / module).read_text(), re.M
        )
    ]
    assert missing == []


def test_each_variable_is_documented_and_no_other() -> None:
    rows = re.findall(r"^\| (`[A-Z_`, ]+`)(?: and [^|]+)? \|", RUNNING.read_text(), re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"[A-Z][A-Z_]+", row)}
    ours = {name.upper() for name in Environment.model_fields}
    assert ours - documented == set()
    assert documented - ours == NOT_OURS


@pytest.mark.parametrize("words", commands())
def test_each_command_of_manage_py_takes_what_is_written(words: str) -> None:
    name, *arguments = shlex.split(words)
    command = load_command_class(get_commands()[name], name)
    command.create_parser("manage.py", name).parse_args(arguments)


def test_each_metric_is_documented_and_no_other(as_viewer: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "only-for-this-test"
    now = timezone.now()
    Crawl.objects.create(pk=1, wake_at=now, finished_at=now, pages_in_all=1, calls_per_second=5)
    as_viewer.get("/pages/")
    text = as_viewer.get("/metrics", headers={"Authorization": "Bearer only-for-this-test"}).text
    types = re.findall(r"^# TYPE (pressroom_\w+) ", text, re.MULTILINE)
    exposed = {name for name in types if not name.endswith("_created")}
    rows = re.findall(r"^\| (`pressroom_[^|]+) \|", RUNNING.read_text(), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"pressroom_\w+", row)} == exposed


@pytest.mark.parametrize("module", ["tests.benchmarks.__main__", "tests.browser.pictures"])
def test_side_programs_start_without_settings(module: str) -> None:
    env = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    run = [sys.executable, "-c", f"import {module}"]
    assert subprocess.run(run, check=False, cwd=ROOT, env=env, capture_output=True).stderr == b""


def test_the_changelog_begins_with_this_version_and_what_upgrades_keep() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    start, latest = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[:2]
    assert latest.splitlines()[0] == version
    sentence = "Versions 0.x don't keep the database: start with a new one and crawl."
    assert sentence in " ".join(start.split())
