"""`manage.py serve`: the production server, after a look at settings and migrations."""

import logging
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.web.server_options import count, host, port
from dashboard.web.serving import deployment_warnings, reasons_not_to_start, serve

_logger = logging.getLogger(__name__)


class Command(BaseCommand):
    """Start the production server on `config.wsgi`."""

    help = "Serve the dashboard with gunicorn, after checking settings and migrations."
    # Done below, so that each finding is one sentence and not a traceback.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the address and the size of the server."""
        parser.add_argument("--host", type=host, default="127.0.0.1")
        parser.add_argument("--port", type=port, default=8000)
        parser.add_argument("--processes", type=count, default=2)
        parser.add_argument("--threads", type=count, default=8, help="of each process")

    def handle(self, *, host: str, port: int, processes: int, threads: int, **options: Any) -> None:
        """Refuse to start on what would fail later; warn of what is merely unwise."""
        if reasons := reasons_not_to_start():
            raise CommandError(" ".join(reasons))
        for warning in deployment_warnings():
            _logger.warning("%s", warning)

        def announce() -> None:
            self.stdout.write(f"Pressroom answers on http://{host}:{port}/ until Ctrl+C.")
            # Where this is no terminal, the line would stay here for as long as the server runs.
            self.stdout.flush()

        serve(host, port, processes, threads, when_ready=announce)
