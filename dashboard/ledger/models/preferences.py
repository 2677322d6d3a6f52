"""A user's preferences: appearance, times, keys and pins."""

from typing import TypeAlias

from django.conf import settings
from django.db import models

Pin: TypeAlias = tuple[str, str]
"""The ids of a page and of one of its audiences; the second is empty for the page itself."""


class Preferences(models.Model):
    """A user's preferences. Without a row, all are the defaults."""

    class Theme(models.TextChoices):
        """The colour theme."""

        COMPUTER = "", "System"
        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    class Density(models.TextChoices):
        """The spacing of rows."""

        COMPACT = "", "Compact"
        COMFORTABLE = "comfortable", "Comfortable"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preferences"
    )
    theme = models.CharField(max_length=8, choices=Theme.choices, blank=True)
    density = models.CharField(max_length=12, choices=Density.choices, blank=True)
    time_zone = models.CharField(max_length=64, blank=True)
    """A name of the IANA database; empty for the browser's own."""
    language = models.CharField(max_length=16, blank=True, default="", db_default="")
    """The format of numbers and dates, as a BCP 47 tag; empty for the browser's own."""
    keys_off = models.BooleanField(default=False)
    """Whether single-key shortcuts are off (WCAG 2.1.4)."""
    pinned = models.JSONField(default=list)
    """Pairs of ids, the latest first."""
    email = models.EmailField(blank=True, default="", db_default="")
    """Where e-mail goes in place of the account's own address; confirmed by the link sent there."""
    overview_since = models.DateTimeField(null=True)
    """The end of the visit of the overview before the last one; null if there was none."""
    overview_seen_at = models.DateTimeField(null=True)
    """When the overview was last opened."""

    class Meta:
        verbose_name_plural = "preferences"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["email"], condition=~models.Q(email=""), name="one_user_per_email"
            )
        ]

    def __str__(self) -> str:
        return f"preferences of {self.user}"

    @property
    def pins(self) -> list[Pin]:
        """The pins, the latest first."""
        return [(page_id, audience_id) for page_id, audience_id in self.pinned]
