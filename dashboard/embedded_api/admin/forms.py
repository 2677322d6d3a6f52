"""Forms of the admin. They accept what the API accepts and show errors next to the fields."""

import json
from typing import Any

from django import forms
from django.contrib.admin.widgets import AdminTextareaWidget
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput
from pydantic import ValidationError as InvalidBody

from dashboard.contract.wire import WireModel
from dashboard.json_api.parser import parse_json
from dashboard.json_api.problems import ProblemError, field_error


class TextField(forms.CharField):
    """A text that isn't stripped, with `\\n` line ends, as in the API.

    Browsers send `\\r\\n`, which would change every saved text.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"strip": False} | options)

    def to_python(self, value: Any) -> str | None:
        text = super().to_python(value)
        return text and text.replace("\r\n", "\n")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.to_python(initial), data)


class JsonField(forms.JSONField):
    """JSON with the API's rules: no duplicate names, no NUL, no numbers that others can't read."""

    widget = AdminTextareaWidget

    def to_python(self, value: Any) -> Any:
        if not isinstance(value, str) or not value.strip():
            return super().to_python(value)
        try:
            return parse_json(value.encode(), name="This")
        except ProblemError as problem:
            errors = [f"{error.path}: {error.message}" for error in problem.errors]
            raise ValidationError(errors or [problem.detail]) from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        return initial if self.disabled else InvalidJSONInput(data or "")

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)


class ServiceForm(forms.ModelForm):  # type: ignore[type-arg]  # not so at run time
    """The form of a row. A field that the user didn't change keeps the row's exact value.

    That value may be newer than the form, so the page sends back what each field showed.
    """

    rules: type[WireModel] | None = None
    """Request model that validates the fields, if any."""

    request: Any = None
    """The validated request, if there are rules."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        columns = self._meta.model._meta.concrete_fields
        for field in self.fields.values():
            field.show_hidden_initial = not self.instance._state.adding
        self._before = {column.name: getattr(self.instance, column.attname) for column in columns}

    def changed_columns(self) -> list[str]:
        """Return the names of the changed columns. The form must be valid."""
        columns = self._meta.model._meta.concrete_fields
        return [
            column.name
            for column in columns
            if getattr(self.instance, column.attname) != self._before[column.name]
        ]

    def clean(self) -> dict[str, Any]:
        super().clean()
        for name in self.cleaned_data:
            self.cleaned_data[name] = self._value_to_store(name)
        if self.rules and not self.errors:
            try:
                self.request = self.rules.model_validate(self.body())
            except InvalidBody as error:
                self._show(error)
        return self.cleaned_data

    def body(self) -> dict[str, Any]:
        """Return the form's fields as a request body, without empty fields."""
        fields = self.rules.model_fields if self.rules else {}
        values = {str(field.alias): self.cleaned_data.get(name) for name, field in fields.items()}
        return {alias: value for alias, value in values.items() if value not in (None, "")}

    def _value_to_store(self, name: str) -> Any:
        columns = {field.name: field for field in self._meta.model._meta.concrete_fields}
        if name not in columns:
            return self.cleaned_data[name]
        if not self.instance._state.adding and name not in self.changed_data:
            return getattr(self.instance, name)
        value, column = self.cleaned_data[name], columns[name]
        if value in (None, ""):
            # An empty field is absent in the API. Columns that can't be null have an empty default.
            return None if column.null else column.get_default()
        return value

    def _show(self, error: InvalidBody) -> None:
        fields = (self.rules or WireModel).model_fields
        names = {str(field.alias): name for name, field in fields.items()}
        for problem in map(field_error, error.errors()):
            alias, _, rest = problem.path.partition(".")
            name = names.get(alias)
            # Our messages continue a sentence. Pydantic's messages are sentences.
            start = f"{rest}: " if rest else "" if problem.message[:1].isupper() else "This "
            self.add_error(name if name in self.fields else None, f"{start}{problem.message}.")
