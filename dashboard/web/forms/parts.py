"""Forms with rows that come and go: one Django form a part, named as the wire names it.

A field's name in the HTML is its path in the request to be sent, such as `actions.0.url`. So the
service's own words about a path are shown at the field that it names, and every row survives
without JavaScript: a button sends all that was typed, and the form comes back with one row more,
one less, or in another order.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django import forms
from django.core.validators import MaxLengthValidator
from pydantic.alias_generators import to_camel

from dashboard.web.forms.fields import Line

_TOO_LONG = "%(show_value)s characters: %(limit_value)s is the most that can be typed here."
MAX_ROWS = 50
"""Rows that can be added to one list. Our choice: the spec gives no limit."""


@dataclass
class Typed:
    """What was typed into one part: its fields by name, and the rows of each list within it."""

    fields: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list["Typed"]] = field(default_factory=dict)


class PartForm(forms.Form):
    """One part of a request. Subclasses give its fields, and the lists of rows within it."""

    noun: ClassVar[str] = ""
    """What one row is called; `plural` names the list of them."""
    plural: ClassVar[str] = ""
    inside: ClassVar[str] = ""
    """The object of the wire that holds the fields, where the part wraps one: `image`."""
    lists: ClassVar[Mapping[str, type["PartForm"]]] = {}

    def __init__(self, typed: Typed, *, path: str = "", submitted: bool) -> None:
        """Show what was typed; where it was submitted, check it too."""
        self.path = path
        data = {self.add_prefix(name): value for name, value in typed.fields.items()}
        super().__init__(
            data if submitted else None, initial=typed.fields, auto_id="%s", label_suffix=""
        )
        for typed_field in self.fields.values():
            if isinstance(typed_field, Line):
                typed_field.validators.append(MaxLengthValidator(typed_field.longest, _TOO_LONG))
        self.rows = {
            name: [
                form(row, path=f"{self._under(name)}.{place}", submitted=submitted)
                for place, row in enumerate(typed.rows.get(name, []))
            ]
            for name, form in self.lists.items()
        }

    def add_prefix(self, field_name: str) -> str:
        """Return the field's path on the wire."""
        steps = (self.path, self.inside, to_camel(field_name))
        return ".".join(step for step in steps if step)

    @property
    def row_lists(self) -> list["RowList"]:
        """The lists of rows within, to be drawn."""
        return [
            RowList(self._under(name), form.noun, form.plural, self.rows[name])
            for name, form in self.lists.items()
        ]

    @property
    def number(self) -> int:
        """The row's place in its list, from 1; 0 for what is no row."""
        place = self.path.rpartition(".")[2]
        return int(place) + 1 if place.isdecimal() else 0

    @property
    def row_title(self) -> str:
        """What a row is called: `Action 2`."""
        return f"{self.noun} {self.number}" if self.number else ""

    def walk(self) -> Iterator["PartForm"]:
        """Return this part and every part within it, in the order of the form."""
        yield self
        for rows in self.rows.values():
            for row in rows:
                yield from row.walk()

    def _under(self, name: str) -> str:
        return f"{self.path}.{to_camel(name)}" if self.path else to_camel(name)


@dataclass(frozen=True)
class RowList:
    """A list of rows to be drawn."""

    path: str
    noun: str
    plural: str
    forms: list[PartForm]

    @property
    def is_full(self) -> bool:
        """Whether no row can be added."""
        return len(self.forms) >= MAX_ROWS


def read_typed(form: type[PartForm], data: Mapping[str, Any], path: str = "") -> Typed:
    """Return what a submitted form holds; names that the form does not have are left out."""
    empty = form(Typed(), path=path, submitted=False)
    typed = Typed({name: str(data.get(empty.add_prefix(name), "")) for name in empty.fields})
    for name, row_form in form.lists.items():
        under = ".".join(filter(None, (path, to_camel(name))))
        typed.rows[name] = [
            read_typed(row_form, data, f"{under}.{number}") for number in _numbers(data, under)
        ]
    return typed


def as_data(form: type[PartForm], typed: Typed, path: str = "") -> dict[str, str]:
    """Return what was typed as a browser would submit it: what `read_typed` reads."""
    empty = form(Typed(), path=path, submitted=False)
    data = {empty.add_prefix(name): typed.fields.get(name, "") for name in empty.fields}
    for name, row_form in form.lists.items():
        under = ".".join(filter(None, (path, to_camel(name))))
        for place, row in enumerate(typed.rows.get(name, [])):
            data |= as_data(row_form, row, f"{under}.{place}")
    return data


def typed_from_wire(form: type[PartForm], wire: Mapping[str, Any]) -> Typed:
    """Return a form filled from the JSON of something like what it makes."""
    source = wire.get(form.inside) or {} if form.inside else wire
    values = {name: _as_text(source.get(to_camel(name))) for name in form.base_fields}
    rows = {
        name: [typed_from_wire(row_form, row) for row in wire.get(to_camel(name)) or []]
        for name, row_form in form.lists.items()
    }
    return Typed(values, rows)


def without_blank_rows(form: type[PartForm], typed: Typed) -> Typed:
    """Return what was typed less the rows in which nothing was."""
    rows = {
        name: [
            row
            for row in (without_blank_rows(row_form, row) for row in typed.rows.get(name, []))
            if not is_empty(row_form, row)
        ]
        for name, row_form in form.lists.items()
    }
    return Typed(typed.fields, rows)


def is_empty(form: type[PartForm], typed: Typed) -> bool:
    """Tell whether a part holds no text, and no rows."""
    texts = (
        value
        for name, value in typed.fields.items()
        if not isinstance(form.base_fields[name], forms.BooleanField)
    )
    return not any(text.strip() for text in texts) and not any(typed.rows.values())


def _numbers(data: Mapping[str, Any], path: str) -> list[int]:
    """Return the numbers of the rows that a submitted form has under a path, in order."""
    pattern = re.compile(rf"{re.escape(path)}\.(\d{{1,4}})\.")
    return sorted({int(found[1]) for name in data if (found := pattern.match(name))})


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "" if value is None else str(value)
