"""pytest-xdist scheduler: tests that share a server run on one worker, others individually."""

from xdist.scheduler import LoadScopeScheduling

TOGETHER = (
    "tests/browser/",
    "tests/client/test_time_limits.py",
    "tests/conformance/",
    "tests/embedded_api/test_generated_client.py",
    "tests/embedded_api/test_sample.py",
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


def scope(nodeid: str) -> str:
    """Return the scope that runs on one worker: a file, half a file, or a single test."""
    if not nodeid.startswith(TOGETHER):
        return nodeid
    file = nodeid.partition("::")[0]
    return next((f"{file}, {half}" for half in HALVES if half in nodeid), file)


class LargestScopeFirstScheduling(LoadScopeScheduling):
    """Run the largest scopes first, such as browser files; single tests fill the gaps at the end.

    The `loadgroup` of pytest-xdist 3.8 would do the same by marks, but pytest 9.2 ignores them.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
