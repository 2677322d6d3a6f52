"""pytest-xdist's scheduler by file: the longest first, and browsers on all workers but two.

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
"""The seconds that each file takes, by its path."""
WITHOUT_BROWSER = 2
"""Workers."""
LEAST_S = 1.0
"""The shortest files, nearly half of them, make no difference to the order."""


def file_of(nodeid: str) -> str:
    """Return the path of a test's file."""
    return nodeid.partition("::")[0]


def stored_durations() -> dict[str, float]:
    """Return the durations that a run has stored."""
    durations: dict[str, float] = json.loads(DURATIONS.read_text())
    return durations


def sort_by_duration(items: list[pytest.Item]) -> None:
    """Put the longest files first, so that no worker is left with one at the end.

    pytest-xdist is told by `--no-loadscope-reorder` to keep that order: it knows sizes only.
    """
    durations = stored_durations()
    items.sort(key=lambda item: -durations.get(file_of(item.nodeid), 0))


class StoredDurations:
    """A plugin that adds up how long the tests of files take, and stores it at the end."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the set-up, the call or the teardown of a test."""
        self._seconds[file_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Replace the durations of the files that have run."""
        durations = stored_durations() | {
            file: round(seconds, 1) for file, seconds in self._seconds.items()
        }
        rows = sorted(durations.items(), key=lambda row: (-row[1], row[0]))
        rows = [(file, seconds) for file, seconds in rows if seconds >= LEAST_S]
        DURATIONS.write_text(json.dumps(dict(rows), indent=0) + "\n")


class FileScheduling(LoadFileScheduling):
    """Deal out files in the order of collection, those that need a browser to some workers."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Leave the browser to all workers but the first two until nothing else is left.

        So those have no demo and no Chromium to start, which would cost more than they gain.
        No documented hook says which worker gets a file: `loadgroup` deals out groups as they come.
        """
        is_without = node in self.nodes[:WITHOUT_BROWSER]
        files = (file for file in self.workqueue if file.startswith(BROWSER) != is_without)
        if file := next(files, None):
            self.workqueue.move_to_end(file, last=False)
        super()._assign_work_unit(node)
