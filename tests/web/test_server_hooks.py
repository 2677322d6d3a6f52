"""What is done with a worker of the production server before it answers."""

import gc
import signal
from collections.abc import Iterator

import pytest

from dashboard.web.server_hooks import settles_in


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    handler, thresholds = signal.getsignal(signal.SIGINT), gc.get_threshold()
    yield
    signal.signal(signal.SIGINT, handler)
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_a_worker_looks_for_garbage_only_in_what_came_after_it_was_loaded() -> None:
    loaded = len(gc.get_objects())
    settles_in(None)
    assert len(gc.get_objects()) < loaded / 10


def test_a_worker_leaves_ctrl_c_to_the_server() -> None:
    settles_in(None)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
