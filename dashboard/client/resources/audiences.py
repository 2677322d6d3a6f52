"""Operations 4 to 6: a page's audiences, publishing a version, the conversation."""

from dashboard.client.calls import Call, path
from dashboard.client.resources.base import Resource
from dashboard.contract.audiences import Audience, AudienceVersion, PublishRequest
from dashboard.contract.conversations import Conversation
from dashboard.contract.envelope import ListEnvelope


class Audiences(Resource):
    """The audiences. Every method raises an APIError where the service gives no usable answer."""

    def list(self, page_id: str) -> ListEnvelope[Audience]:
        """Return a page's audiences. The spec lists no cursor, so the rest can't be asked for."""
        call = Call(
            operation="List audiences", method="GET", path=path("pages", page_id, "audiences")
        )
        return self._session.answer(call, reply=ListEnvelope[Audience], is_kept=True)

    def publish(
        self, page_id: str, audience_id: str, version_id: str, *, operation_key: str | None = None
    ) -> AudienceVersion:
        """Publish a version and return it as it then is. Never sent twice.

        `operation_key` is 1 to 128 characters (spec), or pydantic's ValidationError is raised
        and nothing sent; what the service makes of it is not shown.
        """
        request = PublishRequest(operation_key=operation_key) if operation_key is not None else None
        call = Call(
            operation="Publish audience version",
            method="POST",
            path=path(
                "pages", page_id, "audiences", audience_id, "versions", version_id, "publish"
            ),
            body=request.to_wire() if request else {},
        )
        return self._session.answer(call, reply=AudienceVersion)

    def messages(self, page_id: str, audience_id: str) -> Conversation:
        """Return the conversation in which the audience was written."""
        call = Call(
            operation="Get audience messages",
            method="GET",
            path=path("pages", page_id, "audiences", audience_id, "messages"),
        )
        return self._session.answer(call, reply=Conversation)
