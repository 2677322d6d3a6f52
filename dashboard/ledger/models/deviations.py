"""Deviations of the service's responses from its specification."""

from django.db import models


class DeviationRecord(models.Model):
    """One kind of deviation at one place in the responses of one operation. Holds no values."""

    digest = models.CharField(max_length=64, unique=True)
    """Of operation, kind and place."""
    operation = models.CharField(max_length=64)
    """Its name in the spec."""
    kind = models.CharField(max_length=64)
    place = models.CharField(max_length=200)
    """A path in the response, such as `items.*.status`."""
    message = models.CharField(max_length=200)
    """A description of the first occurrence."""
    example = models.TextField()
    """The path of the latest such request, without its query."""
    count = models.PositiveBigIntegerField(default=1)
    """The number of responses."""
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        ordering = ["-last_at", "-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.operation}, {self.place}: {self.kind}"
