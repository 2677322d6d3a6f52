"""How tests are dealt out to the workers: what shares a server together, all else singly."""

from xdist.scheduler import LoadScopeScheduling

TOGETHER = (
    "tests/browser/",
    "tests/conformance/",
    "tests/embedded_api/test_sample.py",
    "tests/embedded_api/test_server.py",
    "tests/web/test_publish_answers.py",
    "tests/web/test_publish_concurrently.py",
    "tests/web/test_publish_killed.py",
    "tests/web/test_several_machines.py",
)
"""Files whose tests share something that takes seconds to start: a browser, a server."""

HALVES = ("policy off", "all_that_opens")
"""Words in the names of tests that make a half of their file, for another worker to take."""


def scope(nodeid: str) -> str:
    """Return the name of what goes to one worker: a file or half of it, or the test alone."""
    if not nodeid.startswith(TOGETHER):
        return nodeid
    file = nodeid.partition("::")[0]
    return next((f"{file}, {half}" for half in HALVES if half in nodeid), file)


class Dealing(LoadScopeScheduling):
    """The largest scopes first, that is the browser's files; single tests fill the gaps at the end.

    The `loadgroup` of pytest-xdist 3.8 would do the same by marks, but pytest 9.2 ignores them.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
