"""The error tree: each leaf asks for a different response from the user.

APIError                      `str(error)` is one sentence for the user
├── NoAnswerError             no response came
│   ├── ConnectError          the request never left: try again, nothing happened
│   │   └── BadAddressError   the URL is invalid: no fault of the service's, and no silence
│   └── ResponseLostError     it may have arrived: read before sending again
├── InvalidResponseError      a response that can't be read; names the path
└── StatusError               a response outside 2xx; carries the service's own words
    ├── AuthenticationError   401, 403: an administrator must look at the service key
    ├── NotFoundError         404, 410: it is not there, or not any more
    ├── ConflictError         409: something else came first; read again
    ├── InvalidRequestError   other 4xx: correct what was typed; `problems` names the fields
    ├── RateLimitedError      429: wait `retry_after_s`
    └── ServerError           5xx, and statuses that make no sense here: the service's fault
"""

from enum import StrEnum

from pydantic import BaseModel


class Executed(StrEnum):
    """Whether the service may have run the request: what decides the outcome of a write."""

    NO = "no"
    """It never left, or the service rejected it."""
    MAYBE = "maybe"
    """It may have been carried out."""


class FieldProblem(BaseModel):
    """One field the service did not accept, by its path in the request (`metadata.title`)."""

    path: str
    message: str


class APIError(Exception):
    """A call without a usable response. `executed` matters for writes alone."""

    executed = Executed.MAYBE


class NoAnswerError(APIError):
    """No response came. `is_passing` if a retry may get one: a connection failed.

    A timeout is not passing: the user has waited for it once.
    """

    def __init__(self, sentence: str, *, is_passing: bool = False) -> None:
        super().__init__(sentence)
        self.is_passing = is_passing


class ConnectError(NoAnswerError):
    """No connection could be made, so nothing was sent."""

    executed = Executed.NO


class BadAddressError(ConnectError):
    """The URL is invalid, so nothing was sent: SERVICE_URL is wrong, or an id too long."""


class ResponseLostError(NoAnswerError):
    """The request was on its way when the connection failed or the time limit passed."""


class InvalidResponseError(APIError):
    """The response is not what the spec says, not JSON, or too large.

    `path` is where, such as `items.3.status`; `status_code` the response's; `body` its head.
    """

    def __init__(self, problem: str, *, path: str, status_code: int, body: str = "") -> None:
        super().__init__(f"The service's answer can't be read: {path}: {problem}.")
        self.path = path
        self.problem = problem
        self.status_code = status_code
        self.body = body


class StatusError(APIError):
    """A response outside 2xx. The spec shows no error body.

    `message` is the service's own sentence, or the status' name; `body` the head of the raw text;
    `retry_after_s` how many seconds the service asks us to wait, or None.
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
        # Other sentences follow this one; the service's own may have no end.
        stop = "" if message.endswith((".", "!", "?", "…")) else "."
        super().__init__(f"The service answered {status_code}: {message}{stop}")
        self.status_code = status_code
        self.message = message
        self.body = body
        self.problems = problems
        self.retry_after_s = retry_after_s


class AuthenticationError(StatusError):
    """The service refused our API key."""


class NotFoundError(StatusError):
    """The service knows no such thing, or no longer."""


class ConflictError(StatusError):
    """The request contradicts what the service has."""


class InvalidRequestError(StatusError):
    """The service did not accept the request; `problems` names the fields, if it did."""


class RateLimitedError(StatusError):
    """Too many requests: wait `retry_after_s`, if the service gave it."""


class ServerError(StatusError):
    """The service failed, or answered a status that makes no sense here."""

    executed = Executed.MAYBE
