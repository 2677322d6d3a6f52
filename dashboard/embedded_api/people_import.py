"""Import people from CSV in batches. Each batch is written completely or not at all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import BinaryIO

from django.db import transaction
from pydantic import ValidationError

from dashboard.embedded_api.ids import uuid7_now
from dashboard.embedded_api.models import Person
from dashboard.embedded_api.models.people import bulk_insert, gather_trigrams, write_trigrams
from dashboard.embedded_api.people_csv import (
    COLUMNS,
    ID_COLUMN,
    PeopleFile,
    PersonLine,
    RejectedLine,
    decode,
)
from dashboard.embedded_api.requests import NewPerson
from dashboard.json_api.problems import field_error
from dashboard.texts import unescape_formula

BATCH_SIZE = 5_000
_ROWS_PER_UPDATE = 1_000


@dataclass(frozen=True)
class _Line:
    number: int
    text: str
    person_id: str
    values: dict[str, str | None]
    """Values by our column names, without columns that the file lacks. Empty cells are None."""


@dataclass
class ImportResult:
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    rejected: int = 0

    @property
    def lines(self) -> int:
        return self.added + self.updated + self.unchanged + self.rejected


@dataclass
class PeopleImport:
    """An import into one tenant. `on_reject` receives each line that is not imported."""

    tenant_id: str
    on_reject: Callable[[RejectedLine], None]
    is_dry_run: bool = False
    result: ImportResult = field(default_factory=ImportResult)

    def run(self, file: BinaryIO, *, on_batch: Callable[[int], None]) -> None:
        """Import a file and close it. `on_batch` receives the number of bytes read so far.

        Raises HeaderError before anything is written.
        """
        with decode(file) as text:
            people = PeopleFile(text)
            lines = (
                _line(record, self.tenant_id) if isinstance(record, PersonLine) else record
                for record in people.records()
            )
            while batch := list(islice(lines, BATCH_SIZE)):
                self._import_batch(batch)
                on_batch(people.bytes_read)
        if self.result.added + self.result.updated and not self.is_dry_run:
            write_trigrams()

    def _import_batch(self, batch: list[_Line | RejectedLine]) -> None:
        valid = [line for line in batch if isinstance(line, _Line)]
        rejected = [line for line in batch if isinstance(line, RejectedLine)]
        with transaction.atomic():
            done = self._save(valid, rejected)
        self.result.added += done.added
        self.result.updated += done.updated
        self.result.unchanged += done.unchanged
        self.result.rejected += sum(lines.count for lines in rejected)
        for line in sorted(rejected, key=lambda line: line.number):
            self.on_reject(line)

    def _save(self, lines: list[_Line], rejected: list[RejectedLine]) -> ImportResult:
        """Save the people of valid lines. Lines that can't be saved are added to `rejected`."""
        ids = [line.person_id for line in lines]
        # Lock in order of IDs, so that two imports never deadlock.
        rows = Person.objects.select_for_update().filter(person_id__in=ids).order_by("person_id")
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
                # A person may occur twice, even among new ones. The last line counts.
                if line.person_id not in added:
                    updated[line.person_id] = row
                done.updated += 1
            else:
                done.unchanged += 1
        if not self.is_dry_run:
            gather_trigrams()
            bulk_insert([*added.values()])
            Person.objects.bulk_create(
                updated.values(),
                batch_size=_ROWS_PER_UPDATE,
                update_conflicts=True,
                unique_fields=["person_id"],
                update_fields=[*COLUMNS.values(), "search_text", "updated_at"],
            )
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


def _apply(row: Person, values: dict[str, str | None]) -> bool:
    before, after = {name: getattr(row, name) for name in values}, _stored(values)
    if before == after:
        return False
    for name, value in after.items():
        setattr(row, name, value)
    row.updated_at = uuid7_now()
    return True


def _stored(values: dict[str, str | None]) -> dict[str, str | None]:
    return {name: value or ("" if name == "name" else None) for name, value in values.items()}


def _line(record: PersonLine, tenant_id: str) -> _Line | RejectedLine:
    values = {name: unescape_formula(cell or "") or None for name, cell in record.values.items()}
    try:
        person = NewPerson.model_validate({name: text for name, text in values.items() if text})
    except ValidationError as error:
        first = field_error(error.errors()[0])
        reason = f"{first.path}: {first.message}".removeprefix(": ")
        return RejectedLine(record.number, reason, record.text)
    person_id = person.person_id or _derived_id(tenant_id, person)
    ours = {COLUMNS[name]: value for name, value in values.items() if name != ID_COLUMN}
    return _Line(record.number, record.text, person_id, ours)


def _derived_id(tenant_id: str, person: NewPerson) -> str:
    """Return the ID of a person without one, derived from the email or else from the whole line.

    So importing a file twice adds each person only once, without an index of emails.
    """
    fields = [getattr(person, column) or "" for column in COLUMNS.values()]
    identity = person.email.casefold() if person.email else "\n".join(fields)
    digest = sha256(f"{tenant_id}\n{identity}".encode()).hexdigest()
    return f"prospect_{digest[:26]}"
