"""Forms of nested objects, with rows that can be added, removed and moved."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django import forms
from django.core.validators import MaxLengthValidator
from pydantic.alias_generators import to_camel

from dashboard.contract.wire import WireModel
from dashboard.previews.findings import PageFinding
from dashboard.web.ui.forms import SingleLineField

_TOO_LONG = "%(show_value)s characters; the limit is %(limit_value)s."
MAX_ROWS = 50
"""Maximum number of rows in a list. Source: our choice; the spec gives no limit."""


@dataclass
class SubmittedData:
    """The typed text of a form: its fields by name, and the rows of each nested list."""

    fields: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list["SubmittedData"]] = field(default_factory=dict)


class NestedForm(forms.Form):
    """The form of an object in the request. Subclasses define its fields and nested lists."""

    required_css_class = "required"
    noun: ClassVar[str] = ""
    """Name of a row. `plural` is the name of the list."""
    plural: ClassVar[str] = ""
    inside: ClassVar[str] = ""
    """API name of the object around the fields, such as `image`, if there is one."""
    lists: ClassVar[Mapping[str, type["NestedForm"]]] = {}
    wire_model: ClassVar[type[WireModel]]
    findings: Mapping[str, list[PageFinding]] = {}
    """Findings on the whole page, by the path of the field."""

    def __init__(self, form_input: SubmittedData, *, path: str = "", submitted: bool) -> None:
        self.path = path
        data = {self.add_prefix(name): value for name, value in form_input.fields.items()}
        super().__init__(
            data if submitted else None, initial=form_input.fields, auto_id="%s", label_suffix=""
        )
        for form_field in self.fields.values():
            if isinstance(form_field, SingleLineField):
                form_field.validators.append(MaxLengthValidator(form_field.longest, _TOO_LONG))
        self.rows = {
            name: [
                form(row, path=f"{_list_path(self.path, name)}.{place}", submitted=submitted)
                for place, row in enumerate(form_input.rows.get(name, []))
            ]
            for name, form in self.lists.items()
        }

    def add_prefix(self, field_name: str) -> str:
        """Return the field's path in the request."""
        steps = (self.path, self.inside, to_camel(field_name))
        return ".".join(step for step in steps if step)

    @property
    def row_lists(self) -> list["RowList"]:
        return [
            RowList(_list_path(self.path, name), form.noun, form.plural, self.rows[name])
            for name, form in self.lists.items()
        ]

    @property
    def number(self) -> int:
        """Position of the row in its list, from 1; 0 if the form is not a row."""
        place = self.path.rpartition(".")[2]
        return int(place) + 1 if place.isdecimal() else 0

    @property
    def row_title(self) -> str:
        return f"{self.noun} {self.number}" if self.number else ""

    def request(self) -> WireModel | None:
        """Return the object to send. The form must be valid."""
        return self.wire_model(**self.cleaned_data, **self.row_requests())

    def row_requests(self) -> dict[str, list[WireModel | None]]:
        return {name: [row.request() for row in rows] for name, rows in self.rows.items()}

    def walk(self) -> Iterator["NestedForm"]:
        yield self
        for rows in self.rows.values():
            for row in rows:
                yield from row.walk()


@dataclass(frozen=True)
class RowList:
    path: str
    noun: str
    plural: str
    forms: list[NestedForm]

    @property
    def is_full(self) -> bool:
        return len(self.forms) >= MAX_ROWS


def read_input(form: type[NestedForm], data: Mapping[str, Any], path: str = "") -> SubmittedData:
    """Parse a submitted form. Unknown names are dropped."""
    empty = form(SubmittedData(), path=path, submitted=False)
    form_input = SubmittedData(
        {name: str(data.get(empty.add_prefix(name), "")) for name in empty.fields}
    )
    for name, row_form in form.lists.items():
        under = _list_path(path, name)
        pattern = re.compile(rf"{re.escape(under)}\.(\d{{1,4}})\.")
        numbers = {int(match[1]) for field in data if (match := pattern.match(field))}
        form_input.rows[name] = [
            read_input(row_form, data, f"{under}.{number}") for number in sorted(numbers)
        ]
    return form_input


