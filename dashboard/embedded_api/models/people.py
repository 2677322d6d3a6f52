"""People and their search text."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.db import models

from dashboard.embedded_api.ids import ID_LENGTH, MARK_LENGTH, new_id, uuid7_now
from dashboard.embedded_api.models.tenants import Tenant
from dashboard.folding import fold

SEARCHED_FIELDS = ("name", "email", "domain", "slug", "phone_number")


def fold_for_search(text: str) -> str:
    """Return the text without case and accents; NUL, invalid in a query, becomes a space."""
    return fold(text).replace("\0", " ")


class SearchTextField(models.TextField):  # type: ignore[type-arg]  # not so at run time
    """The row's folded searched fields, one per line, so that no word spans two of them.

    Written by `save` and `bulk_create`. A text that another one contains (a domain in its email)
    is omitted.
    """

    def pre_save(self, model_instance: models.Model, add: bool) -> str:  # noqa: FBT001 (Django's)
        """Return the text for the row's present values."""
        fields = (getattr(model_instance, name) or "" for name in SEARCHED_FIELDS)
        texts = dict.fromkeys(map(fold_for_search, fields))
        contained = {a for a in texts for b in texts if a != b and a in b}
        text = "\n".join(text for text in texts if text not in contained)
        setattr(model_instance, self.attname, text)
        return text


class PersonQuerySet(models.QuerySet["Person"]):
    """Refuse updates that would leave the search text outdated."""

    def update(self, **values: Any) -> int:
        """Update the rows. Raises TypeError for a searched field, because SQL can't fold text."""
        if not values.keys().isdisjoint(SEARCHED_FIELDS) and "search_text" not in values:
            raise TypeError("The search text would no longer match: save each person instead.")
        return super().update(**values)


class Person(models.Model):
    """A person. An empty name means none; the list is ordered by name, then by id."""

    number = models.BigAutoField(primary_key=True)
    """The rowid of SQLite's search table, which must be an integer."""
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="people")
    search_text = SearchTextField(editable=False)
    """Indexed by the first migration with SQL per database, as is the order of the list.

    One of the first columns: PostgreSQL reads a row up to the last column that it needs.
    """
    person_id = models.CharField(
        "ID",
        unique=True,
        max_length=ID_LENGTH,
        default=partial(new_id, "prospect"),
        editable=False,
    )
    name = models.TextField(default="", blank=True)
    email = models.TextField(null=True, blank=True)
    domain = models.TextField(null=True, blank=True)
    slug = models.TextField(null=True, blank=True)
    phone_number = models.TextField(null=True, blank=True)
    linkedin_profile_url = models.TextField("LinkedIn profile URL", null=True, blank=True)
    created_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)
    updated_at = models.CharField(max_length=MARK_LENGTH, default=uuid7_now)

    objects = PersonQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "people"

    def __str__(self) -> str:
        return self.name or self.person_id

    def save(self, *, update_fields: Iterable[str] | None = None, **options: Any) -> None:
        """Save the person, always including the search text."""
        if update_fields is not None:
            update_fields = {*update_fields, "search_text"}
        super().save(update_fields=update_fields, **options)
