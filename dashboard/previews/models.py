"""The URL pattern of the site that shows the pages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from django.db import models

from dashboard.contract.audiences import Audience
from dashboard.previews.content import opens

MAX_PATTERN = 500
"""Maximum length in characters."""
PLACEHOLDERS = {
    "route_key": "prospectRouteKey of the audience",
    "prospect_id": "prospectId of the audience",
    "audience_id": "audienceId",
    "page_id": "pageId",
}
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


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


@dataclass(frozen=True)
class SiteLink:
    """The URL of an audience on the site, or why there is none."""

    url: str = ""
    problem: str = ""


def current_pattern() -> str:
    return SitePattern.objects.values_list("pattern", flat=True).first() or ""


def pattern_problem(pattern: str) -> str:
    """Return what is wrong with a pattern; "" if nothing is.

    The host is fixed: placeholders are allowed in the path and the query only.
    """
    if len(pattern) > MAX_PATTERN:
        return f"Enter at most {MAX_PATTERN} characters."
    names = _PLACEHOLDER.findall(pattern)
    sample = _PLACEHOLDER.sub("x", pattern)
    if not pattern.startswith("https://") or not opens(sample) or "{" in sample or "}" in sample:
        return "Enter a URL that begins with https://, with placeholders such as {route_key}."
    if unknown := [name for name in names if name not in PLACEHOLDERS]:
        return f"There is no placeholder {{{unknown[0]}}}."
    host, *_ = re.split("[/?#]", pattern[8:], maxsplit=1)
    if "{" in host or "@" in host or "#" in pattern:
        return "Placeholders can be in the path and the query only; the host is fixed."
    return "" if names else "Add a placeholder, or every audience has the same link."


def site_link(pattern: str, page_id: str, audience: Audience) -> SiteLink:
    """Fill in a pattern for an audience. Each value is percent-encoded once."""
    values: Mapping[str, str | None] = {
        "route_key": audience.prospect_route_key,
        "prospect_id": audience.prospect_id,
        "audience_id": audience.audience_id,
        "page_id": page_id,
    }
    for name in _PLACEHOLDER.findall(pattern):
        value = values.get(name)
        if not value:
            return SiteLink(problem=f"this audience has no {PLACEHOLDERS[name].split()[0]}")
        if value in (".", ".."):
            # Browsers resolve these as path segments, encoded or not.
            return SiteLink(problem=f"its {PLACEHOLDERS[name].split()[0]} can’t be part of a URL")
    return SiteLink(_PLACEHOLDER.sub(lambda match: quote(values[match[1]] or "", safe=""), pattern))
