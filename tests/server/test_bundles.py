"""The style sheet and the script as they are served."""

import re
from pathlib import Path
from typing import Any

import brotli
import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command

from config.environment import BASE_DIR
from dashboard.server.static_files import ADMIN_SHEET, SCRIPT, SHEET, Bundle

SOURCE = BASE_DIR / "static"
MOST_COMPRESSED_BYTES = 10_000
"""Of all CSS together, as browsers get it. Our choice: the first page as a whole is weighed in
tests/browser/weight.py."""


def parts_of(bundle: Bundle) -> dict[str, str]:
    """Return the texts of a bundle's parts by their names."""
    names = bundle.parts((SOURCE / bundle.name).read_text())
    found = {name: finders.find(bundle.static_name(name)) for name in names}
    return {name: Path(path).read_text() for name, path in found.items() if path}


def test_each_import_of_a_sheet_gives_way_to_its_file_in_its_layer() -> None:
    files = {"a.css": "a {}\n", "parts/b.css": "b {}\n"}
    sheet = '@layer x, y;\n@import "a.css";\n@import "parts/b.css" layer(y);\n'
    assert SHEET.merge(sheet, files.__getitem__) == "@layer x, y;\na {}\n\n@layer y {\nb {}\n}\n"


def test_each_import_of_a_script_gives_way_to_its_file_in_a_block() -> None:
    files = {"./a.js": "const a = 1;\n", "./b.js": "const a = 2;\n"}
    script = '// import "./a.js";\nimport "./a.js";\nimport "./b.js";\n'
    whole = "{\nconst a = 1;\n}\n{\nconst a = 2;\n}\n"
    assert SCRIPT.merge(script, files.__getitem__) == whole


def test_the_parts_of_our_sheet_name_no_other_file() -> None:
    parts = parts_of(SHEET)
    assert len(parts) > 10
    assert [name for name, text in parts.items() if "@import" in text or "url(" in text] == []


def test_the_parts_of_our_script_can_stand_in_blocks() -> None:
    parts = parts_of(SCRIPT)
    assert len(parts) > 10
    # What a block can't hold, and what would reach out of it.
    outside = re.compile(r"^(import|export|await|return|var)\b|\bimport\(", re.MULTILINE)
    assert [name for name, text in parts.items() if outside.search(text)] == []


OF_SOME_PAGES = {"css/admin.css", "css/notification-settings.css", "css/releases.css"}
OF_SOME_PAGES |= {"js/releases.js", "js/page-form.js"}
"""Linked by the templates of the pages that need them, so that the others stay light."""


@pytest.mark.parametrize("bundle", [SHEET, SCRIPT], ids=lambda bundle: bundle.name)
def test_every_source_is_a_part(bundle: Bundle) -> None:
    folder, kind = (SOURCE / bundle.name).parent, Path(bundle.name).suffix
    found = {str(path.relative_to(SOURCE)) for path in folder.rglob(f"*{kind}")}
    assert found <= {bundle.name, *map(bundle.static_name, parts_of(bundle))} | OF_SOME_PAGES


def test_what_is_no_part_is_linked_by_a_page() -> None:
    pages = "".join(path.read_text() for path in (BASE_DIR / "templates").rglob("*.html"))
    links = {name: (f"static('{name}')", f"static '{name}'") for name in OF_SOME_PAGES}
    assert [name for name, link in links.items() if not any(call in pages for call in link)] == []


def test_each_is_served_as_one_file(settings: Any, tmp_path: Path) -> None:
    others = Path(finders.find("mfa/js/webauthn-json.js") or "").parent
    settings.STATIC_ROOT = tmp_path
    settings.STATICFILES_DIRS = [SOURCE, ("mfa/js", others)]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "dashboard.server.static_files.StaticFiles"}
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    for bundle in (SHEET, ADMIN_SHEET, SCRIPT):
        served = (tmp_path / staticfiles_storage.stored_name(bundle.name)).read_text()
        assert bundle.parts(served) == []
        parts = {name: bundle.comment.sub("", text) for name, text in parts_of(bundle).items()}
        assert [name for name, text in parts.items() if text.strip() not in served] == []
    sheet = (tmp_path / staticfiles_storage.stored_name(SHEET.name)).read_bytes()
    assert len(brotli.compress(sheet)) <= MOST_COMPRESSED_BYTES
