"""The style sheet as it is served: one file. Its sources are one a component, and need no build.

Thirteen files that wait for each other delay the first page by as many answers.
"""

import re
from collections.abc import Callable, Iterator
from posixpath import dirname, join
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from whitenoise.storage import (  # type: ignore[import-untyped]
    CompressedManifestStaticFilesStorage,
)

SHEET = "css/pressroom.css"
IMPORT = re.compile(r'@import "(?P<part>[^"]+)"(?: layer\((?P<layer>[\w-]+)\))?;')


def in_one(sheet: str, read: Callable[[str], str]) -> str:
    """Return a sheet with each file that it imports, in its layer, in place of the import.

    `read` returns the text of a file by the name that the import gives it. Holds for parts that
    import nothing themselves and name no other file.
    """

    def text_of(found: re.Match[str]) -> str:
        text, layer = read(found["part"]), found["layer"]
        return f"@layer {layer} {{\n{text}}}" if layer else text

    return IMPORT.sub(text_of, sheet)


def parts_of(sheet: str) -> list[str]:
    """Return the files that a sheet imports, by the names it gives them."""
    return [found["part"] for found in IMPORT.finditer(sheet)]


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # it has no types
    """WhiteNoise's storage, with the style sheet in one."""

    def post_process(self, paths: dict[str, Any], **options: Any) -> Iterator[Any]:
        """Hash and compress what was collected, the sheet in place of its parts."""
        yield from super().post_process(_with_one_sheet(paths), **options)


def _with_one_sheet(paths: dict[str, Any]) -> dict[str, Any]:
    if SHEET not in paths:
        return paths

    def read(name: str) -> str:
        storage, path = paths[name]
        with storage.open(path) as file:
            text: str = file.read().decode()
        return text

    def beside(part: str) -> str:
        return join(dirname(SHEET), part)

    sheet, made = read(SHEET), InMemoryStorage()
    made.save(SHEET, ContentFile(in_one(sheet, lambda part: read(beside(part))).encode()))
    parts = {beside(part) for part in parts_of(sheet)}
    kept = {name: where for name, where in paths.items() if name not in parts}
    return kept | {SHEET: (made, SHEET)}
