"""The walls between the rooms (DESIGN.md), read off every import of every module."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# A room, and what it may import besides itself and the standard library.
ROOMS = {
    "contract": {"pydantic"},
    "client": {"dashboard.contract", "dashboard.kept", "httpcore", "httpx", "pydantic"},
    "ledger": {
        "dashboard.contract",
        "dashboard.itself",
        "dashboard.kept",
        "dashboard.statements",
        "django",
    },
    "web": {
        "dashboard.client",
        "dashboard.contract",
        "dashboard.itself",
        "dashboard.ledger",
        "dashboard.statements",
    },
    "embedded_api": {
        "dashboard.contract",
        "dashboard.kept",
        "dashboard.statements",
        "django",
        "httpx",
        "markdown_it",
        "ninja",
        "orjson",
        "pydantic",
        "pydantic_core",
        "pyroaring",
        "redis",
    },
}
ANY_LIBRARY = {"web"}


def imports_of(source: str, package: str) -> Iterator[str]:
    """Yield the dotted name of each import, relative ones resolved, late ones included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: 1 - node.level or None] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def root_of(name: str) -> str:
    """Return what a wall speaks of: a room of ours (`dashboard.web`), else the top package."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "dashboard" else parts[0]


def modules() -> list[tuple[str, Path]]:
    """Return each module of the rooms with the room's name."""
    return [(room, path) for room in ROOMS for path in (ROOT / "dashboard" / room).rglob("*.py")]


def strangers(room: str, path: Path) -> set[str]:
    """Return what a module imports and its room does not allow."""
    package = ".".join(path.relative_to(ROOT).parent.parts)
    roots = {root_of(name) for name in imports_of(path.read_text(), package)}
    if room in ANY_LIBRARY:
        roots = {root for root in roots if root.startswith(("dashboard", "tests"))}
    return roots - ROOMS[room] - {f"dashboard.{room}"} - sys.stdlib_module_names


@pytest.mark.parametrize(("room", "path"), modules(), ids=lambda part: getattr(part, "name", part))
def test_a_module_imports_only_what_its_room_may(room: str, path: Path) -> None:
    assert strangers(room, path) == set()


@pytest.mark.parametrize("path", (ROOT / "dashboard").glob("*.py"), ids=lambda path: path.name)
def test_what_stands_beside_the_rooms_imports_none(path: Path) -> None:
    roots = {root_of(name) for name in imports_of(path.read_text(), "dashboard")}
    assert roots <= {"django", *sys.stdlib_module_names}


def test_every_folder_of_the_dashboard_is_a_room() -> None:
    folders = {path.parent.name for path in (ROOT / "dashboard").glob("*/__init__.py")}
    assert folders == ROOMS.keys()


def test_the_settings_name_the_embedded_api_and_the_web_by_dotted_path_alone() -> None:
    for path in [ROOT / "manage.py", *(ROOT / "config").rglob("*.py")]:
        roots = {root_of(name) for name in imports_of(path.read_text(), "config")}
        assert not {root for root in roots if root.startswith("dashboard.")}, path


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import dashboard.web.urls", "dashboard.web"),
        ("from dashboard import web", "dashboard.web"),
        ("from ..web import urls", "dashboard.web"),
        ("from .. import web", "dashboard.web"),
        ("from . import errors", "dashboard.client"),
        (
            "def late():\n    from dashboard.embedded_api.models import Page",
            "dashboard.embedded_api",
        ),
        ("if TYPE_CHECKING:\n    import django.db", "django"),
    ],
)
def test_every_way_to_import_is_seen(source: str, found: str) -> None:
    assert {root_of(name) for name in imports_of(source, "dashboard.client")} == {found}
