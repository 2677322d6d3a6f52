"""Adding, moving and removing rows of a form loses no input."""

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from dashboard.web.pages.forms.nested import (
    NestedForm,
    SubmittedData,
    as_data,
    edit_rows,
    read_input,
    without_blank_rows,
)
from dashboard.web.pages.forms.sections import BasicsForm

TEXTS = st.text(alphabet="ab \0é<", max_size=3)


def typed_parts(form: type[NestedForm]) -> st.SearchStrategy[SubmittedData]:
    """Return a strategy for anything that may be typed into a form, including nested rows."""
    lists = {name: st.lists(typed_parts(row), max_size=3) for name, row in form.lists.items()}
    return st.builds(
        SubmittedData,
        st.fixed_dictionaries(dict.fromkeys(form.base_fields, TEXTS)),
        st.fixed_dictionaries(lists),
    )


TYPED = typed_parts(BasicsForm)


def submitted(form: NestedForm) -> dict[str, str]:
    """Return what a browser would send for a form."""
    return {
        part.add_prefix(name): str(part.initial.get(name, ""))
        for part in form.walk()
        for name in part.fields
    }


@given(TYPED)
def test_a_submitted_form_is_parsed_back_unchanged(form_input: SubmittedData) -> None:
    form = BasicsForm(form_input, submitted=False)
    assert read_input(BasicsForm, submitted(form)) == form_input


@given(TYPED)
def test_the_data_of_a_form_is_parsed_back_unchanged(form_input: SubmittedData) -> None:
    assert read_input(BasicsForm, as_data(BasicsForm, form_input)) == form_input


@given(TYPED, st.sampled_from(sorted(BasicsForm.lists)))
def test_adding_and_removing_a_row_changes_nothing(form_input: SubmittedData, name: str) -> None:
    before, path = deepcopy(form_input), to_camel(name)
    added = edit_rows(BasicsForm, form_input, f"add {path}")
    assert added == f"{path}.{len(before.rows[name])}"
    assert edit_rows(BasicsForm, form_input, f"remove {added}") == f"add {path}"
    assert form_input == before


@given(TYPED, st.integers(0, 3))
def test_a_row_moved_up_and_down_returns(form_input: SubmittedData, place: int) -> None:
    before = deepcopy(form_input)
    moved = edit_rows(BasicsForm, form_input, f"up actions.{place}")
    if moved:
        assert (
            form_input != before
            or before.rows["actions"][place] == before.rows["actions"][place - 1]
        )
        edit_rows(BasicsForm, form_input, moved.replace("up", "down"))
    assert form_input == before


@given(TYPED, st.text(max_size=30))
def test_no_command_fails(form_input: SubmittedData, command: str) -> None:
    edit_rows(BasicsForm, form_input, command)


@given(TYPED)
def test_only_blank_rows_are_dropped(form_input: SubmittedData) -> None:
    rest = without_blank_rows(BasicsForm, form_input)
    assert rest.fields == form_input.fields
    assert without_blank_rows(BasicsForm, rest) == rest
    written = [
        row for row in form_input.rows["actions"] if any(map(str.strip, row.fields.values()))
    ]
    assert rest.rows["actions"] == written
