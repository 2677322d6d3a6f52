"""Static files: bundles with hashed names, and when to collect them again."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files import locks
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from django.core.management import call_command
from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]

from dashboard.server.apps import StaticFilesConfig

DIGEST_FILE = "sources.digest"
"""File in STATIC_ROOT with the digest of the sources of the collected files."""


@dataclass(frozen=True)
class Bundle:
    """A file that imports other files, its parts, and is served together with them as one file."""

    name: str
    imports: re.Pattern[str]
    """Matches an import; its group `part` is the part's name, relative to the bundle."""
    enclose: Callable[[str, re.Match[str]], str]
    """Returns the replacement of an import, from the part's text and the match."""
    left_out: re.Pattern[str]
    """Matches comments, and indentation and empty lines of a style sheet: 4 KB of a first page."""

    def merge(self, text: str, read: Callable[[str], str]) -> str:
        """Return the bundle's text with each part in place of its import, without `left_out`.

        `read` returns the text of a part by its name. Parts refer to no files except other parts.
        """
        whole = self.imports.sub(lambda match: self.enclose(read(match["part"]), match), text)
        return self.left_out.sub("", whole)

    def parts(self, text: str) -> list[str]:
        return [match["part"] for match in self.imports.finditer(text)]

    def static_name(self, part: str) -> str:
        return normpath(join(dirname(self.name), part))


def _as_block(module: str) -> str:
    """Return a module of the script as a block; its exports become constants of the script.

    Modules are strict, so everything that a block declares, functions included, stays local to it.
    The modules that it imports are above it in the script.
    """
    text = re.sub(r'^import \{[^}]+\} from "[^"]+";\n', "", module, flags=re.MULTILINE)
    text, count = EXPORT.subn(r"\1", text)
    if not count:
        return f"{{\n{text}}}"
    names = ", ".join(name for _, name in EXPORT.findall(module))
    return f"const {{ {names} }} = (() => {{\n{text}return {{ {names} }};\n}})();"


EXPORT = re.compile(r"^export ((?:async )?(?:function|const) (\w+))", re.MULTILINE)
SHEET = Bundle(
    "css/app.css",
    re.compile(r'@import "(?P<part>[^"]+)"(?: layer\((?P<layer>[\w-]+)\))?;'),
    lambda text, match: f"@layer {match['layer']} {{\n{text}}}" if match["layer"] else text,
    re.compile(r"^[ \t]*/\*[^*]*\*/\n|^[ \t]+|^\n", re.MULTILINE),
)
ADMIN_SHEET = replace(SHEET, name="css/admin.css")
SCRIPT = Bundle(
    "js/app.js",
    re.compile(r'^import "(?P<part>[^"]+)";$', re.MULTILINE),
    lambda text, _match: _as_block(text),
    re.compile(r"^[ \t]*//.*\n|(?<=[;,{]) // .*$", re.MULTILINE),
)


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # it has no types
    """WhiteNoise's storage, with the style sheet and the script bundled into one file each."""

    def post_process(self, paths: dict[str, Any], **options: Any) -> Iterator[Any]:
        """Hash and compress the bundles and the other files, and record their sources."""
        if options.get("dry_run"):
            return
        # Computed first: a source that changes meanwhile is collected at the next start.
        digest, digest_file = sources_digest(), Path(self.path(DIGEST_FILE))
        digest_file.unlink(missing_ok=True)
        bundles = [bundle for bundle in (SHEET, ADMIN_SHEET, SCRIPT) if bundle.name in paths]
        merged = {bundle.name: _merged(bundle, paths) for bundle in bundles}
        # Two bundles may have the same part, so parts are dropped once all are merged.
        parts = {
            bundle.static_name(part)
            for bundle in bundles
            for part in bundle.parts(_read(bundle.name, paths))
        }
        others = {name: path for name, path in paths.items() if name not in parts}
        # A page's own script or style sheet has no parts, but comments.
        own = [
            replace(SHEET if name.startswith("css/") else SCRIPT, name=name)
            for name in others
            if name.startswith(("css/", "js/")) and name not in merged
        ]
        merged |= {bundle.name: _merged(bundle, paths) for bundle in own}
        yield from super().post_process(others | merged, **options)
        digest_file.write_text(digest)


def _merged(bundle: Bundle, paths: dict[str, Any]) -> tuple[InMemoryStorage, str]:
    text = bundle.merge(
        _read(bundle.name, paths), lambda part: _read(bundle.static_name(part), paths)
    )
    storage = InMemoryStorage()
    storage.save(bundle.name, ContentFile(text.encode()))
    return storage, bundle.name


def _read(name: str, paths: dict[str, Any]) -> str:
    storage, path = paths[name]
    with storage.open(path) as file:
        text: str = file.read().decode()
    return text


def collect_static() -> None:
    """Run collectstatic if the collected files are missing or made from other sources.

    A lock admits one process at a time: a second one would delete what the first compresses.
    """
    # In a container perhaps nothing is writable, not even a lock.
    if _is_collected():
        return
    with Path(f"{settings.STATIC_ROOT}.lock").open("w") as lock:
        locks.lock(lock, locks.LOCK_EX)
        if not _is_collected():
            call_command("collectstatic", interactive=False, verbosity=0)


def _is_collected() -> bool:
    digest_file = Path(settings.STATIC_ROOT, DIGEST_FILE)
    return digest_file.exists() and digest_file.read_text() == sources_digest()


def sources_digest() -> str:
    """Return a digest of the names and contents of all static files, and of this module.

    Modification times are not reliable in copies and image layers.
    """
    digest = blake2b(Path(__file__).read_bytes(), digest_size=16)
    sources = {
        str(Path(getattr(storage, "prefix", None) or "", path)): storage.path(path)
        for finder in get_finders()
        for path, storage in finder.list(StaticFilesConfig.ignore_patterns)
    }
    for name, source in sorted(sources.items()):
        digest.update(name.encode() + b"\0" + blake2b(Path(source).read_bytes()).digest())
    return digest.hexdigest()
