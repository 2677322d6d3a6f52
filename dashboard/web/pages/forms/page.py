"""The whole form to create a page: the request of operation 2. Source: spec, Create page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dashboard.client import APIError, StatusError
from dashboard.contract.metadata import MetadataRequest
from dashboard.contract.pages import PageRequest
from dashboard.web.pages.forms.nested import (
    MAX_ROWS,
    NestedForm,
    without_blank_rows,
)
from dashboard.web.pages.forms.sections import BasicsForm, MetadataForm
from dashboard.web.pages.forms.submitted import TypedPage
from dashboard.web.ui.locale_format import number


@dataclass(frozen=True)
class FormError:
    """One line of the error summary."""

    message: str
    field_id: str = ""
    """The id of the field it is about; empty if there is none."""


@dataclass(frozen=True)
class Section:
    """One line of the form's table of contents."""

    anchor: str
    label: str
    rows: int
    problems: int


class PageForm:
    """The whole form. `submitted` validates it, and drops blank rows."""

    def __init__(self, typed: TypedPage, *, submitted: bool, keep_blank_rows: bool = False) -> None:
        """Create the two nested forms."""
        drops = submitted and not keep_blank_rows
        basics = without_blank_rows(BasicsForm, typed.basics) if drops else typed.basics
        self.basics = BasicsForm(basics, submitted=submitted)
        self.metadata = MetadataForm(typed.metadata, path="metadata", submitted=submitted)
        self.general_errors: list[FormError] = []
        self._typed = typed

    @property
    def typed_name(self) -> str:
        """The name as typed, valid or not."""
        return self._typed.basics.fields.get("name", "")

    @property
    def typed_metadata(self) -> MetadataRequest:
        """The metadata as typed, valid or not, for the previews."""
        lists = ("keywords", "robots")
        fields = self._typed.metadata.fields.items()
        texts: dict[str, Any] = {name: text for name, text in fields if name not in lists}
        return MetadataRequest(**texts)

    def walk(self) -> Iterator[NestedForm]:
        """Yield every nested form, in order."""
        yield from self.basics.walk()
        yield self.metadata

    def is_valid(self) -> bool:
        """Return whether every nested form is valid."""
        self._check_rows()
        return not self.problems

    def _check_rows(self) -> None:
        """Report too many rows, and actions that share an id: one may be the header action."""
        for form in self.walk():
            for rows in form.row_lists:
                if len(rows.forms) > MAX_ROWS:
                    message = (
                        f"{rows.plural}: {number(len(rows.forms))} rows; the limit is {MAX_ROWS}."
                    )
                    self.general_errors.append(FormError(message, form.path or rows.path))
        seen: dict[str, str] = {}
        for action in self.basics.rows["actions"]:
            action_id = str(action["action_id"].value()).strip()
            if action_id and action_id in seen:
                action.add_error("action_id", f"{seen[action_id]} already uses this ID.")
            seen.setdefault(action_id, action.row_title)

    def request(self) -> PageRequest:
        """Return the body to send. The form has to be valid."""
        basics = self.basics
        given = basics.cleaned_data | basics.row_requests() | {"metadata": self.metadata.request()}
        # Optional fields that are empty are left out, not sent as null.
        return PageRequest(
            **{name: value for name, value in given.items() if value not in ("", None)}
        )

    def focus_row(self, path: str) -> None:
        """Set the focus to the first field of the row at a path."""
        for form in self.walk():
            if path and form.path == path:
                next(iter(form.fields.values())).widget.attrs["data-autofocus"] = ""

    def add_api_error(self, error: APIError) -> None:
        """Add the service's messages to the fields it names, and all others to the summary."""
        problems = error.problems if isinstance(error, StatusError) else ()
        for problem in problems:
            form, name = self.field_at(problem.path)
            if form and name:
                form.add_error(name, problem.message)
            else:
                prefix = f"{problem.path}: " if problem.path else ""
                self.general_errors.append(FormError(f"{prefix}{problem.message}"))
        if not problems:
            self.general_errors.append(FormError(str(error)))

    @property
    def problems(self) -> list[FormError]:
        """Every error: those about no field first, the others in the order of the form."""
        return self.general_errors + [
            problem for form in self.walk() for problem in _problems(form)
        ]

    @property
    def sections(self) -> list["Section"]:
        """The sections of the form, for its table of contents."""
        lists = [
            Section(
                rows.path,
                rows.plural,
                len(rows.forms),
                sum(len(form.errors) for row in rows.forms for form in row.walk()),
            )
            for rows in self.basics.row_lists
        ]
        basics = Section("basics", "Basics", 0, len(self.basics.errors))
        return [basics, *lists, Section("metadata", "Metadata", 0, len(self.metadata.errors))]

    def field_at(self, path: str) -> tuple[NestedForm | None, str]:
        """Return the nested form and the name of the field that a path leads to, or into."""
        # `actions[0].url`, `/actions/0/url` and `body.actions.0.url` all mean one field.
        steps = [step for step in re.split(r"[./\[\]]+", path) if step not in ("", "body", "$")]
        wanted = ".".join(steps) + "."
        for form in self.walk():
            for name in form.fields:
                if wanted.startswith(f"{form.add_prefix(name)}."):
                    return form, name
        return None, ""


def _problems(form: NestedForm) -> Iterator[FormError]:
    for name, errors in form.errors.items():
        field = form[name]
        label = ", ".join(filter(None, (form.row_title, str(field.label))))
        for error in errors:
            # A group of radio buttons has no id of its own.
            yield FormError(f"{label}: {error}", field.id_for_label or f"{field.auto_id}_0")
