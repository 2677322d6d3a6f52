"""What the service answers otherwise than its specification says, counted by kind."""

from django.db import models


class Difference(models.Model):
    """One kind of difference at one place of one operation's answers. No value of one is kept."""

    digest = models.CharField(max_length=64, unique=True)
    """Of operation, kind and place."""
    operation = models.CharField(max_length=64)
    """The spec's name of it."""
    kind = models.CharField(max_length=64)
    place = models.CharField(max_length=200)
    """A path in the answer, such as `items.*.status`."""
    said = models.CharField(max_length=200)
    """What was found there the first time, in words."""
    example = models.TextField()
    """The path of the request that was answered so the last time, without its query."""
    count = models.PositiveBigIntegerField(default=1)
    """In how many answers."""
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        ordering = ["-last_at", "-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.operation}, {self.place}: {self.kind}"
