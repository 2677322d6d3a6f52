"""Webhooks are sent a few at a time, so that slow receivers delay few others."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event, Lock, Thread
from typing import Any

import pytest

from dashboard.work.sender import PLACES, SLOW_S, DueReceiver, OwnerKind, Sender
from tests.support.clock import Clock

pytestmark = pytest.mark.same_on_any_database
NOW = datetime(2026, 11, 25, tzinfo=UTC)
PATIENCE_S = 60


def receiver(number: int, **columns: Any) -> DueReceiver:
    url = f"https://{number}.example/hook"
    owner = f"user {number}"
    return replace(DueReceiver(number, url, owner, due_at=NOW, kind=OwnerKind.PERSON), **columns)


class Outbox:
    """Due messages, one per receiver, and the receivers whose sending has begun."""

    def __init__(self, *receivers: DueReceiver) -> None:
        self.waiting = list(receivers)
        self.begun: list[Any] = []
        self.lock = Lock()
        self.may_end = Event()
        self.silent: set[Any] = set()

    def due(self) -> Iterable[DueReceiver]:
        with self.lock:
            return list(self.waiting)

    def send(self, receiver: DueReceiver) -> None:
        with self.lock:
            self.waiting.remove(receiver)
            self.begun.append(receiver.pk)
        if receiver.pk in self.silent:
            assert self.may_end.wait(PATIENCE_S)

    def has_begun(self, *pks: Any) -> bool:
        return set(pks) <= set(self.begun)


def wait_until(is_so: Callable[[], bool]) -> None:
    tick = Event()
    for _ in range(int(PATIENCE_S / 0.02)):
        if is_so():
            return
        tick.wait(0.02)
    raise AssertionError("It did not happen.")


def test_silent_receivers_delay_no_other_messages() -> None:
    outbox, stop = Outbox(*map(receiver, range(8))), Event()
    outbox.silent = set(range(8))
    thread = Thread(target=Sender().run, args=(outbox.due, outbox.send, stop))
    thread.start()
    wait_until(lambda: len(outbox.begun) == PLACES)
    outbox.waiting += [receiver(8, kind=OwnerKind.SUBSCRIPTION), receiver(9, kind=OwnerKind.TEAM)]
    wait_until(lambda: outbox.has_begun(8, 9))
    assert len(outbox.begun) == PLACES + 2
    outbox.may_end.set()
    thread.join(PATIENCE_S)
    assert outbox.has_begun(*range(8))


@pytest.mark.parametrize("shared", [{"url": "https://same.example/"}, {"owner": "user 1"}])
def test_each_host_and_owner_is_served_in_turn(shared: dict[str, str]) -> None:
    outbox = Outbox(receiver(1, **shared), receiver(2, **shared), receiver(3))
    outbox.silent = {1, 2}
    thread = Thread(target=Sender().run, args=(outbox.due, outbox.send, Event()))
    thread.start()
    wait_until(lambda: outbox.has_begun(1, 3))
    assert not outbox.has_begun(2)
    outbox.may_end.set()
    thread.join(PATIENCE_S)
    assert outbox.begun.count(2) == 1


def test_teams_come_first_and_silent_hosts_last(clock: Clock) -> None:
    sender, outbox = Sender(), Outbox(receiver(1))

    def send(receiver: DueReceiver) -> None:
        outbox.send(receiver)
        clock.advance(SLOW_S + 1 if receiver.pk == 1 else 0)

    sender.send_here(outbox.due, send)
    team, person = receiver(3, kind=OwnerKind.TEAM), receiver(2)
    outbox.waiting = [receiver(1), person, team]
    sender.send_here(outbox.due, send)
    assert outbox.begun == [1, 3, 2, 1]


def test_a_receiver_that_raises_is_put_aside(caplog: pytest.LogCaptureFixture) -> None:
    outbox = Outbox(receiver(1), receiver(2))

    def send(receiver: DueReceiver) -> None:
        if receiver.pk == 1:
            outbox.begun.append(1)
            raise ZeroDivisionError
        outbox.send(receiver)

    Sender().run(outbox.due, send, Event())
    assert sorted(outbox.begun) == [1, 2]
    assert "Sending to DueReceiver" in caplog.text
    assert "1.example" not in caplog.text


def test_what_is_being_sent_is_finished_before_it_stops() -> None:
    outbox, stop = Outbox(*map(receiver, range(6))), Event()
    outbox.silent = set(range(6))
    thread = Thread(target=Sender().run, args=(outbox.due, outbox.send, stop))
    thread.start()
    wait_until(lambda: len(outbox.begun) == PLACES)
    stop.set()
    outbox.may_end.set()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert len(outbox.begun) == PLACES
