"""People and their search text, with a fast bulk insert."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from django.db import connection, models

from dashboard.embedded_api.ids import ID_LENGTH, MARK_LENGTH, new_id, uuid7_now
from dashboard.embedded_api.models.tenants import Tenant
from dashboard.texts import fold

SEARCHED_FIELDS = ("name", "email", "domain", "slug", "phone_number")


def fold_for_search(text: str) -> str:
    """Return the text without case and accents. NUL, which is invalid in SQL, becomes a space."""
    return fold(text).replace("\0", " ")


class SearchTextField(models.TextField):  # type: ignore[type-arg]  # not so at run time
    """The row's searched fields, folded, one on each line so that no word spans two fields.

    `save` and `bulk_create` write it. A text that another one contains, such as a domain in an
    email, is left out.
    """

    def pre_save(self, model_instance: models.Model, add: bool) -> str:  # noqa: FBT001 (Django's)
        fields = (getattr(model_instance, name) or "" for name in SEARCHED_FIELDS)
        texts = dict.fromkeys(map(fold_for_search, fields))
        contained = {a for a in texts for b in texts if a != b and a in b}
        text = "\n".join(text for text in texts if text not in contained)
        setattr(model_instance, self.attname, text)
        return text


class PersonQuerySet(models.QuerySet["Person"]):
    """Refuses updates that would leave the search text outdated."""

    def update(self, **values: Any) -> int:
        """Update the rows. Raises TypeError for a searched field, as SQL can't fold text."""
        if not values.keys().isdisjoint(SEARCHED_FIELDS) and "search_text" not in values:
            raise TypeError("The search text would no longer match: save each person instead.")
        return super().update(**values)


class Person(models.Model):
    """A person. An empty name means no name. The list is ordered by name, then by id."""

    number = models.BigAutoField(primary_key=True)
    """Rowid of SQLite's search table, which must be an integer."""
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="people")
    search_text = SearchTextField(editable=False)
    """Folded text of the searched fields. The first migration indexes it with SQL per database.

    It is one of the first columns, as PostgreSQL reads a row up to the last column that it needs.
    """
    person_id = models.CharField(
        "ID", unique=True, max_length=ID_LENGTH, default=partial(new_id, "prospect"), editable=False
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
        if update_fields is not None:
            update_fields = {*update_fields, "search_text"}
        super().save(update_fields=update_fields, **options)


_ROWS_PER_INSERT = 1_000
"""SQLite limits the values in a statement, and FTS5 updates its index after each statement."""


def gather_trigrams() -> None:
    """Make PostgreSQL gather the trigrams of many people before writing them.

    It saves a third of the time for a million people. Applies until the end of the transaction.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL work_mem = '256MB'")
            cursor.execute("SET LOCAL gin_pending_list_limit = '256MB'")


def write_trigrams() -> None:
    """Write the trigrams that PostgreSQL gathered, and update statistics for the first searches."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # Without the extension there is no index, and to_regclass is null.
            index = "to_regclass('embedded_api_person_trigrams')"
            cursor.execute(f"SELECT gin_clean_pending_list({index})")
            cursor.execute("ANALYZE embedded_api_person")


def bulk_insert(rows: Sequence[Person]) -> None:
    """Insert new people. For a million, this is twice as fast as `bulk_create`."""
    fields = [field for field in Person._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    target = f'"{Person._meta.db_table}" ({columns})'
    values = [[field.pre_save(row, add=True) for field in fields] for row in rows]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copying = cursor.copy(f"COPY {target} FROM STDIN")
            with connection.wrap_database_errors, copying as copy:
                for row in values:
                    copy.write_row(row)
            return
        placeholders = f"({', '.join(['%s'] * len(fields))})"
        for start in range(0, len(values), _ROWS_PER_INSERT):
            batch = values[start : start + _ROWS_PER_INSERT]
            lists = ", ".join([placeholders] * len(batch))
            cursor.execute(f"INSERT INTO {target} VALUES {lists}", [*chain(*batch)])  # noqa: S608
