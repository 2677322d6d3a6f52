"""A scheduler by file for pytest-xdist: longest files first, browsers on all workers but two.

`uv run pytest --store-durations` measures how long files take.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

BROWSER = "tests/browser/"
DURATIONS = Path(__file__).with_name("file_durations.json")
"""Seconds that each file takes, by path."""
WITHOUT_BROWSER = 2
"""Number of workers that run no browser tests at first."""
LEAST_S = 1.0
"""Shorter files, nearly half of all, aren't stored, as they hardly affect the order."""


def file_of(nodeid: str) -> str:
    """Return the path of a test's file."""
    return nodeid.partition("::")[0]


def stored_durations() -> dict[str, float]:
    """Return the stored durations."""
    durations: dict[str, float] = json.loads(DURATIONS.read_text())
    return durations


def sort_by_duration(items: list[pytest.Item]) -> None:
    """Put the longest files first, so that no worker is left with one at the end.

    `--no-loadscope-reorder` tells pytest-xdist to keep that order; its own considers only sizes.
    """
    durations = stored_durations()
    items.sort(key=lambda item: -durations.get(file_of(item.nodeid), 0))


class StoredDurations:
    """A plugin that adds up the durations of files, and stores them at the end."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a test's set-up, call or teardown."""
        self._seconds[file_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Update the durations of the files that have run."""
        durations = stored_durations() | {
            file: round(seconds, 1) for file, seconds in self._seconds.items()
        }
        rows = sorted(durations.items(), key=lambda row: (-row[1], row[0]))
        rows = [(file, seconds) for file, seconds in rows if seconds >= LEAST_S]
        DURATIONS.write_text(json.dumps(dict(rows), indent=0) + "\n")


class FileScheduling(LoadFileScheduling):
    """Assigns files in the order of collection, and browser tests only to some workers."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Give browser tests to the first two workers only when nothing else is left.

        So these two needn't start a demo and Chromium, which would cost more than it gains. No
        documented hook chooses the worker of a file: `loadgroup` assigns groups as they come.
        """
        is_without = node in self.nodes[:WITHOUT_BROWSER]
        files = (file for file in self.workqueue if file.startswith(BROWSER) != is_without)
        if file := next(files, None):
            self.workqueue.move_to_end(file, last=False)
        super()._assign_work_unit(node)
