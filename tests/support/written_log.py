"""A server's log in JSON."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dashboard.observability.log import JsonFormatter


class Log(io.StringIO):
    """A server's log."""

    def lines(self, logger: str = "") -> list[dict[str, Any]]:
        """Return the lines of a logger, or all lines."""
        lines = [json.loads(line) for line in self.getvalue().splitlines()]
        return [line for line in lines if logger in ("", line["logger"])]


@contextmanager
def written_log() -> Iterator[Log]:
    """Record everything that is logged, as a server with LOG_FORMAT=json writes it."""
    written = Log()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    yield written
    logging.getLogger().removeHandler(handler)
