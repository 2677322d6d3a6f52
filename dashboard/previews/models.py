"""The URL pattern of the site that shows the pages."""

import re
from typing import NamedTuple
from urllib.parse import quote

from django.core.exceptions import ValidationError
from django.db import models

from dashboard.contract.audiences import Audience
from dashboard.texts import is_link

MAX_PATTERN = 500
"""Maximum length in characters."""
PLACEHOLDERS = {
    "route_key": "prospectRouteKey",
    "prospect_id": "prospectId",
    "audience_id": "audienceId",
    "page_id": "pageId",
}
"""Names in a pattern, and the fields of the API that they stand for."""
_PLACEHOLDER = re.compile(rf"{{({'|'.join(PLACEHOLDERS)})}}")
_PATTERN = re.compile(rf"https://[^{{}}/?#@\[\]]+[/?](?:[^{{}}#]|{_PLACEHOLDER.pattern})+")


class SitePattern(models.Model):
    """The URL pattern of the site. Rows are never changed: the newest is in force."""

    pattern = models.CharField(max_length=MAX_PATTERN, blank=True)
    """Such as `https://example.com/{route_key}`; empty if there is no site to open."""
    changed_at = models.DateTimeField()
    changed_by_name = models.CharField(max_length=200)

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()
        permissions = [("manage_site", "Can set the address of the site")]

    def __str__(self) -> str:
        return self.pattern


class SiteLink(NamedTuple):
    """The URL of an audience on the site, or why there is none."""

    url: str = ""
    problem: str = ""


def current_pattern() -> str:
    return SitePattern.objects.values_list("pattern", flat=True).first() or ""


def validate_pattern(pattern: str) -> None:
    """Raise ValidationError unless the path or the query has a placeholder, and the host none."""
    if not (is_link(pattern) and _PATTERN.fullmatch(pattern) and _PLACEHOLDER.search(pattern)):
        raise ValidationError(
            "Enter an https URL with a placeholder, such as {route_key}, in its path or query. "
            "The host is fixed."
        )


def site_link(pattern: str, page_id: str, audience: Audience) -> SiteLink:
    """Fill in a pattern for an audience. Each value is percent-encoded once."""
    values = audience.to_wire() | {"pageId": page_id}
    for name in _PLACEHOLDER.findall(pattern):
        # Browsers resolve dots as path segments, encoded or not.
        if values.get(PLACEHOLDERS[name]) in (None, "", ".", ".."):
            return SiteLink(problem=f"this audience has no usable {PLACEHOLDERS[name]}")
    return SiteLink(
        _PLACEHOLDER.sub(lambda name: quote(values[PLACEHOLDERS[name[1]]], safe=""), pattern)
    )
