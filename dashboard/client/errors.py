"""The error tree: each leaf asks for a different response from the user.

APIError                      said in one sentence by `str(error)`
├── NoAnswerError             nobody answered
│   ├── NotReachedError       the request never left: try again, nothing happened
│   └── LostAnswerError       it may have arrived: read before sending again
├── BadAnswerError            an answer that can't be read; names the path
└── StatusError               an answer outside 2xx; carries the service's own words
    ├── KeyRefusedError       401, 403: an administrator must look at the service key
    ├── NotFoundError         404, 410: it is not there, or not any more
    ├── ConflictError         409: something else came first; read again
    ├── InvalidRequestError   other 4xx: mend what was typed; `problems` names the fields
    ├── RateLimitedError      429: wait `retry_after_s`
    └── ServiceFaultError     5xx, and statuses that make no sense here: the service's fault
"""

from enum import StrEnum

from pydantic import BaseModel


class Arrival(StrEnum):
    """Whether a request arrived at the service: what decides the outcome of a write."""

    NO = "no"
    """It never left, or the service refused it."""
    MAYBE = "maybe"
    """It may have been carried out."""


class FieldProblem(BaseModel):
    """One field the service did not accept, by its path in the request (`metadata.title`)."""

    path: str
    message: str


class APIError(Exception):
    """A call that brought no usable answer. `arrival` matters for writes alone."""

    arrival = Arrival.MAYBE


class NoAnswerError(APIError):
    """Nobody answered. `is_passing` where a moment later somebody may: a connection failed.

    A time limit that passed is not passing: the user has waited for it once.
    """

    def __init__(self, sentence: str, *, is_passing: bool = False) -> None:
        super().__init__(sentence)
        self.is_passing = is_passing


class NotReachedError(NoAnswerError):
    """No connection could be made, so nothing was sent."""

    arrival = Arrival.NO


class LostAnswerError(NoAnswerError):
    """The request was on its way when the connection failed or the time limit passed."""


class BadAnswerError(APIError):
    """The answer is not what the spec says, not JSON, or too large.

    `path` is where, such as `items.3.status`; `status_code` is the answer's; `body` its head.
    """

    def __init__(self, problem: str, *, path: str, status_code: int, body: str = "") -> None:
        super().__init__(f"The service's answer can't be read: {path}: {problem}.")
        self.path = path
        self.problem = problem
        self.status_code = status_code
        self.body = body


class StatusError(APIError):
    """The service answered outside 2xx. The spec shows no error body.

    `said` is the service's own sentence, or the status' name; `body` the head of the raw text;
    `retry_after_s` how long the service asks us to wait, in seconds, where it said so.
    """

    arrival = Arrival.NO

    def __init__(
        self,
        *,
        status_code: int,
        said: str,
        body: str,
        problems: tuple[FieldProblem, ...] = (),
        retry_after_s: float | None = None,
    ) -> None:
        # Other sentences follow this one; the service's own may have no end.
        stop = "" if said.endswith((".", "!", "?", "…")) else "."
        super().__init__(f"The service answered {status_code}: {said}{stop}")
        self.status_code = status_code
        self.said = said
        self.body = body
        self.problems = problems
        self.retry_after_s = retry_after_s


class KeyRefusedError(StatusError):
    """The service refused our API key."""


class NotFoundError(StatusError):
    """The service knows no such thing, or no longer."""


class ConflictError(StatusError):
    """The request contradicts what the service has."""


class InvalidRequestError(StatusError):
    """The service did not accept the request; `problems` names the fields, where it said so."""


class RateLimitedError(StatusError):
    """Too many requests: wait `retry_after_s`, where the service said how long."""


class ServiceFaultError(StatusError):
    """The service failed, or answered a status that makes no sense here."""

    arrival = Arrival.MAYBE
