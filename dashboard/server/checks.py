"""Checks of the installation: for `manage.py check --deploy`, and before `serve` starts."""

import stat
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import Error, connection

from config.environment import misspelt_variables
from dashboard.server.views import cache_is_working, pending_migrations


@checks.register(checks.Tags.security, deploy=True)
def database_file_is_private(**kwargs: Any) -> list[checks.CheckMessage]:
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
    message = (
        f"Every account on this machine can read {path}: run `chmod o-rwx` on it and its folder."
    )
    return [checks.Warning(message, id="pressroom.W001")]


def start_errors() -> list[str]:
    """Return the errors that prevent a start, each in one sentence."""
    errors = [str(found.msg) for found in checks.run_checks() if found.is_serious()]
    return [*errors, *_database_errors()]


def _database_errors() -> list[str]:
    try:
        pending = pending_migrations()
    except Error as error:
        # Drivers write several lines.
        return [f"DATABASE_URL: the database does not respond ({' '.join(str(error).split())})."]
    if pending:
        return [f"Migrations are not applied ({pending}): run `manage.py migrate` first."]
    return []


def deployment_warnings() -> list[str]:
    """Return the first sentence of each warning of `manage.py check --deploy`."""
    found = checks.run_checks(include_deployment_checks=True)
    return [f"{warning.msg.split('. ')[0].rstrip('.')} ({warning.id})." for warning in found]


def environment_warnings() -> list[str]:
    """Return likely mistakes in the environment, each in one sentence."""
    found = [
        f"{name} is not a Pressroom variable and has no effect. Did you mean {ours}?"
        for name, ours in misspelt_variables().items()
    ]
    if "*" in settings.ALLOWED_HOSTS:
        found.append("ALLOWED_HOSTS: * allows any host: list the dashboard's own.")
    if not cache_is_working():
        found.append(
            "CACHE_URL: the cache does not respond; pages are slower until it does, and "
            "/health/ready returns 503."
        )
    return found
