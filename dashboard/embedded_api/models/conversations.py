"""The conversation in which an agent wrote an audience."""

from django.db import models

from dashboard.embedded_api.marks import MARK_LENGTH, mark_now
from dashboard.embedded_api.models.audiences import Audience
from dashboard.embedded_api.models.fields import id_column


class Conversation(models.Model):
    """A conversation. Its context is not kept: it is what is true now of the audience and page.

    `messages` and `pending_changes` are lists of the wire's Message and Change objects.
    """

    id = id_column("conv")
    audience = models.OneToOneField(Audience, models.CASCADE, related_name="conversation")
    messages = models.JSONField(default=list)
    pending_changes = models.JSONField(default=list)
    published_message_id = models.TextField(null=True)
    created_at = models.CharField(max_length=MARK_LENGTH, default=mark_now)
    updated_at = models.CharField(max_length=MARK_LENGTH, default=mark_now)

    def __str__(self) -> str:
        return self.id
