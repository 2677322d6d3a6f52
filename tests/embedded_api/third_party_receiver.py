"""A webhook receiver as a third party would write it: `third_party_receiver.py PORT SECRET`.

It verifies signatures with the package of Standard Webhooks, and imports nothing from Pressroom.
It writes each verified body to standard output, one per line.
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError


class Handler(BaseHTTPRequestHandler):
    """Accepts signed requests."""

    def do_GET(self) -> None:
        self._respond(200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            Webhook(sys.argv[2]).verify(body, headers)
        except WebhookVerificationError:
            self._respond(401)
            return
        sys.stdout.write(f"{body.decode()}\n")
        sys.stdout.flush()
        self._respond(204)

    def _respond(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Log nothing: the output has only bodies."""


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
