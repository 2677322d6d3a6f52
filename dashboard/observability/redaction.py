"""Redact the secret in the URL of the webhook receiver."""

import re

_SECRET = re.compile(r"(/hooks/+)(?!deliveries/\d+/)[^/\s?#]+", re.IGNORECASE)
"""Also with a slash too many or too few: the URL is invalid, but the secret is not."""


def redact_secret(text: str) -> str:
    """Return the text with each secret in a URL of the receiver replaced."""
    return _SECRET.sub(r"\1…", text)
