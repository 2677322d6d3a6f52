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
    status: int
    icon: str
    title: str
    what_to_do: str
    detail: str = ""
    way: str = ""
    """Page that helps, if any."""
    operation_key: str = ""


def explain(error: APIError) -> Failure:
    what_to_do = "Nothing was changed. Try again in a moment."
    match error:
        case NotFoundError():
            status, icon, title = 404, "search", "Not found"
            what_to_do = "It may have been removed, or the link is incomplete."
        case AuthenticationError():
            status, icon, title = 502, "key", "API key rejected"
            what_to_do = "Ask an administrator to check SERVICE_API_KEY."
        case RateLimitedError():
            status, icon, title = 503, "clock", "Rate limit reached"
            what_to_do = "Try again in a moment."
        case NoResponseError():
            status, icon, title = 504, "offline", "Service unreachable"
        case InvalidResponseError():
            status, icon, title = 502, "st-unread", "Unreadable response"
            what_to_do = "Nothing was changed. Contact the service team."
        case _:
            status, icon, title = 502, "alert", "Service error"
    return Failure(status, icon, title, what_to_do, detail=str(error))
