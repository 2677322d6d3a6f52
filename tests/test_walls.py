"""The allowed imports between the rooms, checked for every module."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

ROOT = Path(__file__).parent.parent
CODE = ROOT / "dashboard"

LEAVES = {
    *("clock", "compiled_query", "encryption", "json_api", "limits", "network"),
    *("outgoing_webhooks", "text_diff", "texts", "word_alignment", "work"),
}
"""Modules that any room may import, and the worker's room. They import no other room."""

BELOW = (
    *("contract", "client", "ledger", "webhooks", "saved_views", "page_drafts", "live", "accounts"),
    *("previews", "observability", "service", "approvals", "comments", "review", "operations"),
    "releases",
    *("notifications", "machine"),
)
"""Rooms in layers: each may import those before it."""

ROOMS: dict[str, set[str]] = {
    "contract": set(),
    "json_api": set(),
    "work": set(),
    "client": {"contract"},
    "ledger": {"contract"},
    "webhooks": {"ledger"},
    "saved_views": {"ledger"},
    "page_drafts": {"ledger"},
    "live": {"ledger"},
    "accounts": {"ledger"},
    "previews": {"contract"},
    # Metrics and logs use the client's errors and the ledger's operations.
    "observability": {"contract", "client", "ledger"},
    "service": {"contract", "client", "ledger", "webhooks", "observability"},
    # Two accounts with the same e-mail address belong to one person.
    "approvals": {"contract", "ledger", "accounts", "service"},
    # Both rooms name places the same way, and a passage is a part of a version's text.
    "comments": {"contract", "ledger", "live", "accounts"},
    # Reviews use presence to share out items; a version that waits for approval is decided.
    "review": {"contract", "ledger", "live", "accounts", "approvals"},
    "operations": {
        *("contract", "client", "ledger", "observability", "service", "approvals", "review"),
        "previews",  # before a publish, links that visitors can't open are named
    },
    "releases": {
        *("contract", "client", "ledger", "webhooks", "observability", "service", "approvals"),
        *("review", "operations"),
    },
    "notifications": {
        *("contract", "client", "ledger", "webhooks", "live", "accounts", "observability"),
        *("service", "approvals", "comments", "review", "operations", "releases"),
    },
    "machine": {*BELOW} - {"machine"},
    # `serve` warns of second factors that can't be decrypted.
    "server": {*BELOW},
    "web.ui": {"contract", "client", "ledger", "accounts", "observability", "approvals"},
    "web.lists": {
        *("contract", "client", "ledger", "saved_views", "accounts", "observability", "approvals"),
        "web.ui",
    },
    "embedded_api": {"contract"},
}
"""Each room with the rooms it may import."""

FEATURES = (
    *("overview", "pages", "audiences", "versions", "publishing", "conversations", "people"),
    *("webhooks", "activity", "search", "settings", "service_status", "releases", "approvals"),
    *("notifications", "saved_views", "live", "comments", "machine", "preview", "review"),
)
UNDER_A_FEATURE = {*BELOW, "web.ui", "web.lists"}
PAIRS = {
    # An unknown publish is retried with the publish form, and a release is one entry.
    "activity": {"publishing", "releases"},
    "approvals": {"releases"},  # a request shows a release's items as its board does
    "audiences": set(),
    # The audience's header is above its comments, which are beside a version's text.
    "comments": {"audiences", "releases", "versions"},
    "conversations": {"audiences"},  # the audience's header is above its conversation
    "live": {"approvals", "releases"},  # the frame of every page shows the counts of both
    # The overview shows operations, releases and requests as their own lists do.
    "notifications": {"search"},  # followed objects are shown as search hits
    "overview": {"activity", "approvals", "releases"},
    "preview": {"audiences"},  # the audience's header is above its preview
    "pages": {"audiences"},  # a page has the table of its audiences
    # The dialog opens over the audience's page, and schedules a release of one version.
    "publishing": {"audiences", "releases"},
    "releases": {"audiences"},  # selects all audiences that match a list
    # Views are saved and counted by the definitions of their lists.
    "saved_views": {"activity", "audiences", "pages", "people", "webhooks"},
    # Its items come from a list, its reasons from a conversation, and Later has a schedule's form.
    "review": {"audiences", "conversations", "releases"},
    "settings": {"search"},  # pins are shown as search hits
    "versions": {"audiences"},  # the audience's header is above its versions
}
"""Features that may import other features, with the reason."""

