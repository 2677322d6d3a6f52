"""The base of all records of objects read from the service."""

from django.db import models


class ObservedRecord(models.Model):
    """An object read from the service.

    `body` is its JSON as last seen, `digest` a hash of it. Ids are text of any length (spec,
    Identifier and timestamp fields), so records are joined by them, not by foreign keys.
    """

    body = models.TextField()
    digest = models.CharField(max_length=32)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    """When a change was last seen."""

    class Meta:
        abstract = True
