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
from dashboard.server.static_files import ADMIN_SHEET, EXPORT, SCRIPT, SHEET, Bundle

SOURCE = BASE_DIR / "static"
MOST_COMPRESSED_BYTES = 10_000
"""Limit for all CSS together, as browsers get it. Source: our choice. tests/browser/weight.py
limits the first page as a whole."""


def parts_of(bundle: Bundle) -> dict[str, str]:
    names = bundle.parts((SOURCE / bundle.name).read_text())
    paths = {name: finders.find(bundle.static_name(name)) for name in names}
    return {name: Path(path).read_text() for name, path in paths.items() if path}


def test_style_imports_are_replaced_by_layers() -> None:
    files = {"a.css": "a {}\n", "parts/b.css": "b {}\n"}
    sheet = '@layer x, y;\n@import "a.css";\n@import "parts/b.css" layer(y);\n'
    assert SHEET.merge(sheet, files.__getitem__) == "@layer x, y;\na {}\n@layer y {\nb {}\n}\n"


def test_script_imports_are_replaced_by_bundled_blocks() -> None:
    files = {"./a.js": "const a = 1;\n", "./b.js": "const a = 2;\n"}
    script = '// import "./a.js";\nimport "./a.js";\nimport "./b.js";\n'
    whole = "{\nconst a = 1;\n}\n{\nconst a = 2;\n}\n"
    assert SCRIPT.merge(script, files.__getitem__) == whole


@pytest.mark.parametrize(
    ("bundle", "source", "served"),
    [
        (
            SHEET,
            "/* a */\na {\n  /* b\n     c */\n  top: 0; /* d */\n}\n",
            "a {\ntop: 0; /* d */\n}\n",
        ),
        (SCRIPT, '// a\nopen("x // y"); // b\n  // c\nclose();\n', 'open("x // y");\nclose();\n'),
        (SCRIPT, "f(`\n  a`, // b\n  true);\n", "f(`\n  a`,\n  true);\n"),
    ],
)
def test_comments_and_the_indentation_of_styles_are_left_out(
    bundle: Bundle, source: str, served: str
) -> None:
    assert bundle.merge(source, {}.__getitem__) == served


def test_the_parts_of_our_sheet_name_no_other_file() -> None:
    parts = parts_of(SHEET)
    assert len(parts) > 10
    assert [name for name, text in parts.items() if "@import" in text or "url(" in text] == []


def test_every_token_that_is_used_has_a_value() -> None:
    texts = [path.read_text() for suffix in ("css", "svg") for path in SOURCE.rglob(f"*.{suffix}")]
    used = {name for text in texts for name in re.findall(r"var\((--[\w-]+)", text)}
    assert used
    assert used - {name for text in texts for name in re.findall(r"(--[\w-]+):", text)} == set()


def test_a_module_gets_what_another_exports() -> None:
    files = {
        "./a.js": "const one = 1;\nexport function add(number) {\n  return number + one;\n}\n",
        "./b.js": 'import { add } from "./a.js";\n\nadd(2);\n',
    }
    whole = SCRIPT.merge('import "./a.js";\nimport "./b.js";\n', files.__getitem__)
    assert whole == (
        "const { add } = (() => {\nconst one = 1;\nfunction add(number) {\n"
        "  return number + one;\n}\nreturn { add };\n})();\n{\n\nadd(2);\n}\n"
    )


IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "([^"]+)";$', re.MULTILINE)


def test_modules_import_only_what_those_above_them_export() -> None:
    exports: dict[str, set[str]] = {}
    for name, text in parts_of(SCRIPT).items():
        for names, source in IMPORT.findall(text):
            assert {*names.split(", ")} <= exports.get(source, set()), name
        exports[name] = {exported for _, exported in EXPORT.findall(text)}
    names = [exported for module in exports.values() for exported in module]
    assert len(names) == len({*names}) > 5


def test_parts_of_our_script_fit_in_blocks() -> None:
    parts = parts_of(SCRIPT)
    assert len(parts) > 10
    # What a block can't contain, and what would leak out of it.
    outside = re.compile(r"^(import|export|await|return|var)\b|\bimport\(", re.MULTILINE)
    texts = {name: EXPORT.sub("", IMPORT.sub("", text)) for name, text in parts.items()}
    assert [name for name, text in texts.items() if outside.search(text)] == []


OF_SOME_PAGES = {"css/admin.css", "css/notification-settings.css", "css/releases.css"}
OF_SOME_PAGES |= {
    "css/preview.css",
    "js/preview.js",
    "css/review.css",
    "css/segments.css",
    "js/desk.js",
}
OF_SOME_PAGES |= {"js/page-form.js", "css/segments.css"}
OF_SOME_PAGES |= {"css/comments.css", "js/comments.js"}
"""Files that only the templates of certain pages link, so that other pages stay small."""


@pytest.mark.parametrize("bundle", [SHEET, SCRIPT], ids=lambda bundle: bundle.name)
def test_every_source_is_a_part(bundle: Bundle) -> None:
    folder, kind = (SOURCE / bundle.name).parent, Path(bundle.name).suffix
    matching = {str(path.relative_to(SOURCE)) for path in folder.rglob(f"*{kind}")}
    assert matching <= {bundle.name, *map(bundle.static_name, parts_of(bundle))} | OF_SOME_PAGES


def test_what_is_no_part_is_linked_by_a_page() -> None:
    pages = "".join(path.read_text() for path in (BASE_DIR / "templates").rglob("*.html"))
    links = {name: (f"static('{name}')", f"static '{name}'") for name in OF_SOME_PAGES}
    assert [name for name, link in links.items() if not any(call in pages for call in link)] == []


def test_each_bundle_is_one_file(settings: Any, tmp_path: Path) -> None:
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
        parts = [*parts_of(bundle).values()]
        lines = {line for text in parts for line in bundle.left_out.sub("", text).splitlines()}
        lines = {line for line in lines if not IMPORT.fullmatch(line)}
        assert [line for line in lines if EXPORT.sub(r"\1", line) not in served] == []
    for name in OF_SOME_PAGES:
        bundle = SHEET if name.endswith("css") else SCRIPT
        served = (tmp_path / staticfiles_storage.stored_name(name)).read_text()
        assert served
        assert not bundle.left_out.search(served), name
    sheet = (tmp_path / staticfiles_storage.stored_name(SHEET.name)).read_bytes()
    assert len(brotli.compress(sheet)) <= MOST_COMPRESSED_BYTES