def as_data(form: type[NestedForm], form_input: SubmittedData, path: str = "") -> dict[str, str]:
    """Return what was typed as a browser would submit it. The inverse of `read_input`."""
    empty = form(SubmittedData(), path=path, submitted=False)
    data = {empty.add_prefix(name): form_input.fields.get(name, "") for name in empty.fields}
    for name, row_form in form.lists.items():
        for place, row in enumerate(form_input.rows.get(name, [])):
            data |= as_data(row_form, row, f"{_list_path(path, name)}.{place}")
    return data


def input_from_wire(form: type[NestedForm], wire: Mapping[str, Any]) -> SubmittedData:
    source = wire.get(form.inside) or {} if form.inside else wire
    values = {name: _as_text(source.get(to_camel(name))) for name in form.base_fields}
    rows = {
        name: [input_from_wire(row_form, row) for row in wire.get(to_camel(name)) or []]
        for name, row_form in form.lists.items()
    }
    return SubmittedData(values, rows)


def wire_from_input(form: type[NestedForm], form_input: SubmittedData) -> dict[str, Any]:
    """Return what was typed as JSON for the API, valid or not. The inverse of `input_from_wire`."""
    fields: dict[str, Any] = {to_camel(name): text for name, text in form_input.fields.items()}
    rows = {
        to_camel(name): [wire_from_input(row_form, row) for row in form_input.rows.get(name, [])]
        for name, row_form in form.lists.items()
    }
    return ({form.inside: fields} if form.inside else fields) | rows


def without_blank_rows(form: type[NestedForm], form_input: SubmittedData) -> SubmittedData:
    rows = {
        name: [
            row
            for row in (without_blank_rows(row_form, row) for row in form_input.rows.get(name, []))
            if not is_empty(row_form, row)
        ]
        for name, row_form in form.lists.items()
    }
    return SubmittedData(form_input.fields, rows)


def is_empty(form: type[NestedForm], form_input: SubmittedData) -> bool:
    texts = (
        value
        for name, value in form_input.fields.items()
        if not isinstance(form.base_fields[name], forms.BooleanField)
    )
    return not any(text.strip() for text in texts) and not any(form_input.rows.values())


def _list_path(path: str, name: str) -> str:
    return f"{path}.{to_camel(name)}" if path else to_camel(name)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "" if value is None else str(value)


def edit_rows(form: type[NestedForm], form_input: SubmittedData, command: str) -> str:
    """Apply a command in place: `add PATH`, `remove PATH`, `up PATH` or `down PATH`.

    Returns the command or the path of the row to focus afterwards; "" if nothing was changed.
    """
    verb, _, path = command.partition(" ")
    if verb == "add":
        return _add(form, form_input, path)
    list_path, _, number = path.rpartition(".")
    rows = _rows_at(form, form_input, list_path)
    place = int(number) if re.fullmatch(r"\d{1,4}", number) else -1
    if rows is None or not 0 <= place < len(rows):
        return ""
    if verb == "remove":
        del rows[place]
        return f"add {list_path}"
    target = place + {"up": -1, "down": 1}.get(verb, 0)
    if target == place or not 0 <= target < len(rows):
        return ""
    rows[place], rows[target] = rows[target], rows[place]
    return f"{verb} {list_path}.{target}"


def _add(form: type[NestedForm], form_input: SubmittedData, path: str) -> str:
    rows = _rows_at(form, form_input, path)
    if rows is None or len(rows) >= MAX_ROWS:
        return ""
    rows.append(SubmittedData())
    return f"{path}.{len(rows) - 1}"


def _rows_at(
    form: type[NestedForm], form_input: SubmittedData, path: str
) -> list[SubmittedData] | None:
    """Return the list of rows at a path such as `footerLinks.0.links`, or None."""
    wanted, _, rest = path.partition(".")
    name = next((name for name in form.lists if to_camel(name) == wanted), None)
    if name is None:
        return None
    rows = form_input.rows.setdefault(name, [])
    if not rest:
        return rows
    number, _, rest = rest.partition(".")
    if not re.fullmatch(r"\d{1,4}", number) or int(number) >= len(rows):
        return None
    return _rows_at(form.lists[name], rows[int(number)], rest)
