"""Import people from CSV, in batches: what is written is always a whole number of batches."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import BinaryIO

from django.db import transaction
from pydantic import ValidationError

from dashboard.embedded_api.bulk_people import (
    bulk_insert,
    bulk_update,
    gather_trigrams,
    write_trigrams,
)
from dashboard.embedded_api.ids import uuid7_now
from dashboard.embedded_api.models import Person
from dashboard.embedded_api.problems import HOLDS_NUL, field_error
from dashboard.embedded_api.requests import NewPerson

ID_COLUMN = "personId"
COLUMNS = {
    "name": "name",
    "email": "email",
    "domain": "domain",
    "slug": "slug",
    "phoneNumber": "phone_number",
    "linkedinProfileUrl": "linkedin_profile_url",
}
"""The API's name of each column but the ID, and ours."""
EXPORTED = {
    "Person": ID_COLUMN,
    "Name": "name",
    "Email": "email",
    "Domain": "domain",
    "Slug": "slug",
    "Phone": "phoneNumber",
    "LinkedIn": "linkedinProfileUrl",
}
"""The columns of Pressroom's own export of people (`web/people/export.py`), by the API's names."""
IGNORED = {"Tenant", "Created", "Updated"}
"""The export's other columns: they are those of the import itself."""
_ESCAPED = ("'=", "'+", "'-", "'@")
"""How the export writes what a spreadsheet would run as a formula."""
BATCH_SIZE = 5_000
_MAX_LINE_BYTES = 1 << 20
"""A longer line is read in parts, each of which is rejected: no file fills the memory."""


class HeaderError(Exception):
    """The first line of the file does not name columns of a person."""


@dataclass(frozen=True)
class RejectedLine:
    """A line that was not imported; numbers start at 1, and the header is a line."""

    number: int
    reason: str
    text: str


@dataclass(frozen=True)
class _Line:
    """A valid line with the ID of its person."""

    number: int
    text: str
    person_id: str
    values: dict[str, str | None]
    """By our columns: one that the file lacks is absent, and an empty cell is None."""


@dataclass
class ImportResult:
    """What has been done, or would have been."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    rejected: int = 0

    @property
    def lines(self) -> int:
        """The number of lines that were processed."""
        return self.added + self.updated + self.unchanged + self.rejected


@dataclass
class PeopleImport:
    """An import into one tenant. `on_reject` receives each line that is not imported."""

    tenant_id: str
    on_reject: Callable[[RejectedLine], None]
    is_dry_run: bool = False
    result: ImportResult = field(default_factory=ImportResult)

    def run(self, file: BinaryIO, *, on_batch: Callable[[int], None]) -> None:
        """Import a file; `on_batch` receives the number of bytes read after each batch.

        Raises HeaderError before anything is written.
        """
        source = _Source(file)
        lines = _parse(source, self.tenant_id)
        while batch := list(islice(lines, BATCH_SIZE)):
            self._import_batch(batch)
            on_batch(source.bytes_read)
        if self.result.added + self.result.updated and not self.is_dry_run:
            write_trigrams()

    def _import_batch(self, batch: list[_Line | RejectedLine]) -> None:
        valid = [line for line in batch if isinstance(line, _Line)]
        rejected = [line for line in batch if isinstance(line, RejectedLine)]
        with transaction.atomic():
            done = self._save(valid, rejected)
        self._count(done, rejected)

    def _save(self, lines: list[_Line], rejected: list[RejectedLine]) -> ImportResult:
        """Save the people of valid lines. Lines of another tenant's people join the rejected."""
        ids = [line.person_id for line in lines]
        rows = Person.objects.select_for_update().filter(person_id__in=ids)
        people = {row.person_id: row for row in rows}
        added: dict[str, Person] = {}
        updated: dict[str, Person] = {}
        done = ImportResult()
        for line in lines:
            row = people.get(line.person_id)
            if row is None and not any(line.values.values()):
                reason = "has no value but its ID"
                rejected.append(RejectedLine(line.number, reason, line.text))
            elif row is None:
                added[line.person_id] = people[line.person_id] = self._new_person(line)
                done.added += 1
            elif row.tenant_id != self.tenant_id:
                reason = "personId: belongs to another tenant"
                rejected.append(RejectedLine(line.number, reason, line.text))
            elif _apply(row, line.values):
                # A person may occur twice, also among those to add: the last line counts.
                if line.person_id not in added:
                    updated[line.person_id] = row
                done.updated += 1
            else:
                done.unchanged += 1
        if not self.is_dry_run:
            _write(list(added.values()), list(updated.values()))
        return done

    def _new_person(self, line: _Line) -> Person:
        mark = uuid7_now()
        return Person(
            tenant_id=self.tenant_id,
            person_id=line.person_id,
            created_at=mark,
            updated_at=mark,
            **_stored(line.values),
        )

    def _count(self, done: ImportResult, rejected: list[RejectedLine]) -> None:
        self.result.added += done.added
        self.result.updated += done.updated
        self.result.unchanged += done.unchanged
        self.result.rejected += len(rejected)
        for line in sorted(rejected, key=lambda line: line.number):
            self.on_reject(line)


