"""The intervals at which a page polls."""

import time

WAIT_S, MOVING_WAIT_S, IDLE_WAIT_S = 10, 3, 30
"""Usually, while something on the screen is in progress, and after five minutes without input."""
BUSY_SHARE = 0.8
"""Of one core: a process that uses more has its pages poll half as often. Source: our choice."""


class ProcessorUse:
    """How much of one core this process uses."""

    SPAN_S = 5.0
    """Measured over this time at least."""

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
    """Return the seconds until a page polls again. `share` is of `ProcessorUse`."""
    wait = IDLE_WAIT_S if is_idle else MOVING_WAIT_S if is_moving else WAIT_S
    return wait * 2 if share > BUSY_SHARE else wait
