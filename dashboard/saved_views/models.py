"""Saved views of a list, owned by a user or the team, and default views."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from dashboard.ledger.models.operations import MAX_ACTOR_NAME

MAX_VIEW_NAME = 60
"""Characters. Source: our choice."""


class ListName(models.TextChoices):
    """A list whose state can be saved."""

    PAGES = "pages", "Pages"
    AUDIENCES = "audiences", "Audiences"
    ACTIVITY = "activity", "Activity"
    PEOPLE = "people", "People"
    WEBHOOKS = "webhooks", "Webhooks"


class SavedView(models.Model):
    """The search, filters, order, columns and density of a list, under a name.

    A view of people may hold personal data that a user typed. It always has an owner, and neither
    its name nor its query string is logged.
    """

    list_name = models.CharField(max_length=16, choices=ListName)
    name = models.CharField(max_length=MAX_VIEW_NAME)
    query = models.TextField()
    """The query string of the list: its own parameters in a fixed order, without paging."""
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="saved_views"
    )
    """The user who owns the view; None for a team view."""
    position = models.PositiveIntegerField(default=0)
    """Its place among all views of its owner, or of the team."""
    created_at = models.DateTimeField()
    created_by_name = models.CharField(max_length=MAX_ACTOR_NAME)
    changed_at = models.DateTimeField()
    changed_by_name = models.CharField(max_length=MAX_ACTOR_NAME)

    class Meta:
        ordering = ["position", "pk"]
        default_permissions = ()
        permissions = [("change_team_views", "Can change the team's saved views")]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "list_name", "name"],
                condition=Q(owner__isnull=False),
                name="one_view_per_name_and_owner",
            ),
            models.UniqueConstraint(
                fields=["list_name", "name"],
                condition=Q(owner__isnull=True),
                name="one_team_view_per_name",
            ),
            models.CheckConstraint(
                condition=~Q(list_name=ListName.PEOPLE) | Q(owner__isnull=False),
                name="views_of_people_have_an_owner",
            ),
        ]

    def __str__(self) -> str:
        # Omit the name: Django's admin would show it to a user who deletes the owner's account.
        return f"saved view {self.pk}"

    @property
    def is_team(self) -> bool:
        return self.owner_id is None


class DefaultView(models.Model):
    """The view that a list opens with: for one user, or for the team."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    """None for the team; a user's own default wins."""
    list_name = models.CharField(max_length=16, choices=ListName)
    view = models.ForeignKey(SavedView, null=True, on_delete=models.CASCADE, related_name="+")
    """None to show the whole list, even if the team has a default."""

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["user", "list_name"],
                condition=Q(user__isnull=False),
                name="one_default_view_per_user",
            ),
            models.UniqueConstraint(
                fields=["list_name"],
                condition=Q(user__isnull=True),
                name="one_default_view_of_the_team",
            ),
        ]

    def __str__(self) -> str:
        return f"default view {self.pk}"
