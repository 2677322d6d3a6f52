"""Indexes that only one database needs."""

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement
from django.db.models import Index, Model


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
        """Return the statement that creates the index; on PostgreSQL one without effect."""
        if schema_editor.connection.vendor == "sqlite":
            return super().create_sql(model, schema_editor, using, **kwargs)
        return Statement("SELECT 1")
