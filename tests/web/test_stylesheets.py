"""The style sheet as it is served."""

from pathlib import Path
from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command

from config.environment import BASE_DIR
from dashboard.web.stylesheets import SHEET, in_one, parts_of

SOURCE = BASE_DIR / "static"
MOST_BYTES = 28_672
"""Source: DESIGN-LANGUAGE.md, What not to do: all CSS together stays within 28 KB."""


def test_each_import_gives_way_to_its_file_in_its_layer() -> None:
    files = {"a.css": "a {}\n", "parts/b.css": "b {}\n"}
    sheet = '@layer x, y;\n@import "a.css";\n@import "parts/b.css" layer(y);\n'
    assert in_one(sheet, files.__getitem__) == "@layer x, y;\na {}\n\n@layer y {\nb {}\n}\n"


def test_the_parts_of_our_sheet_name_no_other_file() -> None:
    parts = parts_of((SOURCE / SHEET).read_text())
    texts = [(SOURCE / "css" / part).read_text() for part in parts]
    assert len(parts) > 10
    assert not [text for text in texts if "@import" in text or "url(" in text]


def test_the_sheet_is_served_as_one_file(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "dashboard.web.stylesheets.StaticFiles"}
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    served = (tmp_path / staticfiles_storage.stored_name(SHEET)).read_text()
    assert "@import" not in served
    assert len(served.encode()) <= MOST_BYTES
    for part in parts_of((SOURCE / SHEET).read_text()):
        assert (SOURCE / "css" / part).read_text().strip() in served
