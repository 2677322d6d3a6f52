"""Errors that prevent `serve` from starting, and its warnings."""

from django.conf import settings
from django.core import checks
from django.db import Error

from config.environment import misspelt_variables
from dashboard.server.views import cache_is_working, pending_migrations


def start_errors() -> list[str]:
    """Return the errors that prevent a start, each in one sentence."""
    errors = [str(found.msg) for found in checks.run_checks() if found.is_serious()]
    return [*errors, *_database_errors()]


def _database_errors() -> list[str]:
    try:
        pending = pending_migrations()
    except Error as error:
        # Drivers write several lines.
        return [f"DATABASE_URL: the database does not answer ({' '.join(str(error).split())})."]
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
        f"{name} is no variable of Pressroom and does nothing: {ours} was probably meant."
        for name, ours in misspelt_variables().items()
    ]
    if "*" in settings.ALLOWED_HOSTS:
        found.append("ALLOWED_HOSTS: * lets a request name any host: name the dashboard's own.")
    if not cache_is_working():
        found.append(
            "CACHE_URL: the cache does not respond; pages are slower until it does, and "
            "/health/ready answers 503."
        )
    return found
