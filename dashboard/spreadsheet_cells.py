"""Texts as cells of a CSV file that may be opened in a spreadsheet."""

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_ESCAPED = ("'=", "'+", "'-", "'@")


def escape_formula(value: object) -> object:
    """Prefix a text that a spreadsheet would run as a formula with an apostrophe.

    Other values, numbers included, are returned unchanged.
    """
    if isinstance(value, str) and value.startswith(_STARTS_A_FORMULA):
        return f"'{value}"
    return value


def unescape_formula(text: str) -> str:
    """Return the text that `escape_formula` was given. `text` has no blanks around it."""
    return text[1:] if text.startswith(_ESCAPED) else text
