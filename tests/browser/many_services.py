"""Many services behind one address, for a dashboard that outlives a test."""

import re
from dataclasses import dataclass, field

import httpx

from tests.support.fake_service import Answer

ID = re.compile(r'"((?:page|aud|ver|whs)_\w+)"')


@dataclass
class Places:
    """Addresses of one service's page; its ids end in its mark."""

    mark: str = ""

    @property
    def page(self) -> str:
        return f"/pages/page_1{self.mark}/"

    @property
    def audience(self) -> str:
        return f"/pages/page_1{self.mark}/audiences/aud_1{self.mark}/"

    @property
    def versions(self) -> str:
        return f"{self.audience}versions/"

    @property
    def publish(self) -> str:
        return f"{self.versions}ver_2{self.mark}/publish/"

    @property
    def webhook(self) -> str:
        return f"/webhooks/whs_1{self.mark}/"


@dataclass
class ManyServices:
    """Tells services apart by their marks, so that tests don't affect each other."""

    by_mark: dict[str, Answer] = field(default_factory=dict)

    def add(self, service: Answer) -> Places:
        """Add a service, which doesn't see its mark."""
        mark = f"x{len(self.by_mark)}x"
        self.by_mark[mark] = service
        return Places(mark)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        mark = next((item for item in self.by_mark if item in request.url.path), "")
        if not mark:
            return httpx.Response(404, json={})
        plain = httpx.Request(
            request.method,
            str(request.url).replace(mark, ""),
            headers=request.headers,
            content=request.content,
        )
        answer = self.by_mark[mark](plain)
        return httpx.Response(answer.status_code, text=ID.sub(rf'"\1{mark}"', answer.text))
