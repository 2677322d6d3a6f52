"""A page of the dashboard in a user's browser, and the service behind it."""

from typing import Any
from urllib.parse import urljoin

from django.test import Client

from tests.support.fake_service import FakeService
from tests.support.html import text


class ServicePage:
    """The page at a URL; each request may add a query string or path."""

    def __init__(self, client: Client, service: FakeService, url: str) -> None:
        self.client, self.service, self.url = client, service, url

    @property
    def paths(self) -> list[str]:
        """Paths that were requested from the service, in order."""
        return [call.url.path for call in self.service.sent]

    def get(self, link: str = "", target: str = "", *, at: str = "", **options: Any) -> Any:
        """Follow a link of the page, with a target by htmx; `at` is the browser's URL."""
        headers = {"HX-Request": "true", "HX-Target": target} if target else {}
        if at:
            headers["HX-Current-URL"] = f"http://testserver{at}"
        headers |= options.pop("headers", {})
        return self.client.get(urljoin(self.url, link), headers=headers or None, **options)

    def html(self, link: str = "", target: str = "", *, status: int = 200, **options: Any) -> str:
        """Return the HTML of the page, or of the partial that htmx targets."""
        response = self.get(link, target, **options)
        assert response.status_code == status, response.text[:500]
        return str(response.text)

    def text(self, link: str = "", target: str = "", *, status: int = 200) -> str:
        return text(self.html(link, target, status=status))
