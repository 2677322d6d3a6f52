"""The tables of reviews: frozen lists, decisions on versions, and verdicts on changes.

Ids of the service are text of any length (spec). Rows refer to audiences by these ids.
"""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q

from dashboard.ledger.models.operations import MAX_ACTOR_NAME

MAX_KEYS = 1_000
"""Maximum number of audiences in a review. Source: our choice."""
MAX_REASON = 2_000
"""Maximum length in characters."""


def new_tab() -> str:
    return secrets.token_hex(16)


class AssignedTo(models.TextChoices):
    """Narrows a review by assignee."""

    ANYONE = "", "Everyone"
    VIEWER = "me", "You"
    UNASSIGNED = "none", "Nobody"


class ReviewRun(models.Model):
    """A review: a list of audiences as it was when the review began. Its order never changes."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="review_runs"
    )
    form_key = models.CharField(max_length=64, unique=True, default=new_tab)
    """The key of the form that began it."""
    tab = models.CharField(max_length=36, unique=True, default=new_tab)
    """The presence tab of its claims. A review claims one audience at a time."""
    title = models.CharField(max_length=200)
    query = models.TextField(blank=True)
    """The query string of the list of audiences."""
    matches = models.PositiveIntegerField()
    """The number of audiences in the list. It may exceed MAX_KEYS."""
    keys = models.JSONField()
    """`[[page_id, audience_id], …]`, in order."""
    assigned_to = models.CharField(max_length=4, choices=AssignedTo, blank=True)
    position = models.PositiveIntegerField(default=1)
    """The number of the item that was shown last, starting at 1."""
    release = models.ForeignKey(
        "releases.Release", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """The draft to which versions are added; null before the first."""
    created_at = models.DateTimeField()
    active_at = models.DateTimeField()

    class Meta:
        ordering = ["-active_at", "-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"review {self.pk}"


class DecisionKind(models.TextChoices):
    RELEASE = "release", "In a release"
    NEEDS_WORK = "needs_work", "Needs work"
    REJECTED = "rejected", "Rejected"
    LATER = "later", "Later"
    SKIPPED = "skipped", "Skipped"


class ReviewDecision(models.Model):
    """A person's decision on a version in a review. It holds until the text changes.

    Publishes and approval requests are recorded elsewhere.
    """

    run = models.ForeignKey(ReviewRun, null=True, on_delete=models.SET_NULL)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    user_name = models.CharField(max_length=MAX_ACTOR_NAME)
    page_id = models.TextField()
    audience_id = models.TextField()
    audience_name = models.TextField()
    version_id = models.TextField()
    version_number = models.BigIntegerField()
    text_digest = models.CharField(max_length=64)
    """A hash of the version and its text."""
    record_digest = models.CharField(max_length=32)
    """The digest of the audience's record. While it is the same, the text is, too."""
    basis_digest = models.CharField(max_length=64)
    """The digest of what the form showed. One form makes one decision."""
    kind = models.CharField(max_length=16, choices=DecisionKind)
    at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    is_for_team = models.BooleanField(default=False)
    """LATER: whether it is put off for everybody."""
    until = models.DateTimeField(null=True)
    """LATER: when it comes back; null if it comes back when its text changes."""
    time_zone = models.CharField(max_length=64, blank=True)
    until_as_typed = models.CharField(max_length=40, blank=True)
    release_item = models.ForeignKey(
        "releases.ReleaseItem", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """RELEASE: the item that was added."""
    comment_id = models.BigIntegerField(null=True)
    """NEEDS_WORK: the comment."""
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """NEEDS_WORK: the user to whom it assigned the audience, if any."""
    assignee_before = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """NEEDS_WORK: the assignee that `assignee` replaced."""

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["run", "basis_digest", "kind"],
                condition=Q(undone_at=None),
                name="one_decision_a_form",
            )
        ]
        indexes = [
            models.Index(fields=["page_id", "audience_id", "-at"]),
            models.Index(fields=["-at"]),
        ]

    def __str__(self) -> str:
        return f"{self.kind}, version {self.version_number} of {self.audience_id}"

    @property
    def is_shared(self) -> bool:
        """Whether it applies to everybody. A skip, or a later without the team, doesn't."""
        is_own = self.kind == DecisionKind.SKIPPED or (
            self.kind == DecisionKind.LATER and not self.is_for_team
        )
        return not is_own


class VerdictKind(models.TextChoices):
    ACCEPTED = "accepted", "Accepted"
    REJECTED = "rejected", "Rejected"


class ChangeVerdict(models.Model):
    """A person's verdict on one pending change. Only digests of its texts are stored."""

    page_id = models.TextField()
    audience_id = models.TextField()
    change_key = models.TextField()
    """The id of the change, or a hash of its texts if it has none."""
    text_digest = models.CharField(max_length=64)
    """A hash of the old and the new text. If it differs, the verdict is outdated."""
    new_digest = models.CharField(max_length=64, blank=True)
    new_words = models.PositiveIntegerField()
    """The number of words in the new text, to find it within a version; see `appears_in`."""
    verdict = models.CharField(max_length=16, choices=VerdictKind)
    note = models.TextField(blank=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    user_name = models.CharField(max_length=MAX_ACTOR_NAME)
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["page_id", "audience_id", "change_key"], name="one_verdict_a_change"
            )
        ]

    def __str__(self) -> str:
        return f"{self.verdict}: a change of {self.audience_id}"
