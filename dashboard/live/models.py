"""The table of open tabs."""

from django.conf import settings
from django.db import models


class Doing(models.TextChoices):
    """What a user does at a place; the most telling first."""

    PUBLISHING = "publishing"
    ROLLING_BACK = "rolling_back"
    REVIEWING = "reviewing"
    VIEWING = "viewing"


class Presence(models.Model):
    """A tab, and what it reported last. Without an index besides: the table has open tabs only."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    tab = models.CharField(max_length=36, unique=True)
    """A random id of the browser's."""
    place = models.TextField()
    """`audience:PAGE:AUD`, `publish:PAGE:AUD`, `release:ID`, `request:ID`: ids percent-encoded."""
    doing = models.CharField(max_length=16, choices=Doing)
    version_number = models.BigIntegerField(null=True)
    """Of what is published or rolled back to."""
    is_idle = models.BooleanField(default=False)
    """Without input for five minutes, or behind another tab."""
    seen_at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"a tab at {self.place}"
