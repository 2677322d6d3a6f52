"""The style sheet and the script as they are served: one file each.

Their sources are one a component or a part, and need no build: a browser that is given them as they
are follows the imports. But two dozen files that wait for each other delay the first page by as
many answers, and those that one page alone has delay that page again.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from posixpath import dirname, join, normpath
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from whitenoise.storage import (  # type: ignore[import-untyped]
    CompressedManifestStaticFilesStorage,
)


@dataclass(frozen=True)
class Bundle:
    """A file that imports its parts, and how a part stands in it."""

    name: str
    imports: re.Pattern[str]
    """Finds each import; its group `part` is the name that the import gives the part."""
    enclosed: Callable[[str, re.Match[str]], str]
    """Makes of a part's text, and its import, what takes the import's place."""

    def in_one(self, text: str, read: Callable[[str], str]) -> str:
        """Return the file's text with each part in place of its import.

        `read` returns the text of a part by the name that the import gives it. Holds for parts that
        import nothing themselves and name no other file.
        """
        return self.imports.sub(lambda found: self.enclosed(read(found["part"]), found), text)

    def parts(self, text: str) -> list[str]:
        """Return the parts that the file's text imports, by the names it gives them."""
        return [found["part"] for found in self.imports.finditer(text)]

    def beside(self, part: str) -> str:
        """Return the name of a part among all static files."""
        return normpath(join(dirname(self.name), part))


def _in_its_layer(text: str, found: re.Match[str]) -> str:
    return f"@layer {found['layer']} {{\n{text}}}" if found["layer"] else text


def _in_a_block(text: str, _found: re.Match[str]) -> str:
    # A module is strict: what a block declares, functions too, is that block's own.
    return f"{{\n{text}}}"


SHEET = Bundle(
    "css/pressroom.css",
    re.compile(r'@import "(?P<part>[^"]+)"(?: layer\((?P<layer>[\w-]+)\))?;'),
    _in_its_layer,
)
SCRIPT = Bundle(
    "js/pressroom.js",
    re.compile(r'^import "(?P<part>[^"]+)";$', re.MULTILINE),
    _in_a_block,
)


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # it has no types
    """WhiteNoise's storage, with the style sheet and the script in one file each."""

    def post_process(self, paths: dict[str, Any], **options: Any) -> Iterator[Any]:
        """Hash and compress what was collected, the two in place of their parts."""
        for bundle in (SHEET, SCRIPT):
            paths = _with(bundle, paths)
        yield from super().post_process(paths, **options)


def _with(bundle: Bundle, paths: dict[str, Any]) -> dict[str, Any]:
    if bundle.name not in paths:
        return paths

    def read(name: str) -> str:
        storage, path = paths[name]
        with storage.open(path) as file:
            text: str = file.read().decode()
        return text

    text, made = read(bundle.name), InMemoryStorage()
    whole = bundle.in_one(text, lambda part: read(bundle.beside(part)))
    made.save(bundle.name, ContentFile(whole.encode()))
    parts = {bundle.beside(part) for part in bundle.parts(text)}
    kept = {name: where for name, where in paths.items() if name not in parts}
    return kept | {bundle.name: (made, bundle.name)}
