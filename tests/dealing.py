"""How tests are dealt out to the workers: what shares a server together, all else singly."""

from xdist.scheduler import LoadScopeScheduling

TOGETHER = (
    "tests/browser/",
    "tests/conformance/",
    "tests/embedded_api/test_sample.py",
    "tests/embedded_api/test_server.py",
    "tests/web/test_publish_answers.py",
    "tests/web/test_several_machines.py",
)
"""Files whose tests share something that takes seconds to start: a browser, a server."""


def scope(nodeid: str) -> str:
    """Return the name of what goes to one worker: the file of a test, or the test alone."""
    return nodeid.partition("::")[0] if nodeid.startswith(TOGETHER) else nodeid


class Dealing(LoadScopeScheduling):
    """The largest scopes first, that is the browser's files; single tests fill the gaps at the end.

    The `loadgroup` of pytest-xdist 3.8 would do the same by marks, but pytest 9.2 ignores them.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
