"""pytest-xdist scheduler: tests that share a server run on one worker, others individually."""

from collections import Counter

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

BROWSER = "tests/browser/"

TOGETHER = (
    BROWSER,
    "tests/client/test_time_limits.py",
    "tests/conformance/",
    "tests/embedded_api/test_generated_client.py",
    "tests/embedded_api/test_sample.py",
    "tests/embedded_api/test_schema.py",
    "tests/embedded_api/test_server.py",
    "tests/observability/test_traces.py",
    "tests/test_wording.py",
    "tests/web/publishing/test_publish_answers.py",
    "tests/web/publishing/test_publish_concurrently.py",
    "tests/web/publishing/test_publish_killed.py",
    "tests/server/test_several_machines.py",
    "tests/server/test_slow_clients.py",
    "tests/web/webhooks/test_receiver.py::test_nothing_of_an_incomplete_body_is_stored",
)
"""Files, or tests of one, that share what takes seconds to make: a browser, a server, all texts."""

HALVES = ("policy off", "all_that_opens")
"""Parts of test names that split a file into halves, for two workers."""

LONGEST_BROWSING = (
    *("tests/browser/test_every_page.py", "tests/browser/test_large_release.py"),
    *("tests/browser/test_conversation.py", "tests/browser/test_page_drafts.py"),
    *("tests/browser/test_publish.py", "tests/browser/test_approvals.py"),
    *("tests/browser/test_dialogs.py", "tests/browser/test_hostile.py"),
    "tests/browser/test_releases.py",
    BROWSER,
)
"""Browser files, the longest first, in a row, as a worker ends its browser between.

The large release and the watched one wait for a worker of releases: not both at once.
"""

LONGEST_WAITING = (
    "tests/demo/",
    "tests/embedded_api/test_from_nothing.py",
    "tests/web/publishing/test_publish_concurrently.py",
    "tests/web/publishing/test_publish_answers.py",
    "tests/web/publishing/test_publish_killed.py",
    "tests/releases/test_killed_workers.py",
    "tests/notifications/test_killed_worker.py",
    "tests/server/",
    "tests/web/publishing/test_publish_stories.py",
    "tests/faults/test_wire.py",
    "tests/conformance/",
    "tests/observability/test_traces.py",
    "tests/client/",
)
"""What waits for processes and time limits more than it does.

First what does most, as the large release waits beside it; then what waits longest.
"""

FIRST = (*LONGEST_BROWSING, *LONGEST_WAITING)
"""What runs before all else, so that no worker is left with it at the end."""


def scope(nodeid: str) -> str:
    """Return the scope that runs on one worker: a file, half a file, or a single test."""
    if not nodeid.startswith(TOGETHER):
        return nodeid
    file = nodeid.partition("::")[0]
    return next((f"{file}, {half}" for half in HALVES if half in nodeid), file)


def sort_by_length(items: list[pytest.Item]) -> None:
    """Put the longest scopes first, and then the largest; single tests fill the gaps at the end.

    pytest-xdist is told by `--no-loadscope-reorder` to keep that order: it knows sizes only.
    """
    sizes = Counter(scope(item.nodeid) for item in items)

    def place(item: pytest.Item) -> tuple[int, int]:
        places = enumerate(FIRST)
        first = (place for place, start in places if item.nodeid.startswith(start))
        return next(first, len(FIRST)), -sizes[scope(item.nodeid)]

    items.sort(key=place)


class ScopeScheduling(LoadScopeScheduling):
    """Deal out scopes in the order of collection.

    The `loadgroup` of pytest-xdist 3.8 would do the same by marks, but pytest 9.2 ignores them.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Leave the browser to all workers but the first, and what waits to the first.

        So one worker has no demo and no Chromium to start, and never do all of them wait.
        """
        queue = self.workqueue
        is_first = node is self.nodes[0]
        left = LONGEST_BROWSING if is_first else LONGEST_WAITING
        if next(iter(queue)).startswith(left):
            others = (each for each in queue if not each.startswith(left))
            queue.move_to_end(next(others, next(iter(queue))), last=False)
        super()._assign_work_unit(node)
