"""CSV downloads, streamed row by row and safe to open in a spreadsheet."""

import csv
from collections.abc import Iterable, Sequence
from itertools import chain

from django.http import StreamingHttpResponse

from dashboard.contract.dates import read_date
from dashboard.spreadsheet_cells import escape_formula

BYTE_ORDER_MARK = "\ufeff"
"""Excel needs it to recognize UTF-8; other programs skip it."""


class _Echo:
    """A file that returns each line instead of storing it."""

    def write(self, line: str) -> str:
        return line


def csv_response(
    filename: str, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> StreamingHttpResponse:
    """Return a table as a CSV download, streamed as `rows` yields.

    None becomes an empty cell. A text that a spreadsheet would run as a formula is prefixed with
    an apostrophe; numbers stay numbers.
    """
    writer = csv.writer(_Echo())
    first = BYTE_ORDER_MARK + str(writer.writerow(header))
    lines = (str(writer.writerow([escape_formula(value) for value in row])) for row in rows)
    content = chain([first], lines)
    response = StreamingHttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["Cache-Control"] = "no-store"
    return response


def date_cell(text: str | None) -> str | None:
    """Format a date text as ISO 8601 in UTC; return a text that is no date unchanged."""
    moment = read_date(text)
    return moment.isoformat(timespec="seconds") if moment else text
