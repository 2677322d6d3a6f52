"""Jinja2 templates call methods with parentheses, and an undefined name is an error."""

import inspect
from collections.abc import Iterator
from functools import partialmethod
from importlib import import_module
from pathlib import Path
from typing import Any

import jinja2
import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.forms import BaseForm, BoundField
from django.http import HttpRequest, QueryDict
from django.template.loader import get_template
from jinja2 import nodes

from config.settings import BASE_DIR
from tests.support.templates import environment

FOLDER = BASE_DIR / "templates"
TEMPLATES = sorted({*FOLDER.rglob("*.html")} - {*(FOLDER / "django").rglob("*.html")})
"""Templates of our own pages; django/ has templates of Django's admin."""
DJANGO = (AnonymousUser, BaseForm, BoundField, HttpRequest, QueryDict)


def parsed(path: Path) -> nodes.Template:
    return environment().parse(path.read_text())


def methods() -> set[str]:
    """Return names that are always methods, in our classes and in Django's."""
    import_module(settings.ROOT_URLCONF)  # imports every view's module
    names: set[str] = set()
    values: set[str] = set()
    for cls in {*our_classes(), *apps.get_models(), *DJANGO}:
        members = inspect.getmembers_static(cls)
        functions = {
            name
            for name, member in members
            if inspect.isfunction(member) or isinstance(member, partialmethod)
        }
        names |= functions
        values |= {name for name, _ in members} - functions
        values |= set(inspect.get_annotations(cls))
    return names - values


def our_classes() -> Iterator[type]:
    waiting: list[type] = [object]
    while waiting:
        subclasses: list[type] = type.__subclasses__(waiting.pop())
        for cls in subclasses:
            if str(cls.__module__).startswith("dashboard."):
                yield cls
            waiting.append(cls)


def attributes_not_called(template: nodes.Template) -> set[str]:
    called = {id(call.node) for call in template.find_all(nodes.Call)}
    return {item.attr for item in template.find_all(nodes.Getattr) if id(item) not in called}


def test_a_method_that_a_template_names_is_called() -> None:
    expected = methods()
    assert {"get_full_path", "non_field_errors", "as_received", "get_outcome_display"} <= expected
    not_called = {
        path.name: names
        for path in TEMPLATES
        if (names := attributes_not_called(parsed(path)) & expected)
    }
    assert not_called == {}


def test_templates_compile_with_every_filter_and_test() -> None:
    wrong = {}
    for path in TEMPLATES:
        name = str(path.relative_to(BASE_DIR / "templates"))
        try:
            environment().get_template(name)
        except jinja2.TemplateError as error:
            wrong[name] = str(error)
    assert wrong == {}


def test_the_lines_of_a_template_fit_a_screen() -> None:
    longest = {str(path): max(map(len, path.read_text().splitlines())) for path in TEMPLATES}
    assert {name: length for name, length in longest.items() if length >= 120} == {}


def test_an_undefined_name_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        environment().from_string("{{ missing }}").render()
    with pytest.raises(jinja2.UndefinedError):
        environment().from_string("{% if missing %}{% endif %}").render()


def test_values_are_escaped() -> None:
    html: Any = environment().from_string("{{ value|linebreaks }}{{ value }}").render(value="<b>")
    assert html == "<p>&lt;b&gt;</p>&lt;b&gt;"


def test_a_partial_is_a_block_of_its_page() -> None:
    with pytest.raises(LookupError, match="no block"):
        get_template("pages/list.html#no_such_part")
