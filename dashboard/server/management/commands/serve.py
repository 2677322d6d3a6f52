"""`manage.py serve`: the production server, after checks of settings and migrations."""

import logging
import os
import re
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.ipv6 import is_valid_ipv6_address

from dashboard.accounts.overview import unreadable_second_factors
from dashboard.server.checks import deployment_warnings, environment_warnings, start_errors
from dashboard.server.gunicorn import serve

LAST_PORT = 65_535
NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
"""A host name or an IPv4 address."""

_logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Serve the dashboard with gunicorn, after checking settings and migrations."
    # `handle` runs the checks, and reports each finding in one sentence.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        default = "default: %(default)s"
        parser.add_argument("--host", type=host, default="127.0.0.1", help=default)
        parser.add_argument("--port", type=port, default=8000, help=default)
        parser.add_argument("--processes", type=count, default=2, help=default)
        parser.add_argument("--threads", type=count, default=8, help=f"of each process; {default}")
        parser.add_argument(
            "--no-worker",
            action="store_false",
            dest="has_worker",
            help="don't run releases here: start `manage.py worker` elsewhere",
        )

    def handle(
        self,
        *,
        host: str,
        port: int,
        processes: int,
        threads: int,
        has_worker: bool,
        **options: Any,
    ) -> None:
        if errors := start_errors():
            raise CommandError(" ".join(errors))
        for warning in (*environment_warnings(), *deployment_warnings()):
            _logger.warning("%s", warning)
        if unreadable := unreadable_second_factors():
            _logger.warning(
                "Neither SECRET_KEY nor SECRET_KEY_FALLBACKS can decrypt the second factor of %s.",
                ", ".join(unreadable),
            )

        # A socket opened by systemd replaces host and port.
        is_activated = os.environ.get("LISTEN_PID") == str(os.getpid())
        where = "the socket of systemd" if is_activated else f"http://{host}:{port}/"

        def announce() -> None:
            self.stdout.write(f"Pressroom is running on {where}. Press Ctrl+C to stop.")
            # In a pipe or a file, the line would stay in the buffer until the server stops.
            self.stdout.flush()

        serve(host, port, processes, threads, has_worker=has_worker, on_ready=announce)


def count(text: str) -> int:
    """Return a number of 1 or more. Raises ArgumentTypeError, as do `port` and `host`."""
    number = _whole(text)
    if number < 1:
        raise ArgumentTypeError(f"{text} must be 1 or more")
    return number


def port(text: str) -> int:
    """Return a port. 0 is rejected: the port would differ at each start."""
    number = _whole(text)
    if not 1 <= number <= LAST_PORT:
        raise ArgumentTypeError(f"{text} must be from 1 to {LAST_PORT}")
    return number


def host(text: str) -> str:
    bare = text.removeprefix("[").removesuffix("]")
    if is_valid_ipv6_address(bare):
        return f"[{bare}]"
    if not NAME.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} must be a host name or IP address, without a port")
    return text


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} must be a whole number") from None
