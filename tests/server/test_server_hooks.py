"""What happens to a worker of the production server before its first response, and at its end."""

import gc
import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from dashboard.server.gunicorn import post_worker_init, worker_exit
from dashboard.service.client import publishing_client
from tests.support import wire
from tests.support.small_server import answer, says, serving


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)
    gc.unfreeze()


def test_the_collector_scans_only_new_objects() -> None:
    loaded = len(gc.get_objects())
    post_worker_init(None)
    assert len(gc.get_objects()) < loaded / 10


def test_a_worker_leaves_ctrl_c_to_the_server() -> None:
    post_worker_init(None)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_worker_closes_its_connections_at_the_end(settings: Any) -> None:
    people = json.dumps(wire.envelope()).encode()
    with serving(says(answer(people))) as server:
        settings.SERVICE_TRANSPORT, settings.SERVICE_URL = None, server.url
        settings.SERVICE_API_KEY = "a-key-of-this-test"
        publishing_client().people.list()
        assert not server.closed.acquire(timeout=0.1)
        worker_exit(None, None)
        assert server.closed.acquire(timeout=60)


def test_a_worker_that_called_nothing_ends_without_a_connection(settings: Any) -> None:
    settings.SERVICE_TRANSPORT, settings.SERVICE_URL = None, "http://service.invalid"
    worker_exit(None, None)
