"""The HTTP client of the service."""

from dashboard.client.client import PublishingClient
from dashboard.client.errors import (
    APIError,
    AuthenticationError,
    ConflictError,
    ConnectError,
    Executed,
    FieldProblem,
    InvalidRequestError,
    InvalidResponseError,
    InvalidURLError,
    NoResponseError,
    NotFoundError,
    RateLimitedError,
    ResponseLostError,
    ServerError,
    StatusError,
)
from dashboard.client.retries import wait_before_retry_s
from dashboard.client.session import Call, CallReport, deadline_counted_from, single_attempt

__all__ = [
    "APIError",
    "AuthenticationError",
    "Call",
    "CallReport",
    "ConflictError",
    "ConnectError",
    "Executed",
    "FieldProblem",
    "InvalidRequestError",
    "InvalidResponseError",
    "InvalidURLError",
    "NoResponseError",
    "NotFoundError",
    "PublishingClient",
    "RateLimitedError",
    "ResponseLostError",
    "ServerError",
    "StatusError",
    "deadline_counted_from",
    "single_attempt",
    "wait_before_retry_s",
]
