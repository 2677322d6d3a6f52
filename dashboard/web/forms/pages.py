"""The form that creates a page: the whole request of operation 2. Source: spec, Create page."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dashboard.client import APIError, StatusError
from dashboard.contract.metadata import MetadataRequest
from dashboard.contract.pages import PageRequest
from dashboard.web.forms.page_parts import BasicsForm, MetadataForm
from dashboard.web.forms.parts import (
    MAX_ROWS,
    PartForm,
    without_blank_rows,
)
from dashboard.web.forms.typed_pages import TypedPage
from dashboard.web.languages import number


@dataclass(frozen=True)
class Problem:
    """One line of the error summary."""

    said: str
    field_id: str = ""
    """The field it is about, where it is about one."""


@dataclass(frozen=True)
class Section:
    """One line of the form's table of contents."""

    anchor: str
    label: str
    rows: int
    problems: int


class PageForm:
    """The whole form. `submitted` asks for its checks, and drops rows in which nothing is."""

    def __init__(self, typed: TypedPage, *, submitted: bool, keep_blank_rows: bool = False) -> None:
        """Make the form of every part."""
        drops = submitted and not keep_blank_rows
        basics = without_blank_rows(BasicsForm, typed.basics) if drops else typed.basics
        self.basics = BasicsForm(basics, submitted=submitted)
        self.metadata = MetadataForm(typed.metadata, path="metadata", submitted=submitted)
        self.unplaced: list[Problem] = []
        self._typed = typed

    @property
    def typed_name(self) -> str:
        """The name as it stands, right or wrong."""
        return self._typed.basics.fields.get("name", "")

    @property
    def typed_metadata(self) -> MetadataRequest:
        """The texts of the metadata as they stand, right or wrong: what previews are drawn of."""
        lists = ("keywords", "robots")
        fields = self._typed.metadata.fields.items()
        texts: dict[str, Any] = {name: text for name, text in fields if name not in lists}
        return MetadataRequest(**texts)

    def walk(self) -> Iterator[PartForm]:
        """Return every part, in the order of the form."""
        yield from self.basics.walk()
        yield self.metadata

    def is_valid(self) -> bool:
        """Tell whether every part is."""
        self._check_rows()
        return not self.problems

    def _check_rows(self) -> None:
        """Refuse more rows than can be typed, and two actions of one id: which is the header?"""
        for part in self.walk():
            for rows in part.row_lists:
                if len(rows.forms) > MAX_ROWS:
                    said = f"{rows.plural}: {number(len(rows.forms))} rows. {MAX_ROWS} is the most."
                    self.unplaced.append(Problem(said, part.path or rows.path))
        seen: dict[str, str] = {}
        for action in self.basics.rows["actions"]:
            action_id = str(action["action_id"].value()).strip()
            if action_id and action_id in seen:
                action.add_error("action_id", f"{seen[action_id]} has this id already.")
            seen.setdefault(action_id, action.row_title)

    def request(self) -> PageRequest:
        """Return the body to send. Only for a form that is valid."""
        basics, metadata = self.basics, self.metadata.request()
        # What is optional and empty is left out, not sent as null.
        given: dict[str, Any] = {
            "header_action_id": basics.cleaned_data["header_action_id"] or None,
            "metadata": metadata,
        }
        return PageRequest(
            name=basics.cleaned_data["name"],
            page_type=basics.cleaned_data["page_type"],
            page_context=basics.cleaned_data["page_context"],
            brand_id=basics.cleaned_data["brand_id"],
            actions=_requests(basics.rows["actions"]),
            action_card_widgets=_requests(basics.rows["action_card_widgets"]),
            footer_links=_requests(basics.rows["footer_links"]),
            scripts=_requests(basics.rows["scripts"]),
            **{name: value for name, value in given.items() if value is not None},
        )

    def focus_row(self, path: str) -> None:
        """Let the first field of the row at a path take the focus."""
        for part in self.walk():
            if path and part.path == path:
                next(iter(part.fields.values())).widget.attrs["data-autofocus"] = ""

    def add_refusal(self, error: APIError) -> None:
        """Put the service's words at the fields it names, and all others into the summary."""
        problems = error.problems if isinstance(error, StatusError) else ()
        for problem in problems:
            part, name = self.field_at(problem.path)
            if part and name:
                part.add_error(name, problem.message)
            else:
                where = f"{problem.path}: " if problem.path else ""
                self.unplaced.append(Problem(f"{where}{problem.message}"))
        if not problems:
            self.unplaced.append(Problem(str(error)))

    @property
    def problems(self) -> list[Problem]:
        """Every problem, those about no field first, the others in the order of the form."""
        return self.unplaced + [problem for part in self.walk() for problem in _problems(part)]

    @property
    def sections(self) -> list["Section"]:
        """The sections of the form, for its table of contents."""
        lists = [
            Section(
                rows.path,
                rows.plural,
                len(rows.forms),
                sum(len(part.errors) for row in rows.forms for part in row.walk()),
            )
            for rows in self.basics.row_lists
        ]
        basics = Section("basics", "Basics", 0, len(self.basics.errors))
        return [basics, *lists, Section("metadata", "Metadata", 0, len(self.metadata.errors))]

    def field_at(self, path: str) -> tuple[PartForm | None, str]:
        """Return the part and the name of the field that a path leads to, or into."""
        # `actions[0].url`, `/actions/0/url` and `body.actions.0.url` all mean one field.
        steps = [step for step in re.split(r"[./\[\]]+", path) if step not in ("", "body", "$")]
        wanted = ".".join(steps) + "."
        for part in self.walk():
            for name in part.fields:
                if wanted.startswith(f"{part.add_prefix(name)}."):
                    return part, name
        return None, ""


def _requests(rows: Iterable[Any]) -> list[Any]:
    return [row.request() for row in rows]


def _problems(part: PartForm) -> Iterator[Problem]:
    for name, errors in part.errors.items():
        bound = part[name]
        label = ", ".join(filter(None, (part.row_title, str(bound.label))))
        for error in errors:
            # A group of radio buttons has no id of its own.
            yield Problem(f"{label}: {error}", bound.id_for_label or f"{bound.auto_id}_0")
