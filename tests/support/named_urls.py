"""All named URLs of the dashboard."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.urls import URLPattern, URLResolver

from dashboard.web.shell.urls import urlpatterns


@dataclass(frozen=True)
class NamedURL:
    """A URL name, with the converters of its whole path."""

    name: str
    converters: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        """Return the name, used in test ids."""
        return self.name


def _named(patterns: list[Any], above: dict[str, Any]) -> Iterator[NamedURL]:
    for each in patterns:
        converters = above | each.pattern.converters
        if isinstance(each, URLResolver):
            yield from _named(each.url_patterns, converters)
        elif isinstance(each, URLPattern):
            yield NamedURL(each.name or "", converters)


URLS = list(_named(urlpatterns, {}))
