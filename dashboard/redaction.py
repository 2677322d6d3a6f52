"""Redact secrets in URLs: of the webhook receiver, and of links in e-mails."""

import json
import re
from typing import Any

_SECRET = re.compile(
    r"((?:\\?/|%2f)(?:h|%68)(?:o|%6f){2}(?:k|%6b)(?:s|%73)(?:\\?/|%2f)+)(?!deliveries/\d+/)"
    r"[^\s?#\"'<>\\]*[^\s?#\"'<>\\/]",
    re.IGNORECASE,
)
"""The rest of the path, also with a slash too many or too few: such a URL may be normalized.

Slashes and letters may be escaped, and a quote ends it, as in JSON.
"""


_LINK = re.compile(r"(/email/confirm/+)[^\s?#\"'<>/]+", re.IGNORECASE)
"""A link in an e-mail: it names an address."""


def redact_secret(text: str) -> str:
    """Return the text with each secret in a URL of the receiver or an e-mail replaced."""
    return _LINK.sub(r"\1…", _SECRET.sub(r"\1…", text))


def redact_unless(value: Any, is_allowed: bool) -> Any:  # noqa: FBT001  # a filter of templates
    """Return a JSON value as it is for who may change webhooks, else with its secrets redacted."""
    if is_allowed:
        return value
    if isinstance(value, str):
        return redact_secret(value)
    text = json.dumps(value, ensure_ascii=False)
    redacted = redact_secret(text)
    return value if redacted == text else json.loads(redacted)
