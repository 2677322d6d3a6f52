"""Read the records of a CSV file of people, as various programs write it."""

import csv
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, RawIOBase, TextIOWrapper
from typing import BinaryIO, cast

ID_COLUMN = "personId"
COLUMNS = {
    "name": "name",
    "email": "email",
    "domain": "domain",
    "slug": "slug",
    "phoneNumber": "phone_number",
    "linkedinProfileUrl": "linkedin_profile_url",
}
"""Our column names by the API's names, except the ID."""
EXPORTED = {
    "Person": ID_COLUMN,
    "Name": "name",
    "Email": "email",
    "Domain": "domain",
    "Slug": "slug",
    "Phone": "phoneNumber",
    "LinkedIn": "linkedinProfileUrl",
}
"""The API's names by the headings of Pressroom's own export (`web/people/query.py`)."""
IGNORED = {"Tenant", "Created", "Updated"}
"""Other columns of the export. The import sets their values itself."""
MAX_RECORD_LENGTH = 1 << 17
"""Maximum number of characters in a record, so that no file fills the memory."""
UTF_8 = "utf-8-sig"
_DELIMITERS = ",;\t|"
_MARKS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Byte order marks. UTF-32 comes first, as its mark starts like one of UTF-16."""


class HeaderError(Exception):
    """The first line of the file does not name columns of a person."""


class _RecordTooLongError(csv.Error):
    """A record has more than MAX_RECORD_LENGTH characters."""


@dataclass(frozen=True)
class RejectedLine:
    """Lines that were not imported. Numbers start at 1, and the header counts as a line."""

    number: int
    reason: str
    text: str
    last: int = 0
    """Number of the last of several lines that form no record; 0 for a single record."""

    @property
    def count(self) -> int:
        return max(self.last - self.number + 1, 1)


@dataclass(frozen=True)
class PersonLine:
    """A person's cells by column, as in the file. Empty cells are None."""

    number: int
    text: str
    values: dict[str, str | None]


def decode(file: BinaryIO) -> TextIOWrapper:
    """Open a file as text in UTF-8, or in UTF-16 with a byte order mark. Raises HeaderError.

    Closing the text closes the file.
    """
    buffer = BufferedReader(cast("RawIOBase", file))  # Any BinaryIO has the methods it needs.
    start = buffer.peek(4)[:4]
    marked = (encoding for mark, encoding in _MARKS.items() if start.startswith(mark))
    encoding = next(marked, UTF_8)
    if encoding == "utf-32":
        raise HeaderError("This file is UTF-32. Save it as CSV UTF-8.")
    errors = "surrogateescape" if encoding == UTF_8 else "replace"
    return TextIOWrapper(buffer, encoding, errors, newline="")


