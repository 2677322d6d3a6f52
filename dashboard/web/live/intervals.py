"""The intervals at which a page polls."""

import time

WAIT_S, MOVING_WAIT_S, IDLE_WAIT_S = 10, 3, 30
"""Seconds: usually, with something in progress on the screen, and after 5 minutes without input."""
BUSY_SHARE = 0.8
"""Share of one core. Pages of a process that uses more poll half as often. Source: our choice."""


class ProcessorUse:
    """How much of one core this process uses."""

    SPAN_S = 5.0
    """Minimum time over which the use is measured."""

    def __init__(self) -> None:
        self._share, self._at, self._used_s = 0.0, time.monotonic(), time.process_time()

    def share(self) -> float:
        """Return the share in the last complete span, 1.0 for a whole core."""
        now, used_s = time.monotonic(), time.process_time()
        if now - self._at >= self.SPAN_S:
            self._share = (used_s - self._used_s) / (now - self._at)
            self._at, self._used_s = now, used_s
        return self._share


processor_use = ProcessorUse()


def wait_s(*, is_moving: bool, is_idle: bool, share: float) -> int:
    """Return the seconds until a page polls again. `share` is from `ProcessorUse`."""
    wait = IDLE_WAIT_S if is_idle else MOVING_WAIT_S if is_moving else WAIT_S
    return wait * 2 if share > BUSY_SHARE else wait
