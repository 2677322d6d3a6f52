"""What users follow."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from dashboard.ledger.models import SavedView
from dashboard.ledger.models.saved_views import ListName


class Followed(models.Model):
    """A page, an audience of it or a saved view, that at least one user follows or followed.

    Ids are text of any length (spec), so it is joined with records by them.
    """

    page_id = models.TextField(blank=True)
    """Empty for a saved view."""
    audience_id = models.TextField(blank=True)
    """Empty for the page itself."""
    view = models.ForeignKey(SavedView, null=True, on_delete=models.CASCADE, related_name="+")
    view_query = models.TextField(blank=True)
    """The query string of the view when it was last compared."""
    snapshot = models.JSONField(default=dict)
    """Its rows as last compared, by key: see `notifications/snapshots.py`."""
    subscriptions = models.PositiveIntegerField(default=0)
    """How many the ledger had when it was last compared: a removed one leaves no change behind."""
    revision = models.PositiveIntegerField(default=0)
    """The number of changes found."""
    compare_since = models.DateTimeField()
    """It is compared again once the ledger has a change that is later."""

    class Meta:
        verbose_name_plural = "followed"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["page_id", "audience_id"],
                condition=Q(view__isnull=True),
                name="followed_once",
            ),
            models.UniqueConstraint(fields=["view"], name="view_followed_once"),
        ]

    def __str__(self) -> str:
        return self.audience_id or self.page_id or f"saved view {self.view_id}"

    @property
    def is_view(self) -> bool:
        """Whether it is a saved view: what enters or leaves it is a change of it."""
        return self.view_id is not None

    @property
    def is_activity(self) -> bool:
        """Whether it is a view of Activity: its snapshot has only what changed last."""
        return self.view is not None and self.view.list_name == ListName.ACTIVITY


class Follow(models.Model):
    """One user follows something."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    followed = models.ForeignKey(Followed, on_delete=models.CASCADE, related_name="follows")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["user", "followed"], name="one_follow_a_user")
        ]

    def __str__(self) -> str:
        return f"follow {self.pk}"
