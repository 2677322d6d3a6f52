"""The speed of a crawl: its rate limit, and what it spent its time on."""

import time
from collections import defaultdict


class CrawlSpeed:
    """Limits the calls per second, and explains why the actual rate was not higher."""

    def __init__(self, limit: float, max_calls: int, *, is_in_process: bool) -> None:
        self.calls = 0
        self.rate_limits = 0
        """Number of pauses because of a 429."""
        self.seconds = defaultdict[str, float](float)
        """Seconds spent waiting for the `limit`, a `pause` or the `service`.

        `calls` is the sum of the durations of all calls.
        """
        self._limit, self._max_calls, self._is_in_process = limit, max_calls, is_in_process
        self._gap_s = 1 / limit
        self._next = time.monotonic()

    def wait_s(self) -> float:
        return max(0.0, self._next - time.monotonic())

    def begin(self) -> None:
        self.calls += 1
        # A call may begin late because a response was recorded: up to 0.1 s is made up for.
        self._next = max(self._next, time.monotonic() - 0.1) + self._gap_s

    def sentence(self, elapsed_s: float) -> str:
        return f"{self.calls / elapsed_s:.1f} calls per second: {self._reason(elapsed_s)}."

    def _reason(self, elapsed_s: float) -> str:
        seconds = self.seconds
        if self.rate_limits:
            return (
                f"the service's rate limit (429) paused the crawl {self.rate_limits} "
                f"time{'s' if self.rate_limits > 1 else ''}, for {seconds['pause']:.0f} s"
            )
        if seconds["pause"] > elapsed_s / 2:
            return f"the service did not respond, for {seconds['pause']:.0f} s"
        slow_s = seconds["calls"] if self._is_in_process else seconds["service"]
        if seconds["limit"] >= slow_s and seconds["limit"] >= elapsed_s / 4:
            return f"the limit is {self._limit:g}"
        if slow_s >= elapsed_s / 2:
            call_ms = 1000 * seconds["calls"] / self.calls
            at_once = f"with {self._max_calls} at a time" if self._max_calls > 1 else "one by one"
            return f"the service took {call_ms:.0f} ms for each, {at_once}"
        return "recording the responses took most of the time"
