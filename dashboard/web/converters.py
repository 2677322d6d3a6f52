"""Identifiers in addresses: any characters the service chose, in one segment."""

from urllib.parse import quote, unquote

_SPECIAL = {".": "%2E", "..": "%2E%2E", "new": "%6Eew"}
"""Steps in a path, and the word of ours that stands where an id does: /pages/new/."""


class IdentifierConverter:
    """An identifier, percent-encoded once more than an address does by itself.

    A server decodes an address before it is resolved, so an id with `/` in it would fall apart;
    `%252F` arrives as `%2F` and is read here. Source: DESIGN.md, Addresses.
    """

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        """Return the identifier that a segment stands for.

        Raises ValueError, which is a 404, on NUL: no id that was read holds one, and PostgreSQL
        takes none even to look for.
        """
        identifier = unquote(value)
        if "\0" in identifier:
            raise ValueError("NUL in an identifier")
        return identifier

    def to_url(self, value: str) -> str:
        """Return the segment for an identifier; `.` and `..` are no steps in a path."""
        return _SPECIAL.get(value) or quote(value, safe="")