LIBRARIES = {
    "contract": {"pydantic", "pydantic_core"},
    "client": {"httpcore", "httpx", "pydantic", "pydantic_core"},
    "ledger": {"django"},
    "work": {"django"},
    "json_api": {"django", "markdown_it", "ninja", "pydantic", "pydantic_core"},
    "embedded_api": {
        *("django", "httpx", "markdown_it", "ninja", "orjson", "pydantic", "pydantic_core"),
        "rich",
    },
}
"""The libraries that a room may import. Rooms not listed may import any."""

OTHER_CLOCKS = {
    "clock.py",
    # The pause after wrong passwords ends by django-axes' clock.
    "accounts/views.py",
    # A date in Retry-After is by the other side's clock.
    *("client/error_conversion.py", "outgoing_webhooks.py"),
    # Traces and error reports have this machine's times, like its log.
    *("client/session.py", "web/shell/context_processors.py"),
}
"""Modules that may read this machine's clock."""

NO_REQUEST_NO_TEMPLATE = ("django.http", "django.shortcuts", "django.template", "django.views")
"""Forbidden in the rooms that views and jobs share, from `approvals` to `notifications`."""


def imports_of(source: str, package: str) -> Iterator[str]:
    """Yield the dotted name of each import, including relative and local ones."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: 1 - node.level or None] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def root_of(name: str) -> str:
    """Return the room of an import, such as `web.people`, or else its top package."""
    top, *rest = name.split(".")
    if top != "dashboard" or not rest:
        return top
    is_nested = rest[0] == "web" and len(rest) > 1 and (CODE / "web" / rest[1]).is_dir()
    return ".".join(rest[:2]) if is_nested else rest[0]


def rooms() -> dict[str, set[str]]:
    """Return our rooms that each room may import."""
    of_features = {
        f"web.{name}": UNDER_A_FEATURE | {f"web.{other}" for other in PAIRS.get(name, ())}
        for name in FEATURES
    }
    everything_in_web = {*UNDER_A_FEATURE, *of_features}
    above = {"web.shell": everything_in_web, "demo": {*BELOW, "server"}}
    return ROOMS | of_features | above


def modules() -> list[tuple[str, Path]]:
    """Return each module of the rooms with its room."""
    return [
        (room, path)
        for room in rooms()
        for path in sorted((CODE / room.replace(".", "/")).rglob("*.py"))
    ]


def imported_by(path: Path) -> set[str]:
    """Return the names that a module imports."""
    return {*imports_of(path.read_text(), ".".join(path.relative_to(ROOT).parent.parts))}


def test_a_module_imports_only_what_its_room_may() -> None:
    wrong = {}
    folders = {item.name for item in CODE.iterdir()}
    of_rooms = rooms()
    for room, path in modules():
        roots = {root_of(name) for name in imported_by(path)} - {room, "config"}
        ours = {root for root in roots if root.split(".")[0] in folders}
        libraries = roots - ours - LEAVES - sys.stdlib_module_names
        forbidden = ours - LEAVES - of_rooms[room] | libraries - LIBRARIES.get(room, libraries)
        if forbidden:
            wrong[str(path.relative_to(ROOT))] = forbidden
    assert wrong == {}


@pytest.mark.parametrize(
    "room",
    ["approvals", "comments", "review", "operations", "releases", "notifications", "service"],
)
def test_what_changes_and_reads_the_service_knows_no_template(room: str) -> None:
    banned = ("django.template",) if room == "service" else NO_REQUEST_NO_TEMPLATE
    for path in (CODE / room).rglob("*.py"):
        assert not {name for name in imported_by(path) if name.startswith(banned)}, path


def test_nothing_is_streamed_but_exports() -> None:
    """A stream occupies a thread for as long as the page is open."""
    makers = {
        str(path.relative_to(CODE))
        for path in CODE.rglob("*.py")
        if re.search(r"StreamingHttpResponse\(", path.read_text())
    }
    assert makers == {"web/ui/csv.py"}


def test_machines_send_nothing_themselves() -> None:
    """A worker sends what they decide, through the one function that sends."""
    senders = ("dashboard.operations.execution", "dashboard.operations.publish")
    banned = (*senders, "dashboard.service.client.publishing_client", "dashboard.client.client")
    deciders = set()
    for path in (CODE / "machine").rglob("*.py"):
        names = imported_by(path)
        assert not {name for name in names if f"{name}.".startswith(tuple(f"{b}." for b in banned))}
        decisions = {"dashboard.releases.decisions", "dashboard.releases.approval_requests"}
        deciders |= {path.name} if names & decisions else set()
    assert deciders == {"plans.py"}


MAX_IMPORTS = 15


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def modules_imported_by(path: Path) -> set[str]:
    """Return our modules that a module imports, as a whole or by names from them."""
    ours = [name for name in imported_by(path) if name.startswith("dashboard.")]
    return {name if is_module(name) else name.rpartition(".")[0] for name in ours}


def test_a_view_imports_few_modules() -> None:
    views = {*CODE.glob("web/*/views.py"), *CODE.glob("web/*/*_views.py")}
    counts = {str(path.relative_to(CODE / "web")): len(modules_imported_by(path)) for path in views}
    assert counts
    assert {name: count for name, count in counts.items() if count > MAX_IMPORTS} == {}


def test_shared_modules_import_no_rooms() -> None:
    libraries = {"cryptography", "django", "httpcore", "httpx", "rapidfuzz", "standardwebhooks"}
    others = {
        path.name: {root_of(name) for name in imports_of(path.read_text(), "dashboard")}
        - {*libraries, *LEAVES, *sys.stdlib_module_names}
        for path in CODE.glob("*.py")
    }
    assert {name: roots for name, roots in others.items() if roots} == {}


def test_every_folder_of_the_dashboard_is_a_room() -> None:
    top = {f"{path.parent.name}" for path in CODE.glob("*/__init__.py")} - {"web"}
    in_web = {f"web.{path.parent.name}" for path in CODE.glob("web/*/__init__.py")}
    assert top | in_web - {"web.migrations"} == rooms().keys()


def test_class_names_are_unique() -> None:
    names = Counter(
        name
        for path in CODE.rglob("*.py")
        for name in re.findall(r"^class (\w+)", path.read_text(), re.M)
    )
    # Django requires the first two names. The wire format and the built-in API share the others.
    doubled = {"Command", "Migration", "Audience", "Conversation", "Page", "Person"}
    assert {name for name, count in names.items() if count > 1} == doubled


def test_at_most_four_modules_are_flat_in_web() -> None:
    assert len([*(CODE / "web").glob("*.py")]) <= 4


def test_records_have_the_database_s_time() -> None:
    of_this_machine = re.compile(r"timezone\.now|datetime\.now|\btime\.time\b")
    modules = {
        str(path.relative_to(CODE))
        for path in CODE.rglob("*.py")
        if of_this_machine.search(path.read_text())
    }
    assert modules == OTHER_CLOCKS


def test_no_module_of_tests_imports_another() -> None:
    pattern = re.compile(
        r"^(?:from|import) tests\.(?:\w+\.)*test_|^from tests\b.* import .*\btest_", re.M
    )
    paths = (ROOT / "tests").rglob("*.py")
    importers = [path.name for path in paths if pattern.search(path.read_text())]
    assert importers == []


def test_the_settings_name_our_code_by_dotted_path_alone() -> None:
    for path in [ROOT / "manage.py", *(ROOT / "config").rglob("*.py")]:
        roots = {*imports_of(path.read_text(), "config")}
        assert not {root for root in roots if root.startswith("dashboard.")}, path


def dotted_paths(value: object) -> Iterator[str]:
    """Yield the dotted paths of our code in a setting, including nested ones."""
    if isinstance(value, str):
        yield from [value] if value.startswith("dashboard.") else []
    elif isinstance(value, dict):
        for child in value.values():
            yield from dotted_paths(child)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from dotted_paths(item)


def test_every_dotted_path_of_the_settings_can_be_imported() -> None:
    names = [name for name in dir(settings) if name.isupper()]
    paths = {path for name in names for path in dotted_paths(getattr(settings, name))}
    assert len(paths) > 20
    for path in paths - {"dashboard.wsgi"}:
        try:
            import_string(path)
        except ImportError:
            __import__(path)


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("import dashboard.web.shell.urls", "web.shell"),
        ("from dashboard import web", "web"),
        ("from ..web import ui", "web.ui"),
        ("from .. import web", "web"),
        ("from . import errors", "client"),
        ("def late():\n    from dashboard.embedded_api.models import Page", "embedded_api"),
        ("if TYPE_CHECKING:\n    import django.db", "django"),
    ],
)
def test_every_way_to_import_is_seen(source: str, module: str) -> None:
    assert {root_of(name) for name in imports_of(source, "dashboard.client")} == {module}
