"""The URLs of an API's operations."""

from collections.abc import Callable
from typing import Any

from django.urls import URLPattern
from ninja import NinjaAPI


def operation_urls(api: NinjaAPI, wrap: Callable[[Any], Any]) -> list[URLPattern]:
    """Return the URLs of an API except its root, with each view wrapped."""
    patterns = [
        pattern
        for pattern in api.urls[0]
        if isinstance(pattern, URLPattern) and pattern.name != "api-root"
    ]
    for pattern in patterns:
        pattern.callback = wrap(pattern.callback)
    return patterns
