"""config/requirements.txt has the pinned production packages of every Python, with hashes."""

import re
import tomllib
from importlib.metadata import requires

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from config.environment import BASE_DIR

FILE = BASE_DIR / "config" / "requirements.txt"
PROJECT = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())
ENTRY = re.compile(r"(\S+)==(\S+)(?: ; (.+?))? \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+")


def test_each_production_package_is_pinned_and_hashed() -> None:
    text = FILE.read_text()
    assert ENTRY.sub("", text) == ""  # Nothing else, such as the address of an index.
    hashed = {name: version for name, version, _ in ENTRY.findall(text)}
    pinned = dict(pin.split("==") for pin in PROJECT["tool"]["uv"]["constraint-dependencies"])
    assert {name: pinned.get(name) for name in hashed} == hashed

    names = {canonicalize_name(name) for name in needed(PROJECT["project"]["dependencies"])}
    assert names <= set(hashed)
    markers = {name: marker for name, _, marker in ENTRY.findall(text) if marker}
    elsewhere = {name for name, marker in markers.items() if not Marker(marker).evaluate()}
    assert set(hashed) - names <= elsewhere
    assert "async-timeout" in hashed  # Debian 12's Python 3.11.2 needs it.


def needed(texts: list[str]) -> set[str]:
    """Return the packages of these requirements and all their dependencies here."""
    names: set[str] = set()
    waiting = [(Requirement(text), "") for text in texts]
    done: set[tuple[str, str]] = set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        names.add(requirement.name)
        for wanted in ("", *requirement.extras):
            if (requirement.name, wanted) not in done:
                done.add((requirement.name, wanted))
                inner = requires(requirement.name) or []
                waiting += [(Requirement(text), wanted) for text in inner]
    return names