def _write(added: list[Person], updated: list[Person]) -> None:
    gather_trigrams()
    if added:
        bulk_insert(added)
    if updated:
        bulk_update(updated)


def _apply(row: Person, values: dict[str, str | None]) -> bool:
    """Set the values, and the date of the update; return whether anything differs."""
    before, after = {name: getattr(row, name) for name in values}, _stored(values)
    if before == after:
        return False
    for name, value in after.items():
        setattr(row, name, value)
    row.updated_at = uuid7_now()
    return True


def _stored(values: dict[str, str | None]) -> dict[str, str | None]:
    """Return the values as columns have them: only the name is never null."""
    return {name: value or ("" if name == "name" else None) for name, value in values.items()}


class _Source:
    """The lines of a file, and those of the current record, which may span several."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.bytes_read = 0
        self.lines_read = 0
        self.record: list[bytes] = []

    def __iter__(self) -> "_Source":
        return self

    def __next__(self) -> str:
        raw = self._file.readline(_MAX_LINE_BYTES)
        if not raw:
            raise StopIteration
        self.bytes_read += len(raw)
        if self.lines_read == 0:
            raw = raw.removeprefix(b"\xef\xbb\xbf")  # Excel's byte order mark
        self.lines_read += 1
        self.record.append(raw)
        return raw.decode(errors="surrogateescape")

    def text(self) -> str:
        """Return the current record as written, without its line break."""
        return b"".join(self.record).decode(errors="backslashreplace").rstrip("\r\n")


def _parse(source: _Source, tenant_id: str) -> Iterator[_Line | RejectedLine]:
    """Yield each line after the header, valid or not. Raises HeaderError."""
    reader = csv.reader(source, strict=True)
    header = _read_header(reader)
    while True:
        source.record = []
        number = source.lines_read + 1
        try:
            cells = next(reader)
            if cells:  # Blank lines are skipped.
                yield _line(number, source, header, cells, tenant_id)
        except StopIteration:
            return
        except csv.Error as error:
            yield RejectedLine(number, f"is not CSV: {error}", source.text())


def _read_header(reader: Iterator[list[str]]) -> list[str]:
    known = ", ".join([ID_COLUMN, *COLUMNS])
    try:
        header = [EXPORTED.get(name.strip(), name.strip()) for name in next(reader, [])]
    except csv.Error as error:
        raise HeaderError(f"The first line is not CSV: {error}.") from None
    if not header:
        raise HeaderError(f"The file is empty. Its first line names the columns: {known}.")
    if unknown := [name for name in header if name not in {ID_COLUMN, *COLUMNS, *IGNORED}]:
        shown = ascii(unknown[0])[:60]
        raise HeaderError(f"The first line has an unknown column {shown}. Known columns: {known}.")
    if len(set(header)) < len(header):
        raise HeaderError("The first line names a column more than once.")
    if not {*COLUMNS} & {*header}:
        raise HeaderError(f"The first line names no column besides {ID_COLUMN}: {known}.")
    return header


def _line(
    number: int, source: _Source, header: list[str], cells: list[str], tenant_id: str
) -> _Line | RejectedLine:
    text = source.text()
    try:
        values = _values(b"".join(source.record), header, cells)
        person = NewPerson.model_validate({name: text for name, text in values.items() if text})
    except ValidationError as error:
        first = field_error(error.errors()[0])
        return RejectedLine(number, f"{first.path}: {first.message}".removeprefix(": "), text)
    except ValueError as error:
        return RejectedLine(number, str(error), text)
    person_id = person.person_id or _derived_id(tenant_id, person)
    ours = {COLUMNS[name]: value for name, value in values.items() if name != ID_COLUMN}
    return _Line(number, text, person_id, ours)


def _values(raw: bytes, header: list[str], cells: list[str]) -> dict[str, str | None]:
    """Return the cells by column, None if empty. Raises ValueError."""
    if b"\0" in raw:
        raise ValueError(HOLDS_NUL)
    try:
        raw.decode()
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    if len(cells) != len(header):
        raise ValueError(f"has {len(cells)} values for {len(header)} columns")
    named = zip(header, cells, strict=True)
    return {name: _value(cell) for name, cell in named if name not in IGNORED}


def _value(cell: str) -> str | None:
    text = cell.strip()
    return (text[1:] if text.startswith(_ESCAPED) else text) or None


def _derived_id(tenant_id: str, person: NewPerson) -> str:
    """Return the ID of a person that has none: the same for the same email, or else the same line.

    So importing a file twice adds each person once, without an index of emails.
    """
    fields = [getattr(person, column) or "" for column in COLUMNS.values()]
    identity = person.email.casefold() if person.email else "\n".join(fields)
    digest = sha256(f"{tenant_id}\n{identity}".encode()).hexdigest()
    return f"prospect_{digest[:26]}"
