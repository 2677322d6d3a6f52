"""The key of an operation, as a form carries it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from dashboard.ledger.queries.operations import operation_by_key


def operation_key_in(form: Mapping[str, Any]) -> str:
    """Return the key of the operation that a form would begin, or "" where it is none of ours."""
    try:
        return str(UUID(form.get("operation_key", "")))
    except ValueError:
        return ""


def next_key(key: str) -> str:
    """Return the key for the next sending: the form's own until it is on record."""
    return key if key and operation_by_key(key) is None else str(uuid4())
