"""One call of the service: the operation, its path and its arguments."""

from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

PREFIX = "/v0"
"""Every path of the spec begins with it (Versioning)."""

_DOT_SEGMENTS = {".": "%2E", "..": "%2E%2E"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One of the nine operations, with its arguments. `params` that are None are not sent."""

    operation: str
    path: str
    method: Literal["GET", "POST", "PATCH"] = "GET"
    params: dict[str, str | int | None] = field(default_factory=dict)
    body: dict[str, Any] | None = None

    @property
    def is_read(self) -> bool:
        """Whether the call is a GET, or the empty PATCH that reads a subscription."""
        return self.method == "GET" or (self.method == "PATCH" and not self.body)


def path(*segments: str) -> str:
    """Return the path of these segments, each fully percent-encoded.

    Identifiers may be any text (spec), so `/`, `?`, `#`, `%` and `..` must arrive as they are.
    """
    url = PREFIX
    for segment in segments:
        # quote() leaves dots, and httpx resolves a segment of dots alone as a step in a directory.
        encoded = _DOT_SEGMENTS.get(segment) or quote(segment, safe="", errors="surrogatepass")
        url = f"{url}/{encoded}"
    return url
