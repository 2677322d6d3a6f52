"""Each name is counted separately, even if others are made up."""

import pytest

from dashboard.limits import MAX_NAMES, OF_PROCESS, seconds_to_wait
from tests.support.clock import stopped

pytestmark = pytest.mark.same_on_any_database


def test_made_up_names_push_no_count_out(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(monkeypatch)
    assert not seconds_to_wait("api:real", at_most=1)
    for number in range(MAX_NAMES + 500):
        seconds_to_wait(f"api:made-up-{number}", at_most=1)
    assert seconds_to_wait("api:real", at_most=1)
    # Another kind has its own names.
    assert not seconds_to_wait("reports:1", at_most=1)


def test_a_new_minute_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stopped(monkeypatch)
    for number in range(MAX_NAMES + 500):
        OF_PROCESS.count(f"api:made-up-{number}", minute=1)
    assert not seconds_to_wait("api:real", at_most=1)
    wait = seconds_to_wait("api:real", at_most=1)
    clock.advance(wait)
    assert not seconds_to_wait("api:real", at_most=1)