class PeopleFile:
    """A file of people with any line ends. Commas, semicolons, tabs or bars separate cells.

    `bytes_read` grows as records are read, for a progress bar. Raises HeaderError.
    """

    def __init__(self, text: TextIOWrapper) -> None:
        self._text = text
        self._is_utf_8 = text.encoding == UTF_8
        self._lines = self._read_lines()
        self._returned: deque[str] = deque()
        self._record: list[str] = []
        self._record_length = 0
        self._lines_read = 0
        self.bytes_read = 0
        self._bytes_per_character = 1 if self._is_utf_8 else 2  # Near enough for a progress bar.
        self._delimiter = self._find_delimiter()
        self._reader = self._new_reader()
        self.header = self._read_header()

    def records(self) -> Iterator[PersonLine | RejectedLine]:
        while True:
            self._record, self._record_length = [], 0
            number = self._lines_read + 1
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield self._rejected(number, error)
                continue
            if cells:  # Blank lines are skipped.
                yield self._checked(number, cells)

    def _read_lines(self) -> Iterator[str]:
        """Yield the lines with their ends. The end of a line that is too long is dropped."""
        while line := self._text.readline(MAX_RECORD_LENGTH + 1):
            rest = line
            while len(rest) > MAX_RECORD_LENGTH and not rest.endswith(("\r", "\n")):
                rest = self._text.readline(MAX_RECORD_LENGTH + 1)
                self.bytes_read += len(rest) * self._bytes_per_character
            yield line

    def _next_line(self) -> str | None:
        line = self._returned.popleft() if self._returned else next(self._lines, None)
        if line is None:
            return None
        self._lines_read += 1
        self.bytes_read += len(line) * self._bytes_per_character
        self._record.append(line)
        self._record_length += len(line)
        if self._record_length > MAX_RECORD_LENGTH:
            raise _RecordTooLongError
        return line

    def _new_reader(self) -> Iterator[list[str]]:
        lines = iter(self._next_line, None)
        return csv.reader(lines, delimiter=self._delimiter, strict=True)

    def _find_delimiter(self) -> str:
        """Return the delimiter, and continue at the line that names the columns."""
        named = None
        while (line := self._next_line()) is not None:
            if match := re.fullmatch(rf'"?sep=([{_DELIMITERS}])"?', line.rstrip("\r\n")):
                named = match[1]  # Excel writes such a line.
            elif line.strip():
                self._returned.append(line)
                self._lines_read -= 1
                return named or max(_DELIMITERS, key=line.count)
        return ","

    def _read_header(self) -> list[str]:
        names = ", ".join([ID_COLUMN, *COLUMNS])
        try:
            header = [EXPORTED.get(name.strip(), name.strip()) for name in next(self._reader, [])]
        except csv.Error as error:
            raise HeaderError(f"The first line is not CSV: {_described(error)}.") from None
        if not header:
            raise HeaderError(f"The file is empty. Its first line names the columns: {names}.")
        if any("\0" in name for name in header):
            raise HeaderError("This file is not UTF-8. Save it as CSV UTF-8.")
        if unknown := [name for name in header if name not in {ID_COLUMN, *COLUMNS, *IGNORED}]:
            name = ascii(unknown[0])[:60]
            raise HeaderError(
                f"The first line has an unknown column {name}. Known columns: {names}."
            )
        if len(set(header)) < len(header):
            raise HeaderError("The first line names a column more than once.")
        if not {*COLUMNS} & {*header}:
            raise HeaderError(f"The first line names no column besides {ID_COLUMN}: {names}.")
        return header

    def _checked(self, number: int, cells: list[str]) -> PersonLine | RejectedLine:
        text = "".join(self._record).rstrip("\r\n")
        if "\0" in text:
            return RejectedLine(number, "must not contain a NUL character", text)
        # Invalid UTF-8 was read as lone surrogates, and invalid UTF-16 as U+FFFD.
        if self._is_utf_8 and _printable(text) != text:
            return RejectedLine(number, "is not UTF-8", _printable(text))
        if not self._is_utf_8 and "\ufffd" in text:
            return RejectedLine(number, "is not UTF-16", text)
        if len(cells) != len(self.header):
            reason = f"has {len(cells)} values for {len(self.header)} columns"
            return RejectedLine(number, reason, text)
        named = zip(self.header, cells, strict=True)
        values = {name: cell.strip() or None for name, cell in named if name not in IGNORED}
        return PersonLine(number, text, values)

    def _rejected(self, number: int, error: csv.Error) -> RejectedLine:
        """Reject the lines that were read as one record.

        An unclosed quote swallows all lines up to the next quote. If the line after it is a record
        by itself, only the line with the quote is rejected.
        """
        lines = self._record
        if len(lines) == 1:
            text = _printable(lines[0].rstrip("\r\n"))
            if isinstance(error, _RecordTooLongError):
                text = text[:200]
            return RejectedLine(number, f"is not CSV: {_described(error)}", text)
        if self._is_record(lines[1]):
            # Read the other lines again.
            self._returned.extendleft(reversed(lines[1:]))
            self._lines_read -= len(lines) - 1
            self._reader = self._new_reader()  # The old one may have reached the end of the file.
            text = _printable(lines[0].rstrip("\r\n"))
            return RejectedLine(number, "opens a quote that is not closed", text)
        text = _printable("".join(lines).rstrip("\r\n"))
        last = number + len(lines) - 1
        return RejectedLine(number, "open a quote that is not closed", text, last=last)

    def _is_record(self, line: str) -> bool:
        """Return whether a line is a record by itself. False with one column, as any text fits."""
        try:
            [cells] = csv.reader([line], delimiter=self._delimiter, strict=True)
        except (csv.Error, ValueError):
            return False
        return len(cells) == len(self.header) > 1


def _printable(text: str) -> str:
    """Return a text with each byte that is not UTF-8 escaped, such as `\\xfc`."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _described(error: csv.Error) -> str:
    if isinstance(error, _RecordTooLongError):
        return f"longer than {MAX_RECORD_LENGTH:,} characters"
    return str(error)
