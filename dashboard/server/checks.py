"""Checks of the installation, for `manage.py check --deploy` and before `serve` starts."""

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
    """Warn if every account can read the SQLite file, which has password hashes and sessions."""
    if connection.vendor != "sqlite":
        return []
    path = Path(connection.settings_dict["NAME"])
    is_readable = path.is_file() and path.stat().st_mode & stat.S_IROTH
    if not is_readable or not path.parent.stat().st_mode & stat.S_IXOTH:
        return []
    message = (
        f"Every account on this machine can read {path}: run `chmod o-rwx` on it and its folder."
    )
    return [checks.Warning(message, id="pressroom.W001")]


@checks.register(checks.Tags.security, deploy=True)
def development_variables_are_off(**kwargs: Any) -> list[checks.CheckMessage]:
    if not settings.WEBHOOKS_TO_LOOPBACK:
        return []
    message = (
        "WEBHOOKS_TO_LOOPBACK is on, which is for development: anyone who adds a webhook can reach "
        "services of this machine"
    )
    return [checks.Warning(message, id="pressroom.W002")]


def start_errors() -> list[str]:
    errors = [str(message.msg) for message in checks.run_checks() if message.is_serious()]
    try:
        if pending := pending_migrations():
            errors.append(f"Migrations are not applied ({pending}): run `manage.py migrate` first.")
    except Error as error:
        # A driver's message may have several lines.
        message = " ".join(str(error).split())
        errors.append(f"DATABASE_URL: the database does not respond ({message}).")
    return errors


def deployment_warnings() -> list[str]:
    """Return the first sentence of each warning from `manage.py check --deploy`."""
    messages = checks.run_checks(include_deployment_checks=True)
    return [f"{warning.msg.split('. ')[0].rstrip('.')} ({warning.id})." for warning in messages]


def environment_warnings() -> list[str]:
    """Return likely mistakes in the environment, each in one sentence."""
    warnings = [
        f"{name} is not a Pressroom variable and has no effect. Did you mean {ours}?"
        for name, ours in misspelt_variables().items()
    ]
    if "*" in settings.ALLOWED_HOSTS:
        warnings.append("ALLOWED_HOSTS: * allows any host: list the dashboard's own.")
    if not cache_is_working():
        warnings.append(
            "CACHE_URL: the cache does not respond; pages are slower until it does, and "
            "/health/ready returns 503."
        )
    return warnings
