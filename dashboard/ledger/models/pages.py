"""Pages as last seen, the list's total count, and drafts of new pages."""

from django.conf import settings
from django.db import models

from dashboard.contract.pages import PageItem, PageStatus
from dashboard.folding import fold
from dashboard.ledger.models.base import IndexOfSQLite, ObservedRecord

FLAG_COLUMNS = ("any_live", "any_not_live", "any_changed", "any_in_flight")
"""The columns of a page's audience flags."""


class PageRecord(ObservedRecord):
    """A page as last seen, with columns to search, filter and sort by."""

    page_id = models.TextField(unique=True)
    name = models.TextField()
    title = models.TextField()
    status = models.TextField(blank=True)
    """Empty if no response ever had it."""
    page_type = models.TextField(blank=True)
    brand_id = models.TextField()
    audiences_count = models.BigIntegerField()
    audiences_count_read = models.BigIntegerField(null=True)
    """`audiences_count` when its audiences were last read; null if they never were. They are read
    again once the two differ."""
    created_at = models.DateTimeField(null=True)
    """Parsed from the service's text; null if it is no date."""
    updated_at = models.DateTimeField(null=True)
    searched = models.TextField(default="", db_default="")
    """The text that searches match (`page_search_text`)."""
    any_live = models.BooleanField(default=False, db_default=False)
    """Whether any of its audiences has this flag (AUDIENCE_FLAGS); likewise the next three."""
    any_not_live = models.BooleanField(default=False, db_default=False)
    any_changed = models.BooleanField(default=False, db_default=False)
    any_in_flight = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            # The default order of the list: only the shown rows are read.
            models.Index(fields=["-updated_at", "-id"]),
            models.Index(fields=["name"]),
            # A covering index for counts: the bodies stay unread.
            models.Index(
                fields=[
                    "status",
                    "page_type",
                    "last_seen_at",
                    "first_seen_at",
                    "changed_at",
                    "audiences_count",
                ]
            ),
            # Counts per status and type, needed by every page list: short enough for SQLite's
            # page cache of each thread.
            models.Index(fields=["status", "page_type"]),
            # All columns that filter the list.
            IndexOfSQLite(
                name="pages_narrowed",
                fields=["status", "page_type", "searched", *FLAG_COLUMNS],
            ),
            models.Index(fields=["last_seen_at"]),
            # The pages whose audiences are still to be read.
            models.Index(fields=["audiences_count_read", "audiences_count"]),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_archived(self) -> bool:
        """Whether its last seen status is `archived`."""
        return self.status == PageStatus.ARCHIVED

    @property
    def page(self) -> PageItem:
        """The page as last seen."""
        return parse_page(self.body)


def page_search_text(page: PageItem) -> str:
    """Return the folded text that searches match, one field per line."""
    return fold("\n".join((page.name, page.title, page.page_id, page.page_type or "")))


def parse_page(body: str) -> PageItem:
    """Return the page stored in a record's body."""
    return PageItem.from_json(body)


class ListTotal(models.Model):
    """The last total count of a list at the service, to compute the coverage."""

    list_name = models.CharField(max_length=32, primary_key=True)
    total_count = models.BigIntegerField()
    seen_at = models.DateTimeField()
    """When this total was first seen."""

    def __str__(self) -> str:
        return f"{self.list_name}: {self.total_count}"


class PageDraft(models.Model):
    """The last saved input of a form to create a page. It belongs to one user."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    key = models.CharField(max_length=36)
    """Of the form: two open forms have two drafts."""
    operation_key = models.CharField(max_length=128, blank=True)
    """Of the operation that the form will begin when it is sent."""
    name = models.CharField(max_length=200, blank=True)
    """The intended name of the page, to distinguish drafts."""
    typed = models.TextField()
    """The form's fields as ASCII JSON, in which a NUL is escaped."""
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
