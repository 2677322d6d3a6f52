"""Call the embedded API from the dashboard's client in the same process.

Two alternatives don't work. A call over TCP blocks if there is only one worker. Django's own WSGI
handler sends request signals, which close the outer request's database connection, and it resets
the script prefix.
"""

from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

import httpx
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, get_urlconf, resolve, set_urlconf

from dashboard.embedded_api.keys import internal_key
from dashboard.work.tasks import close_lost_connections

EMBEDDED_BASE_URL = "http://embedded.invalid"
"""A reserved host name, so that a request that reaches the network by mistake fails."""
_URLCONF = "dashboard.embedded_api.urls"
_UNPREFIXED = {"CONTENT_TYPE", "CONTENT_LENGTH"}


class InProcessHandler(BaseHandler):
    def __init__(self) -> None:
        super().__init__()
        # Middleware belongs to the dashboard's pages, not to the service.
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        view: Any = self._get_response  # type: ignore[attr-defined]  # the stubs leave it out
        self._middleware_chain = convert_exception_to_response(view)

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        request.resolver_match = resolve(request.path_info, urlconf=_URLCONF)
        return request.resolver_match

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle the request. Don't close the response: that would close the outer connection."""
        outer_urlconf = get_urlconf()
        try:
            return self.get_response(request)
        finally:
            set_urlconf(outer_urlconf)


class EmbeddedTransport(httpx.BaseTransport):
    def __init__(self) -> None:
        self._handler = InProcessHandler()

    @classmethod
    def for_dashboard(cls) -> "tuple[str, str, EmbeddedTransport]":
        """Return the base URL, the key and the transport for the dashboard's client."""
        return EMBEDDED_BASE_URL, internal_key(), cls()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Handle a request in the caller's thread, connection and transaction."""
        path, _, query = request.url.raw_path.partition(b"?")
        environ = {
            "REQUEST_METHOD": request.method,
            # Decode once, like a server.
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query.decode("latin-1"),
            "SERVER_NAME": request.url.host,
            "SERVER_PORT": str(request.url.port or 80),
            "wsgi.url_scheme": request.url.scheme,
            "wsgi.input": BytesIO(request.read()),
        }
        for header, value in request.headers.items():
            name = header.upper().replace("-", "_")
            environ[name if name in _UNPREFIXED else f"HTTP_{name}"] = value
        response = self._handler(WSGIRequest(environ))
        if response.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
            close_lost_connections()
        content = b"".join(response)
        return httpx.Response(response.status_code, headers=list(response.items()), content=content)
