"""The demo's own database: one demo at a time prepares it, and no other database is touched."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.files import locks
from django.core.management.base import CommandError
from django.db import connection, connections

from dashboard.web.demo.accounts import others_exist


@contextmanager
def prepared(prepare: Callable[[], None], *, fresh: bool) -> Iterator[None]:
    """Prepare the data unless another demo serves it now, and hold it while it is served.

    Several demos may serve the same data, on ports of their own: the first prepares it, the
    others wait for that. Raises CommandError where data in use is to be made anew.
    """
    with _lock_file().open("w") as file:
        is_ours = locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)
        if fresh and not is_ours:
            raise CommandError("Another demo runs on this data: stop it before --fresh.")
        if is_ours:
            prepare()
        locks.lock(file, locks.LOCK_SH)
        yield


def refuse_foreign_data(*, is_demo: bool) -> None:
    """Raise CommandError where others use this database: known passwords must not get there."""
    has_accounts = "auth_user" in connection.introspection.table_names()
    if has_accounts and not is_demo and others_exist():
        raise CommandError(
            "DATABASE_URL names a database with accounts that the demo did not make: unset it."
        )


def forget_everything() -> None:
    """Start over without a database. Raises CommandError where it is not a file."""
    if connection.vendor != "sqlite":
        raise CommandError("--fresh starts over on SQLite alone: name an empty database instead.")
    connections.close_all()
    for suffix in ("", "-wal", "-shm"):
        Path(f"{_name()}{suffix}").unlink(missing_ok=True)


def _lock_file() -> Path:
    if connection.vendor == "sqlite":
        return Path(f"{_name()}.lock")
    return Path(settings.STATIC_ROOT).parent / "demo.lock"


def _name() -> str:
    return str(connection.settings_dict["NAME"])
