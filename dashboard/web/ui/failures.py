"""Explain a failed service call to the user: status, title and next step."""

from dataclasses import dataclass

from dashboard.client import (
    APIError,
    AuthenticationError,
    InvalidResponseError,
    NoAnswerError,
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
                "It may have been removed, or the address is not whole.",
                message,
            )
        case AuthenticationError():
            return Failure(
                502,
                "key",
                "The service refused our key",
                "An administrator has to check SERVICE_API_KEY.",
                message,
            )
        case RateLimitedError():
            return Failure(
                503,
                "clock",
                "The service asks us to wait",
                "Wait a moment, then try again.",
                message,
            )
        case NoAnswerError():
            return Failure(
                504,
                "offline",
                "The service is not answering",
                "Nothing was changed. Try again in a moment.",
                message,
            )
        case InvalidResponseError():
            return Failure(
                502,
                "st-unread",
                "The service's answer can't be read",
                "Nothing was changed. Tell whoever runs the service where it went wrong.",
                message,
            )
        case _:
            return Failure(
                502,
                "alert",
                "The service could not do this",
                "Nothing was changed. Try again in a moment.",
                message,
            )
