from django.conf import settings
from django.db import models

MAX_NAME = 200


class PageDraft(models.Model):
    """The last saved input of a form to create a page. It belongs to one user."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    key = models.CharField(max_length=36)
    """Key of the form. Two open forms have two drafts."""
    operation_key = models.CharField(max_length=128, blank=True)
    """Key of the operation that begins when the form is sent."""
    name = models.CharField(max_length=MAX_NAME, blank=True)
    """The intended name of the page, to distinguish drafts."""
    fields_json = models.TextField()
    """The form's fields as ASCII JSON, which escapes NUL."""
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ["-saved_at", "-pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="one_draft_per_form_and_user")
        ]
        indexes = [models.Index(fields=["user", "-saved_at"])]

    def __str__(self) -> str:
        return f"draft of {self.name or 'a page without a name'}"
