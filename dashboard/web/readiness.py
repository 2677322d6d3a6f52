"""Whether what the dashboard stands on is in order: database, migrations, cache."""

from django.core.cache import cache
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor

PROBE = "readiness:probe"


def database_answers() -> bool:
    """Whether the database can be reached."""
    try:
        connection.ensure_connection()
    except Error:
        return False
    return connection.is_usable()


def pending_migrations() -> int:
    """Return how many migrations the database lacks. Raises django.db.Error without a database."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def cache_keeps() -> bool:
    """Whether the cache keeps what it is given."""
    cache.set(PROBE, PROBE, timeout=10)
    return bool(cache.get(PROBE) == PROBE)
