"""Form fields with the design's CSS classes and validation."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

_LINK = re.compile(r"(https?://[^\s/?#]+|mailto:\S|tel:\S|sms:\S)\S*", re.IGNORECASE)


MAX_LINE_LENGTH = 5_000
MAX_TEXT_LENGTH = 500_000
"""In characters. Our choice: the spec gives no limit."""


class SingleLineField(forms.CharField):
    """One line of text, not required. `mono` is for ids and field names of the API."""

    longest = MAX_LINE_LENGTH
    """Checked by forms that create. An HTML `maxlength` would cut the text silently."""

    def __init__(self, *, mono: bool = False, full: bool = False, **options: Any) -> None:
        """Set the CSS classes; the other options are CharField's."""
        classes = "input mono" if mono else "input"
        options.setdefault("widget", forms.TextInput(attrs={"class": classes}))
        super().__init__(**({"required": False} | options))
        self.widget.full = full  # read by components/forms.html


class LinkField(SingleLineField):
    """An http, https, mailto, tel or sms URL: no scheme that could run a script."""

    def __init__(self, **options: Any) -> None:
        """Use a URL input; the options are SingleLineField's."""
        widget = forms.URLInput(attrs={"class": "input mono", "placeholder": "https://"})
        super().__init__(widget=widget, **options)

    def validate(self, value: str) -> None:
        """Reject a URL without one of the allowed schemes."""
        super().validate(value)
        if value and not _LINK.fullmatch(value):
            raise ValidationError("Start with https:// and don’t use spaces.", code="address")


class MultiLineField(SingleLineField):
    """Text of several lines, with `\\n` line ends instead of the browser's `\\r\\n`."""

    longest = MAX_TEXT_LENGTH

    def __init__(self, *, rows: int, mono: bool = False, **options: Any) -> None:
        """Set the height in lines."""
        classes = "input mono" if mono else "input"
        widget = forms.Textarea(attrs={"class": classes, "rows": rows})
        super().__init__(widget=widget, full=True, **options)

    def to_python(self, value: Any) -> str:
        """Normalize line ends to `\\n`."""
        return str(super().to_python(value)).replace("\r\n", "\n")


class CommaSeparatedField(SingleLineField):
    """Several short texts on one line, separated by commas."""

    def __init__(self, **options: Any) -> None:
        """Add the help text; the options are SingleLineField's."""
        super().__init__(help_text="Separate with commas.", **options)

    def clean(self, value: Any) -> Any:
        """Return the non-empty texts as a list."""
        return [part.strip() for part in super().clean(value).split(",") if part.strip()]
