"""The demo's database: locked while it is prepared, and refused if it belongs to others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files import locks
from django.core.management.base import CommandError
from django.db import connection, connections

from config.environment import create_private
from dashboard.demo.load import GROUPS


@contextmanager
def prepared_database(prepare: Callable[[], None], *, fresh: bool) -> Iterator[None]:
    """Prepare the data unless another demo serves it, and hold a shared lock meanwhile.

    Several demos may serve the same data on different ports: the first prepares it, the others
    wait. Raises CommandError for `fresh` if another demo uses the data.
    """
    lock = Path(settings.STATIC_ROOT).parent / "demo.lock"
    if connection.vendor == "sqlite":
        lock = Path(f"{connection.settings_dict['NAME']}.lock")
    with lock.open("w") as file:
        is_ours = locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)
        if fresh and not is_ours:
            raise CommandError("Another demo is using this data: stop it before --fresh.")
        if is_ours:
            prepare()
        locks.lock(file, locks.LOCK_SH)
        yield


def has_demo_accounts() -> bool:
    """Whether the demo made accounts here; others may have been added since."""
    has_accounts = "auth_user" in connection.introspection.table_names()
    return has_accounts and User.objects.filter(username__in=GROUPS).exists()


def refuse_other_accounts(*, is_demo: bool) -> None:
    """Raise CommandError if the database has other accounts: our passwords are public."""
    has_accounts = "auth_user" in connection.introspection.table_names()
    if has_accounts and not is_demo and User.objects.exclude(username__in=GROUPS).exists():
        raise CommandError(
            "DATABASE_URL names a database with accounts that the demo did not create: unset it."
        )


def delete_database() -> None:
    """Delete the database. Raises CommandError unless it is SQLite."""
    if connection.vendor != "sqlite":
        raise CommandError("--fresh only works with SQLite: use an empty database instead.")
    connections.close_all()
    name = connection.settings_dict["NAME"]
    for suffix in ("", "-wal", "-shm"):
        Path(f"{name}{suffix}").unlink(missing_ok=True)
    create_private(Path(name))
