"""Tables as files: streamed row by row, and safe to open in a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from django.http import StreamingHttpResponse

BYTE_ORDER_MARK = "\ufeff"
"""Excel reads UTF-8 as such only after it; every other reader skips it."""

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class _Echo:
    """A file that hands each line back instead of keeping it."""

    def write(self, line: str) -> str:
        return line


def csv_response(
    filename: str, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> StreamingHttpResponse:
    """Answer a table as a file to be saved, row by row as `rows` gives them.

    None is an empty cell. A text that a spreadsheet would run as a formula gets an apostrophe
    before it; numbers stay numbers.
    """
    response = StreamingHttpResponse(_lines(header, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def safe_cell(value: object) -> object:
    """Return a value as a cell that no spreadsheet runs."""
    if isinstance(value, str) and value.startswith(_STARTS_A_FORMULA):
        return f"'{value}"
    return value


def _lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield BYTE_ORDER_MARK + str(writer.writerow(header))
    for row in rows:
        yield str(writer.writerow([safe_cell(value) for value in row]))
