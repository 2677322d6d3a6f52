"""What every record of something seen has in common."""

from django.db import models


class SeenRecord(models.Model):
    """Something seen in an answer of the service.

    `body` is the JSON as last seen, `digest` tells whether it changed. Ids are text of any
    length (spec, Identifier and timestamp fields), so records are joined by them, not by keys.
    """

    body = models.TextField()
    digest = models.CharField(max_length=32)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    """When it was last seen to differ from the time before."""

    class Meta:
        abstract = True
