"""The sender of all webhooks. It sends a few at a time, so that a slow receiver delays few.

At most one message at a time goes to a host, and at most one is sent for an owner. Teams, persons
and subscriptions have separate places. A host that was recently slow or silent comes last, and
leaves a place to others. These limits apply to each process. A message is claimed, so that only one
process sends it.
"""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from threading import Event, Lock, Thread
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from django.db import connection

from dashboard.work.tasks import close_lost_connections

PLACES = 3
"""Receivers of one kind that are served at once. Source: our choice, like all limits here."""
MAX_SLOW = 2
"""How many of them may be at hosts that were recently slow."""
SLOW_S, SLOW_FOR_S = 2.0, 600.0
"""A host that takes longer than SLOW_S is slow for SLOW_FOR_S, or until it is quick again."""
ASIDE_S = 60.0
"""Seconds that an owner's messages wait after one could not even be claimed."""
CHECK_S = 1.0
"""Seconds between two checks for due messages while others are being sent."""

_logger = logging.getLogger("dashboard.worker")


class OwnerKind(StrEnum):
    """Whose receiver it is. Receivers are chosen in this order."""

    TEAM, SUBSCRIPTION, PERSON = "1 team", "2 subscription", "3 person"


@dataclass(frozen=True)
class DueReceiver:
    pk: Any
    url: str = field(repr=False)
    owner: str
    """The user, the team's webhook or the subscription."""
    due_at: datetime
    kind: OwnerKind

    @property
    def host(self) -> str:
        try:
            return urlsplit(self.url).hostname or self.url
        except ValueError:
            return self.url


Due: TypeAlias = Callable[[], Iterable[DueReceiver]]
Send: TypeAlias = Callable[[DueReceiver], object]
"""Sends the next message to a receiver and records the result."""


class Sender:
    """Chooses the next receiver, for all kinds of webhooks of a process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._served: list[DueReceiver] = []
        self._slow_until: dict[str, float] = {}
        """When a host stops being slow, by host, on the monotonic clock."""
        self._aside_until: dict[str, float] = {}
        """When an owner's messages are sent again, by owner, on the monotonic clock."""

    def run(self, due: Due, send: Send, stop: Event) -> None:
        threads: list[Thread] = []
        try:
            while not stop.is_set():
                receivers = list(due())
                while not stop.is_set() and (receiver := self._take(receivers)):
                    receivers.remove(receiver)
                    thread = Thread(target=self._serve, args=(receiver, due, send, stop))
                    threads.append(thread)
                    thread.start()
                threads = [thread for thread in threads if thread.is_alive()]
                if not threads:
                    return
                threads[0].join(CHECK_S)
        finally:
            for thread in threads:
                thread.join()

    def send_here(self, due: Due, send: Send) -> int:
        """Send all that is due, one after another in this thread; return how many messages."""
        count = 0
        while receiver := self._take(due()):
            self._send(receiver, send)
            count += 1
        return count

    def _serve(self, receiver: DueReceiver | None, due: Due, send: Send, stop: Event) -> None:
        """Send to one receiver after another: a thread for each message would cost more."""
        try:
            while receiver:
                self._send(receiver, send)
                receiver = None if stop.is_set() else self._take(due())
        except Exception:
            _logger.exception("What is due could not be read")
        finally:
            connection.close()

    def _send(self, receiver: DueReceiver, send: Send) -> None:
        began, is_aside = time.monotonic(), False
        try:
            send(receiver)
        except Exception:
            _logger.exception("Sending to %r failed", receiver)
            close_lost_connections()
            is_aside = True
        finally:
            now = time.monotonic()
            with self._lock:
                self._served.remove(receiver)
                _note(self._slow_until, receiver.host, SLOW_FOR_S * (now - began > SLOW_S), now)
                _note(self._aside_until, receiver.owner, ASIDE_S * is_aside, now)

    def _take(self, receivers: Iterable[DueReceiver]) -> DueReceiver | None:
        with self._lock:
            in_order = sorted(
                receivers,
                key=lambda receiver: (self._is_slow(receiver), receiver.kind, receiver.due_at),
            )
            receiver = next(filter(self._may_be_served, in_order), None)
            if receiver:
                self._served.append(receiver)
            return receiver

    def _may_be_served(self, receiver: DueReceiver) -> bool:
        of_kind = [other for other in self._served if other.kind == receiver.kind]
        slow = [other for other in of_kind if self._is_slow(other)]
        return (
            len(of_kind) < PLACES
            and not (self._is_slow(receiver) and len(slow) >= MAX_SLOW)
            and self._aside_until.get(receiver.owner, 0.0) <= time.monotonic()
            and receiver.host not in {other.host for other in self._served}
            and receiver.owner not in {other.owner for other in self._served}
        )

    def _is_slow(self, receiver: DueReceiver) -> bool:
        return self._slow_until.get(receiver.host, 0.0) > time.monotonic()


def _note(until: dict[str, float], name: str, seconds: float, now: float) -> None:
    """Note how long something lasts (0: it doesn't), and forget what has ended."""
    until[name] = now + seconds
    for other in [other for other, end in until.items() if end <= now]:
        del until[other]


SENDER = Sender()
