"""CSV downloads, streamed row by row and safe to open in a spreadsheet."""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.http import StreamingHttpResponse

from dashboard.contract.wire import read_date
from dashboard.texts import escape_formula

BYTE_ORDER_MARK = "\ufeff"
"""Excel needs it to recognize UTF-8; other programs skip it."""


@dataclass(frozen=True)
class Cell:
    heading: str
    value: str | Callable[[Any], object]
    """Attribute of the row, such as `audience.name`, or function of the row."""

    def of(self, row: object) -> object:
        value = _value_at(row, self.value) if isinstance(self.value, str) else self.value(row)
        return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


def _value_at(row: object, path: str) -> object:
    """Return the value of an attribute; None if an object on the way to it is None."""
    value = row
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


class _Echo:
    """A file that returns each line instead of storing it."""

    def write(self, line: str) -> str:
        return line


def csv_response(
    filename: str, cells: Sequence[Cell], rows: Iterable[object]
) -> StreamingHttpResponse:
    """Return a table as a CSV download, streamed as `rows` yields.

    A row that is a string becomes a line with that one cell. None becomes an empty cell. A text
    that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers.
    """
    writer = csv.writer(_Echo())
    first = BYTE_ORDER_MARK + str(writer.writerow([cell.heading for cell in cells]))
    table = ([row] if isinstance(row, str) else [cell.of(row) for cell in cells] for row in rows)
    lines = (str(writer.writerow(map(escape_formula, values))) for values in table)
    content = chain([first], lines)
    response = StreamingHttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["Cache-Control"] = "no-store"
    return response


def date_of(attribute: str) -> Callable[[object], object]:
    """Return a function for `Cell.value` that reads a date text; other text stays unchanged."""

    def date_or_text(row: object) -> object:
        text: Any = _value_at(row, attribute)
        return read_date(text) or text

    return date_or_text
