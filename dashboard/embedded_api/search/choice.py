"""Which way of finding texts is in use: the database says."""

from django.db import connection

from dashboard.embedded_api.search.by_grams import TABLE, ByGrams
from dashboard.embedded_api.search.by_pieces import ByPieces
from dashboard.embedded_api.search.by_text import ByText
from dashboard.embedded_api.search.found import Index


def index_in_use() -> Index:
    """Return the index of pieces on PostgreSQL, of grams on SQLite; LIKE if that has no FTS5."""
    if connection.vendor == "postgresql":
        return ByPieces()
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM sqlite_master WHERE name = %s", [TABLE])
            if cursor.fetchone():
                return ByGrams()
    return ByText()
