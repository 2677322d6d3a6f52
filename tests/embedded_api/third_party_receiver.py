"""A receiver of webhooks as someone else would write it: `third_party_receiver.py PORT SECRET`.

It verifies signatures by the package of Standard Webhooks, and imports nothing of Pressroom. Each
verified body is written to standard output, a line each.
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError


class Handler(BaseHTTPRequestHandler):
    """Accept what is signed."""

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
        """Write bodies only."""


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
