"""What several models share: the base of observed objects, and an index of SQLite alone."""

from typing import Any

from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement
from django.db.models import Index, Model


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


class IndexOfSQLite(Index):
    """A covering index, created on SQLite only.

    SQLite stores a long body inside its row, so that a scan reads all of them. PostgreSQL stores
    it separately, and limits an index entry to 2,704 bytes.
    """

    def create_sql(
        self,
        model: type[Model],
        schema_editor: BaseDatabaseSchemaEditor,
        using: str = "",
        **kwargs: Any,
    ) -> Statement:
        if schema_editor.connection.vendor == "sqlite":
            return super().create_sql(model, schema_editor, using, **kwargs)
        return Statement("SELECT 1")
