"""Indexes that one database needs and the other does not."""

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement
from django.db.models import Index, Model


class IndexOfSQLite(Index):
    """An index that is read in the table's place. SQLite alone has it.

    SQLite keeps a long body inside its row, and a scan reads past all of them. PostgreSQL keeps
    it apart, and takes no more than 2,704 bytes of texts into an index.
    """

    def create_sql(
        self,
        model: type[Model],
        schema_editor: BaseDatabaseSchemaEditor,
        using: str = "",
        **kwargs: Any,
    ) -> Statement:
        """Return the statement that makes the index; elsewhere one that makes nothing."""
        if schema_editor.connection.vendor == "sqlite":
            return super().create_sql(model, schema_editor, using, **kwargs)
        return Statement("SELECT 1")
