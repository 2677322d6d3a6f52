"""What Lighthouse says of three pages, as on a desk."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure, Row, Unmeasured
from tests.benchmarks.part_weight import cookies_of
from tests.benchmarks.sides import Served
from tests.browser.addresses import addresses
from tests.browser.conftest import CHROMIUM
from tests.support.processes import free_port

LIGHTHOUSE = "lighthouse@12.8.2"
CATEGORIES = ("performance", "accessibility", "best-practices")
PAGES = ("overview", "pages", "conversation")
BEST, TRIES = 100, 3


def figures(bench: Bench) -> Iterator[Row]:
    """Judge each page of the demo; the middle one of several runs, for a machine that is busy."""
    missing = [name for name in ("npx", str(CHROMIUM)) if not shutil.which(name)]
    if missing:
        yield Unmeasured("Lighthouse", f"there is no {missing[0]}")
        return
    found = addresses(bench.demo.server)
    for name in PAGES:
        runs = 1 if bench.quick else 3
        try:
            reports = [_report(bench.demo, found[name], bench.folder) for _ in range(runs)]
        except NoReportError as error:
            yield Unmeasured(f"Lighthouse: {name}", str(error))
            continue
        for category in CATEGORIES:
            scores = [round(report["categories"][category]["score"] * 100) for report in reports]
            what, beside = f"Lighthouse, {name}: {category}", _short_of(reports[-1], category)
            yield Figure(what, median(scores), BEST, "", beside, more_is_better=True)


class NoReportError(Exception):
    """Lighthouse did not see the page; the words say why."""


def _report(served: Served, address: str, folder: Path) -> dict[str, Any]:
    """Return Lighthouse's report. Raises NoReportError where none of several tries gave one.

    On a busy machine it may lose the browser.
    """
    for tries_left in reversed(range(TRIES)):
        try:
            return _tried(served, address, folder)
        except NoReportError:
            if not tries_left:
                raise
    raise AssertionError


def _tried(served: Served, address: str, folder: Path) -> dict[str, Any]:
    report, url, port = folder / "lighthouse.json", served.server.url + address, free_port()
    options = [
        *("--quiet", "--preset=desktop", "--output=json", f"--output-path={report}"),
        *(f"--only-categories={','.join(CATEGORIES)}", f"--port={port}"),
        # It would take the log-in away; the browser is a new one each time.
        "--disable-storage-reset",
    ]
    with _browser(served, port):
        done = subprocess.run(
            ["npx", "--yes", LIGHTHOUSE, url, *options],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it ended without a word"]
        raise NoReportError(said[-1])
    read: dict[str, Any] = json.loads(report.read_text())
    if read["finalDisplayedUrl"] != url:
        raise NoReportError("it was led to another page")
    return read


@contextmanager
def _browser(served: Served, port: int) -> Iterator[None]:
    """Run a browser that is logged in and has nothing in its cache, and can be led by a port."""
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=CHROMIUM,
            args=["--no-sandbox", f"--remote-debugging-port={port}"],
        )
        context.add_cookies(cookies_of(served))
        yield
        context.close()


def _short_of(report: dict[str, Any], category: str) -> str:
    """Return the audits that keep a category from its best, with what they say."""
    parts = report["categories"][category]["auditRefs"]
    audits = [report["audits"][part["id"]] for part in parts if part["weight"]]
    return ", ".join(
        f"{audit['id']} {audit.get('displayValue', '')}".strip()
        for audit in audits
        if audit["score"] is not None and audit["score"] < 1
    )
