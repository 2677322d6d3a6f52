"""How one person likes it: looks, times, keys, and what is pinned."""

from typing import TypeAlias

from django.conf import settings
from django.db import models

Pin: TypeAlias = tuple[str, str]
"""The ids of a page and of one of its audiences; the second is empty for the page itself."""


class Preferences(models.Model):
    """One person's own settings. Without a row, all of it is as delivered."""

    class Theme(models.TextChoices):
        """Light or dark."""

        COMPUTER = "", "Same as this computer"
        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    class Density(models.TextChoices):
        """How much stands on a screen."""

        COMPACT = "", "Compact"
        COMFORTABLE = "comfortable", "Comfortable"

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preferences"
    )
    theme = models.CharField(max_length=8, choices=Theme.choices, blank=True)
    density = models.CharField(max_length=12, choices=Density.choices, blank=True)
    time_zone = models.CharField(max_length=64, blank=True)
    """A name of the IANA database; empty for the browser's own."""
    language = models.CharField(max_length=16, blank=True, default="", db_default="")
    """Whose numbers and dates to write, by its BCP 47 name; empty for the browser's own."""
    keys_off = models.BooleanField(default=False)
    """Whether single keys do nothing (WCAG 2.1.4)."""
    pinned = models.JSONField(default=list)
    """Pairs of ids, the one pinned last first."""

    class Meta:
        verbose_name_plural = "preferences"
        default_permissions = ()

    def __str__(self) -> str:
        return f"preferences of {self.person}"

    @property
    def pins(self) -> list[Pin]:
        """What is pinned, the last first."""
        return [(page_id, audience_id) for page_id, audience_id in self.pinned]
