"""The error tree: each leaf needs a different reaction from the user.

APIError                      `str(error)` is one sentence for the user
├── NoResponseError           no response was received
│   ├── ConnectError          the request was not sent: retry, nothing happened
│   │   └── InvalidURLError   the URL is invalid: not a failure of the service
│   └── ResponseLostError     the request may have arrived: check before retrying
├── InvalidResponseError      a response that can't be parsed; names the path
└── StatusError               a response outside 2xx, with the service's own message
    ├── AuthenticationError   401, 403: an administrator must check the API key
    ├── NotFoundError         404, 410: it does not exist, or no longer
    ├── ConflictError         409: another change came first; reload
    ├── InvalidRequestError   other 4xx: correct the input; `problems` names the fields
    ├── RateLimitedError      429: wait `retry_after_s`
    └── ServerError           5xx, and unexpected statuses: a failure of the service
"""

from enum import StrEnum

from pydantic import BaseModel


class Executed(StrEnum):
    """Whether the service may have executed the request. Decides the outcome of a write."""

    NO = "no"
    """It was not sent, or the service rejected it."""
    MAYBE = "maybe"
    """It may have been executed."""


class FieldProblem(BaseModel):
    """One field the service did not accept, by its path in the request (`metadata.title`)."""

    path: str
    message: str


class APIError(Exception):
    """A call without a usable response. `executed` only matters for writes."""

    executed = Executed.MAYBE


class NoResponseError(APIError):
    """No response was received. `is_transient` if a retry may help: a connection failed.

    A timeout is not transient: the user has already waited for it once.
    """

    def __init__(self, sentence: str, *, is_transient: bool = False) -> None:
        super().__init__(sentence)
        self.is_transient = is_transient


class ConnectError(NoResponseError):
    """No connection could be made, so nothing was sent."""

    executed = Executed.NO


class InvalidURLError(ConnectError):
    """The URL is invalid, so nothing was sent: SERVICE_URL is wrong, or an id too long."""


class ResponseLostError(NoResponseError):
    """The request was in flight when the connection failed or the time limit passed."""


class InvalidResponseError(APIError):
    """The response violates the spec, is not JSON, or is too large.

    `path` is the place, such as `items.3.status`; `body` is the beginning of the body.
    """

    def __init__(self, problem: str, *, path: str, status_code: int, body: str = "") -> None:
        super().__init__(f"The service’s response can’t be read: {path}: {problem}.")
        self.path = path
        self.problem = problem
        self.status_code = status_code
        self.body = body


class StatusError(APIError):
    """A response outside 2xx. The spec shows no error body.

    `message` is the service's own, or the name of the status; `body` the beginning of the raw text;
    `retry_after_s` the seconds to wait before a retry, or None.
    """

    executed = Executed.NO

    def __init__(
        self,
        *,
        status_code: int,
        message: str,
        body: str,
        problems: tuple[FieldProblem, ...] = (),
        retry_after_s: float | None = None,
    ) -> None:
        # Other sentences follow this one; the service's own may lack a period.
        stop = "" if message.endswith((".", "!", "?", "…")) else "."
        super().__init__(f"The service returned {status_code}: {message}{stop}")
        self.status_code = status_code
        self.message = message
        self.body = body
        self.problems = problems
        self.retry_after_s = retry_after_s


class AuthenticationError(StatusError):
    """The service rejected our API key."""


class NotFoundError(StatusError):
    """The object does not exist at the service, or was removed."""


class ConflictError(StatusError):
    """The request conflicts with the current state at the service."""


class InvalidRequestError(StatusError):
    """The service rejected the request; `problems` names the fields, if the service does."""


class RateLimitedError(StatusError):
    """Too many requests: wait `retry_after_s`, if the service sent it."""


class ServerError(StatusError):
    """The service failed, or returned an unexpected status."""

    executed = Executed.MAYBE
