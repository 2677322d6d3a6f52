"""Options, files and progress bars of the commands that import data."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from dashboard.embedded_api import keys
from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Tenant


def require_embedded_api() -> None:
    """Raise CommandError if another service is in use, as nobody would see the data."""
    if not settings.EMBEDDED_API:
        raise CommandError("SERVICE_URL is set, so the built-in service is not in use: unset it.")


def add_source_arguments(parser: CommandParser, suffix: str) -> None:
    parser.add_argument("file", metavar=f"FILE{suffix}", help="the file; - is standard input")
    parser.add_argument(
        "--tenant",
        metavar="ID",
        default=DEFAULT_TENANT_ID,
        help="the tenant that will own the data (default: the one that this dashboard shows)",
    )
    parser.add_argument("--dry-run", action="store_true", help="check everything, save nothing")


def find_tenant(tenant_id: str, *, is_dry_run: bool) -> Tenant:
    """Return the tenant, creating the default one if missing. Raises CommandError."""
    if tenant := Tenant.objects.filter(id=tenant_id).first():
        return tenant
    if tenant_id == DEFAULT_TENANT_ID:
        return Tenant(id=tenant_id) if is_dry_run else keys.default_tenant()
    raise CommandError(f"No tenant has the ID {tenant_id}. /admin/ lists the tenants.")


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for `-`. Raises CommandError."""
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise CommandError(f"{name} can't be read: {error.strerror}.") from None
    with file:
        yield file


def progress_bar(*, is_quiet: bool = False) -> Progress:
    """Return a progress bar on standard error, for terminals. Its tasks have a field `done`."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]:,}"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, disable=is_quiet or not console.is_terminal)
