"""Drafts: what a person typed of a page that is not created yet."""

from django.conf import settings
from django.db import models


class PageDraft(models.Model):
    """One form of a page to be created, as last typed. It belongs to one person."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    key = models.CharField(max_length=36)
    """Of the form: two forms open at once are two drafts."""
    operation_key = models.CharField(max_length=128, blank=True)
    """Of the operation that the form would begin when it is sent."""
    name = models.CharField(max_length=200, blank=True)
    """What the page is to be called, to tell drafts from each other."""
    typed = models.TextField()
    """The form's fields as JSON, all of it ASCII: a database need not be able to hold a NUL."""
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ["-saved_at", "-pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["person", "key"], name="one_draft_a_form_of_a_person")
        ]
        indexes = [models.Index(fields=["person", "-saved_at"])]

    def __str__(self) -> str:
        return f"draft of {self.name or 'a page without a name'}"
