"""The table of open tabs."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class Doing(models.TextChoices):
    """What a user does at a place, the most informative first."""

    PUBLISHING = "publishing"
    ROLLING_BACK = "rolling_back"
    DECIDING = "deciding"
    """Deciding in a review. While the claim lasts, others are offered something else."""
    REVIEWING = "reviewing"
    VIEWING = "viewing"


class Presence(models.Model):
    """An open tab and its last report. The table is small, so it has no further indexes."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    tab = models.CharField(max_length=36, unique=True)
    """Random id made by the browser."""
    place = models.TextField()
    """`audience:PAGE:AUD`, `publish:PAGE:AUD`, `release:ID`, `request:ID`: ids percent-encoded."""
    doing = models.CharField(max_length=16, choices=Doing)
    version_number = models.BigIntegerField(null=True)
    """Number of the version that is being published or rolled back to."""
    is_idle = models.BooleanField(default=False)
    """Whether the tab had no input for five minutes, or is hidden."""
    seen_at = models.DateTimeField()
    claimed_until = models.DateTimeField(null=True)
    """End of the tab's claim to decide at the place; null if it has none."""

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["place"], condition=Q(claimed_until__isnull=False), name="one_claim_a_place"
            )
        ]

    def __str__(self) -> str:
        return f"a tab at {self.place}"
