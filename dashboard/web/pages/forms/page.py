"""The whole form that creates a page. Source: spec, Create page."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.utils.functional import cached_property

from dashboard.client import APIError, StatusError
from dashboard.contract.metadata import Metadata
from dashboard.contract.pages import (
    Action,
    ActionCardWidget,
    FooterLinkGroup,
    PageItem,
    PageRequest,
    PageType,
)
from dashboard.previews.content import PageContent
from dashboard.previews.findings import PageFinding, page_findings
from dashboard.web.pages.forms.nested import (
    MAX_ROWS,
    NestedForm,
    SubmittedData,
    as_data,
    edit_rows,
    input_from_wire,
    is_empty,
    read_input,
    wire_from_input,
    without_blank_rows,
)
from dashboard.web.pages.forms.sections import BasicsForm, MetadataForm
from dashboard.web.ui.formats import number


@dataclass
class PageInput:
    basics: SubmittedData
    metadata: SubmittedData

    def edit_rows(self, command: str) -> str:
        return edit_rows(BasicsForm, self.basics, command)


def read_page_input(data: Mapping[str, Any]) -> PageInput:
    return PageInput(read_input(BasicsForm, data), read_input(MetadataForm, data, "metadata"))


def page_input_from_wire(wire: Mapping[str, Any]) -> PageInput:
    metadata = input_from_wire(MetadataForm, wire.get("metadata") or {})
    return PageInput(input_from_wire(BasicsForm, wire), metadata)


def as_submitted(page_input: PageInput) -> dict[str, str]:
    """Return the form as a browser would submit it. The inverse of `read_page_input`."""
    basics = as_data(BasicsForm, page_input.basics)
    return basics | as_data(MetadataForm, page_input.metadata, "metadata")


def is_blank(page_input: PageInput) -> bool:
    """Return whether nothing was typed. The initial values of a new form are ignored."""
    initial = dict.fromkeys(new_page(brand_id="").basics.fields, "")
    basics = SubmittedData(page_input.basics.fields | initial, page_input.basics.rows)
    return is_empty(BasicsForm, without_blank_rows(BasicsForm, basics)) and is_empty(
        MetadataForm, page_input.metadata
    )


def new_page(*, brand_id: str) -> PageInput:
    fields = {"page_type": PageType.INBOUND.value, "brand_id": brand_id}
    return PageInput(SubmittedData(fields, {"actions": [SubmittedData()]}), SubmittedData())


@dataclass(frozen=True)
class FormError:
    message: str
    field_id: str = ""
    """HTML id of the field with the error; empty if there is none."""


@dataclass(frozen=True)
class Section:
    anchor: str
    label: str
    rows: int
    problems: int


class PageForm:
    """The whole form. `submitted` validates it and drops blank rows."""

    def __init__(
        self, page_input: PageInput, *, submitted: bool, keep_blank_rows: bool = False
    ) -> None:
        drops = submitted and not keep_blank_rows
        basics = without_blank_rows(BasicsForm, page_input.basics) if drops else page_input.basics
        self.basics = BasicsForm(basics, submitted=submitted)
        self.metadata = MetadataForm(page_input.metadata, path="metadata", submitted=submitted)
        self.general_errors: list[FormError] = []
        self._input, self._basics = page_input, basics
        by_path = groupby(sorted(self.findings, key=attrgetter("path")), attrgetter("path"))
        findings = {f"{path}": list(group) for path, group in by_path}
        for form in self.walk():
            form.findings = findings

    @cached_property
    def content(self) -> PageContent:
        """The page as typed, valid or not."""
        wire = wire_from_input(BasicsForm, self._basics)
        metadata = wire_from_input(MetadataForm, self._input.metadata)
        cards, footer = wire["actionCardWidgets"], wire["footerLinks"]
        # Keywords and robots are typed as text, but are lists. No preview draws them.
        texts = {name: metadata[name] for name in metadata.keys() - {"keywords", "robots"}}
        fields: dict[str, Any] = {
            "title": wire.get("name", ""),
            "actions": [Action.model_validate(row) for row in wire["actions"]],
            "action_card_widgets": [ActionCardWidget.model_validate(row) for row in cards],
            "footer_links": [FooterLinkGroup.model_validate(row) for row in footer],
            "metadata": Metadata.model_validate(texts),
        }
        return PageContent(PageItem.model_construct(**fields))

    @cached_property
    def findings(self) -> list[PageFinding]:
        return [] if is_blank(self._input) else page_findings(self.content)

    @property
    def serious_findings(self) -> str:
        """The details of serious findings. The form contains them after they were shown."""
        return " ".join(finding.detail for finding in self.findings if finding.is_serious)

    def walk(self) -> Iterator[NestedForm]:
        yield from self.basics.walk()
        yield self.metadata

    def is_valid(self) -> bool:
        for form in self.walk():
            for rows in form.row_lists:
                if len(rows.forms) > MAX_ROWS:
                    message = (
                        f"{rows.plural}: {number(len(rows.forms))} rows; the limit is {MAX_ROWS}."
                    )
                    self.general_errors.append(FormError(message, form.path or rows.path))
        # An id names the header action, so actions can't share one.
        seen: dict[str, str] = {}
        for action in self.basics.rows["actions"]:
            action_id = str(action["action_id"].value()).strip()
            if action_id and action_id in seen:
                action.add_error("action_id", f"{seen[action_id]} already uses this ID.")
            seen.setdefault(action_id, action.row_title)
        return not self.problems

    def request(self) -> PageRequest:
        """Return the body to send. The form must be valid."""
        basics = self.basics
        body = basics.cleaned_data | basics.row_requests() | {"metadata": self.metadata.request()}
        # Leave out empty optional fields, instead of sending null.
        return PageRequest(
            **{name: value for name, value in body.items() if value not in ("", None)}
        )

    def focus_row(self, path: str) -> None:
        for form in self.walk():
            if path and form.path == path:
                next(iter(form.fields.values())).widget.attrs["data-autofocus"] = ""

    def add_api_error(self, error: APIError) -> None:
        """Add the service's messages to the fields they name, and the others to the summary."""
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
        """All errors: those without a field first, then the others in the order of the form."""
        problems = [*self.general_errors]
        for form in self.walk():
            for name, errors in form.errors.items():
                field = form[name]
                label = ", ".join(filter(None, (form.row_title, str(field.label))))
                # A group of radio buttons has no id of its own.
                html_id = field.id_for_label or f"{field.auto_id}_0"
                problems += [FormError(f"{label}: {error}", html_id) for error in errors]
        return problems

    @property
    def sections(self) -> list["Section"]:
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
        """Return the nested form and the name of the field that a path names or leads into."""
        # `actions[0].url`, `/actions/0/url` and `body.actions.0.url` all name the same field.
        steps = [step for step in re.split(r"[./\[\]]+", path) if step not in ("", "body", "$")]
        wanted = ".".join(steps) + "."
        for form in self.walk():
            for name in form.fields:
                if wanted.startswith(f"{form.add_prefix(name)}."):
                    return form, name
        return None, ""
