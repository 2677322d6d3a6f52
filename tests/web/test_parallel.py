"""Calls side by side: at once for a service elsewhere, in turn for one in this process."""

import threading
import time
from typing import Any

import pytest

from dashboard.web.parallel import started


def test_calls_of_a_remote_service_run_at_the_same_time(settings: Any) -> None:
    settings.SERVICE_TRANSPORT = None
    meeting = threading.Barrier(2, timeout=60)
    first, second = started(meeting.wait), started(meeting.wait)
    assert {first(), second()} == {0, 1}


def test_a_call_in_this_process_waits_until_it_is_asked_for(settings: Any) -> None:
    settings.SERVICE_TRANSPORT = "some.Transport"
    threads: list[int] = []
    result = started(lambda: threads.append(threading.get_ident()))
    time.sleep(0.01)
    assert threads == []
    result()
    assert threads == [threading.get_ident()]


def test_a_failed_call_raises_where_its_result_is_asked_for(settings: Any) -> None:
    settings.SERVICE_TRANSPORT = None

    def fail() -> None:
        raise LookupError

    result = started(fail)
    with pytest.raises(LookupError):
        result()


def test_a_call_that_is_waited_for_in_vain_goes_on(settings: Any) -> None:
    settings.SERVICE_TRANSPORT = None
    may_end = threading.Event()
    result = started(lambda: may_end.wait(60))
    with pytest.raises(TimeoutError):
        result(timeout=0.01)
    may_end.set()
    assert result()
