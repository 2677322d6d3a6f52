"""Pages as last seen, and how many the service says there are."""

from functools import lru_cache

from django.db import models

from dashboard.contract.pages import PageItem
from dashboard.ledger.models.indexes import IndexOfSQLite
from dashboard.ledger.models.seen import SeenRecord

STANDS = ("any_live", "any_not_live", "any_changed", "any_in_flight")
"""The columns that say how a page's audiences stand."""


class PageRecord(SeenRecord):
    """A page as last seen. Columns repeat what is searched, filtered and sorted by."""

    page_id = models.TextField(unique=True)
    name = models.TextField()
    title = models.TextField()
    status = models.TextField(blank=True)
    """Empty where no answer ever carried it."""
    page_type = models.TextField(blank=True)
    brand_id = models.TextField()
    audiences_count = models.BigIntegerField()
    created_at = models.DateTimeField(null=True)
    """The moment in the service's date text, where it names one."""
    updated_at = models.DateTimeField(null=True)
    searched = models.TextField(default="", db_default="")
    """Where words are looked for (`searched_in`)."""
    any_live = models.BooleanField(default=False, db_default=False)
    """Whether one of its audiences stands so (STANDINGS), as last seen; so are the next three."""
    any_not_live = models.BooleanField(default=False, db_default=False)
    any_changed = models.BooleanField(default=False, db_default=False)
    any_in_flight = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            # The whole order of the list at first: reading ends with the part that is shown.
            models.Index(fields=["-updated_at", "-id"]),
            models.Index(fields=["name"]),
            # All that is counted of pages, without their bodies.
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
            # How many there are of each, as every look at the list tells: as short as can be, to
            # be read from what SQLite keeps in memory for each thread.
            models.Index(fields=["status", "page_type"]),
            # All that the list is narrowed by.
            IndexOfSQLite(
                name="pages_narrowed",
                fields=["status", "page_type", "searched", *STANDS],
            ),
            models.Index(fields=["last_seen_at"]),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def page(self) -> PageItem:
        """The page as last seen."""
        return page_in(self.body)


def searched_in(page: PageItem) -> str:
    """Return where words are looked for, a line for each field: no word goes on in the next."""
    return "\n".join((page.name, page.title, page.page_id, page.page_type or ""))


@lru_cache(maxsize=200)  # a list is looked at again and again
def page_in(body: str) -> PageItem:
    """Return the page that a record's body holds."""
    return PageItem.model_validate_json(body)


class ListTotal(models.Model):
    """The total a list of the service last gave, to say how much of it is known."""

    list_name = models.CharField(max_length=32, primary_key=True)
    total_count = models.BigIntegerField()
    seen_at = models.DateTimeField()
    """When the list was first seen to give it."""

    def __str__(self) -> str:
        return f"{self.list_name}: {self.total_count}"
