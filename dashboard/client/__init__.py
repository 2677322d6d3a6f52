"""How we call the service."""

from dashboard.client.calls import Call
from dashboard.client.client import PublishingClient
from dashboard.client.errors import (
    APIError,
    Arrival,
    BadAnswerError,
    ConflictError,
    FieldProblem,
    InvalidRequestError,
    KeyRefusedError,
    LostAnswerError,
    NoAnswerError,
    NotFoundError,
    NotReachedError,
    RateLimitedError,
    ServiceFaultError,
    StatusError,
)
from dashboard.client.reports import CallReport

__all__ = [
    "APIError",
    "Arrival",
    "BadAnswerError",
    "Call",
    "CallReport",
    "ConflictError",
    "FieldProblem",
    "InvalidRequestError",
    "KeyRefusedError",
    "LostAnswerError",
    "NoAnswerError",
    "NotFoundError",
    "NotReachedError",
    "PublishingClient",
    "RateLimitedError",
    "ServiceFaultError",
    "StatusError",
]
