"""System checks, for `manage.py check --deploy` and the start of `serve`."""

import stat
from pathlib import Path
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register  # noqa: A004  # its name
from django.db import connection


@register(Tags.security, deploy=True)
def database_file_is_private(**kwargs: Any) -> list[CheckMessage]:
    """Warn if all accounts may read the SQLite file, with its password hashes and sessions."""
    if connection.vendor != "sqlite":
        return []
    path = Path(connection.settings_dict["NAME"])
    if not path.is_file():
        return []
    is_readable = path.stat().st_mode & stat.S_IROTH
    is_reachable = path.parent.stat().st_mode & stat.S_IXOTH
    if not (is_readable and is_reachable):
        return []
    said = f"Every account of this machine may read {path}: run `chmod o-rwx` on it and its folder."
    return [Warning(said, id="pressroom.W001")]
