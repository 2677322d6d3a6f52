"""Which sources the collected static files were made of, so that they are made anew of others.

It is told by the contents of the sources. Their times tell nothing: a copy may keep them, so that
what is new is older than what was collected before, and the layers of an image cut them short.
"""

import inspect
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.contrib.staticfiles.finders import get_finders
from django.utils.module_loading import import_string


def is_collected() -> bool:
    """Whether the collected files are there, all of them, made of the sources of now."""
    try:
        return _mark().read_text() == digest_of_sources()
    except FileNotFoundError:
        return False


def forget_collected() -> None:
    """Let nothing count as collected while files are made: who is stopped leaves half of them."""
    _mark().unlink(missing_ok=True)


def note_collected(digest: str) -> None:
    """Note what the files were made of, once the last of them is there."""
    _mark().write_text(digest)


def digest_of_sources() -> str:
    """Return what is the same only for the same files under the same names."""
    digest = blake2b(digest_size=16)
    for name, source in sorted(_sources()):
        digest.update(name.encode() + b"\0" + blake2b(source.read_bytes()).digest())
    return digest.hexdigest()


def _mark() -> Path:
    return Path(settings.STATIC_ROOT) / "collected-of"


def _sources() -> Iterator[tuple[str, Path]]:
    # What makes the collected files of them is a source, too.
    # It is not made here: one that is made reads the names of the files, and there are none yet
    # where this process waits for another to collect them.
    storage_class = settings.STORAGES["staticfiles"]["BACKEND"]
    yield storage_class, Path(inspect.getfile(import_string(storage_class)))
    for finder in get_finders():
        for path, storage in finder.list(StaticFilesConfig.ignore_patterns):
            name = Path(getattr(storage, "prefix", None) or "", path)
            yield str(name), Path(storage.path(path))
