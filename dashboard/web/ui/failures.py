"""Explain a failed service call to the user: status, title and next step."""

from dataclasses import dataclass

from dashboard.client import (
    APIError,
    AuthenticationError,
    InvalidResponseError,
    NoResponseError,
    NotFoundError,
    RateLimitedError,
)


@dataclass(frozen=True)
class Failure:
    """An error as shown to the user."""

    status: int
    icon: str
    title: str
    what_to_do: str
    detail: str = ""
    way: str = ""
    """Name of the page that helps, if any."""
    operation_key: str = ""
    """Key of the operation to link to."""


def explain(error: APIError) -> Failure:
    """Return the status, title and next step for a failed call."""
    message = str(error)
    match error:
        case NotFoundError():
            return Failure(
                404,
                "search",
                "Not found",
                "It may have been removed, or the link is incomplete.",
                message,
            )
        case AuthenticationError():
            return Failure(
                502,
                "key",
                "API key rejected",
                "Ask an administrator to check SERVICE_API_KEY.",
                message,
            )
        case RateLimitedError():
            return Failure(
                503,
                "clock",
                "Rate limit reached",
                "Try again in a moment.",
                message,
            )
        case NoResponseError():
            return Failure(
                504,
                "offline",
                "Service unreachable",
                "Nothing was changed. Try again in a moment.",
                message,
            )
        case InvalidResponseError():
            return Failure(
                502,
                "st-unread",
                "Unreadable response",
                "Nothing was changed. Contact the service team.",
                message,
            )
        case _:
            return Failure(
                502,
                "alert",
                "Service error",
                "Nothing was changed. Try again in a moment.",
                message,
            )
