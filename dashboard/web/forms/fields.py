"""Fields dressed as the design has them, and what is checked before anything is sent."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

_ADDRESS = re.compile(r"(https?://[^\s/?#]+|mailto:\S|tel:\S|sms:\S)\S*", re.IGNORECASE)


LONGEST_LINE = 5_000
LONGEST_TEXT = 500_000
"""Characters that can be typed. Our choice: the spec gives no limit."""


class Line(forms.CharField):
    """One line of text. Not required; `mono` for ids and names of the wire."""

    longest = LONGEST_LINE
    """What a form that creates holds it to. It is said, where a browser would cut in silence."""

    def __init__(self, *, mono: bool = False, full: bool = False, **options: Any) -> None:
        """Take the looks; the other options are CharField's."""
        classes = "input mono" if mono else "input"
        options.setdefault("widget", forms.TextInput(attrs={"class": classes}))
        super().__init__(**({"required": False} | options))
        self.widget.full = full  # read by components/field.html


class Address(Line):
    """An address that a reader may follow: with its scheme, and none that could run a script."""

    def __init__(self, **options: Any) -> None:
        """Take the options of a line."""
        widget = forms.URLInput(attrs={"class": "input mono", "placeholder": "https://"})
        super().__init__(widget=widget, **options)

    def validate(self, value: str) -> None:
        """Refuse what has no scheme, or one that is no address to follow."""
        super().validate(value)
        if value and not _ADDRESS.fullmatch(value):
            raise ValidationError("Start with https://, and leave no blank in it.", code="address")


class Text(Line):
    """Text of several lines, with the line ends of the wire rather than those of a browser."""

    longest = LONGEST_TEXT

    def __init__(self, *, rows: int, mono: bool = False, **options: Any) -> None:
        """Take the height in lines."""
        classes = "input mono" if mono else "input"
        widget = forms.Textarea(attrs={"class": classes, "rows": rows})
        super().__init__(widget=widget, full=True, **options)

    def to_python(self, value: Any) -> str:
        """Return the text with `\\n` at the ends of lines."""
        return str(super().to_python(value)).replace("\r\n", "\n")


class Several(Line):
    """Several short texts on one line, with commas between."""

    def __init__(self, **options: Any) -> None:
        """Take the options of a line."""
        super().__init__(help_text="Separate with commas.", **options)

    def clean(self, value: Any) -> Any:
        """Return the texts as a list."""
        return [part.strip() for part in super().clean(value).split(",") if part.strip()]
