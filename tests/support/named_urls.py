"""All named URLs of the dashboard."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.urls import URLPattern, URLResolver, reverse
from django.urls.converters import IntConverter, StringConverter

from dashboard.web.shell.urls import urlpatterns


@dataclass(frozen=True)
class NamedURL:
    """A URL name with the converters of its whole path."""

    name: str
    converters: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        """Return the name for test ids."""
        return self.name


def _named(patterns: list[Any], above: dict[str, Any]) -> Iterator[NamedURL]:
    for pattern in patterns:
        converters = above | pattern.pattern.converters
        if isinstance(pattern, URLResolver):
            yield from _named(pattern.url_patterns, converters)
        elif isinstance(pattern, URLPattern):
            yield NamedURL(pattern.name or "", converters)


URLS = list(_named(urlpatterns, {}))


SAMPLES = {IntConverter: 1, StringConverter: "guessed"}


def address(pattern: NamedURL) -> str:
    kwargs = {
        name: SAMPLES.get(type(converter), "some/id")
        for name, converter in pattern.converters.items()
    }
    return reverse(pattern.name, kwargs=kwargs)
