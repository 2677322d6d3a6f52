"""The receiver's address as it may be written down: without the secret that stands in it."""

import re

_SECRET = re.compile(r"(/hooks/+)(?!deliveries/\d+/)[^/\s?#]+", re.IGNORECASE)
"""Also where an address is not quite ours, and its secret is: one slash more, or one less."""


def without_secret(words: str) -> str:
    """Return the words, each secret in an address of the receiver replaced."""
    return _SECRET.sub(r"\1…", words)
