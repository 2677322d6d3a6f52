"""The client of the Page and Audience Publishing Service: nine operations, four resources.

Every method of a resource raises an APIError if there is no usable response.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import httpx

from dashboard.client.session import Call, CallReport, Session, path
from dashboard.contract.audiences import Audience, AudienceVersion, PublishRequest
from dashboard.contract.conversations import Conversation
from dashboard.contract.pages import Page, PageItem, PageRequest
from dashboard.contract.people import Person
from dashboard.contract.resource import ListEnvelope
from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription


class ResourceClient:
    def __init__(self, session: Session) -> None:
        self._session = session


class Pages(ResourceClient):
    """Operations 1 to 3: list, create, get pages."""

    def list(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> ListEnvelope[PageItem]:
        """Return one page of the list. The spec gives neither order nor maximum."""
        call = Call(
            operation="List pages", path=path("pages"), params={"cursor": cursor, "limit": limit}
        )
        return self._session.send(call, model=ListEnvelope[PageItem], use_cache=True)

    def create(self, page: PageRequest) -> Page:
        """Create a page and return it. Never retried: the page may exist if a response was lost."""
        # The spec requires pageType and gives it a default, so the default is always sent.
        body = {"pageType": page.page_type} | page.to_wire()
        call = Call(operation="Create page", method="POST", path=path("pages"), body=body)
        return self._session.send(call, model=Page)

    def get(self, page_id: str) -> Page:
        call = Call(operation="Get page", path=path("pages", page_id))
        return self._session.send(call, model=Page, use_cache=True)


class Audiences(ResourceClient):
    """Operations 4 to 6: a page's audiences, publishing a version, the conversation."""

    def list(self, page_id: str) -> ListEnvelope[Audience]:
        """Return a page's audiences. The spec lists no cursor, so the rest can't be fetched."""
        call = Call(operation="List audiences", path=path("pages", page_id, "audiences"))
        return self._session.send(call, model=ListEnvelope[Audience], use_cache=True)

    def publish(
        self, page_id: str, audience_id: str, version_id: str, *, operation_key: str | None = None
    ) -> AudienceVersion:
        """Publish a version and return its new state. Never retried.

        `operation_key` has 1 to 128 characters (spec); otherwise pydantic's ValidationError is
        raised and nothing is sent. What the service does with it is not shown.
        """
        body = {}
        if operation_key is not None:
            body = PublishRequest(operation_key=operation_key).to_wire()
        call = Call(
            operation="Publish audience version",
            method="POST",
            path=path(
                "pages", page_id, "audiences", audience_id, "versions", version_id, "publish"
            ),
            body=body,
        )
        return self._session.send(call, model=AudienceVersion)

    def messages(self, page_id: str, audience_id: str) -> Conversation:
        call = Call(
            operation="Get audience messages",
            path=path("pages", page_id, "audiences", audience_id, "messages"),
        )
        return self._session.send(call, model=Conversation)


class People(ResourceClient):
    """Operations 7 and 8: list people, search people. Never cached: they are personal data."""

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> ListEnvelope[Person]:
        """Return one page of the list. The spec gives neither order nor maximum."""
        call = Call(
            operation="List people", path=path("persons"), params={"cursor": cursor, "limit": limit}
        )
        return self._session.send(call, model=ListEnvelope[Person])

    def search(
        self, *, query: str, cursor: str | None = None, limit: int | None = None
    ) -> ListEnvelope[Person]:
        """Return one page of the matches; the service decides what matches."""
        call = Call(
            operation="Search people",
            path=path("persons", "search"),
            params={"query": query, "cursor": cursor, "limit": limit},
        )
        return self._session.send(call, model=ListEnvelope[Person])


class WebhookSubscriptions(ResourceClient):
    def update(self, subscription_id: str, patch: SubscriptionPatch) -> WebhookSubscription:
        """Change what `patch` sets and return the subscription; `SubscriptionPatch()` reads it.

        Never sent twice, not even the empty patch.
        """
        call = Call(
            operation="Update webhook subscription",
            method="PATCH",
            path=path("webhook_subscriptions", subscription_id),
            body=patch.to_wire(),
        )
        return self._session.send(call, model=WebhookSubscription)


class PublishingClient(AbstractContextManager["PublishingClient"]):
    """Client of the service: one per process, created after any fork, shared by its threads.

    `timeout_s` limits a whole call, including retries and waits. `transport` replaces the network
    (tests, the embedded API). `on_call` gets the report of each call once, after the last attempt,
    in the thread that made it; its exceptions are logged and go no further. `extra_headers` returns
    headers to send with each request in addition to those of the spec. `guard` surrounds each call,
    and may raise an APIError before anything is sent. Raises ValueError if no header can carry the
    API key.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        timeout_s: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        on_call: Callable[[CallReport], None] | None = None,
        extra_headers: Callable[[], dict[str, str]] = dict,
        guard: Callable[[Call], AbstractContextManager[None]] = lambda call: nullcontext(),
    ) -> None:
        self._session = Session(
            base_url=base_url,
            api_key=api_key,
            timeout_s=timeout_s,
            transport=transport,
            on_call=on_call,
            extra_headers=extra_headers,
            guard=guard,
        )
        self.pages = Pages(self._session)
        self.audiences = Audiences(self._session)
        self.people = People(self._session)
        self.webhook_subscriptions = WebhookSubscriptions(self._session)

    def __repr__(self) -> str:
        return f"PublishingClient(base_url={self._session.base_url!r})"

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()
