"""The product's words: none reads like a translation, and each thing has one term."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

BANNED = {
    r"\b(asks|asked)\b": "requires, requested",
    r"\b(tells?|telling|told|says?|said)\b": "returns, reports, shows",
    r"\b(looks?|looked|looking)\b": "check, search, show",
    r"\b(kept|carry|carries|carried)\b": "saved, stored",
    r"\banswer(s|ed)?\b": "response, responds",
    r"\bread (anew|again|on|the rest)\b": "refresh, load the rest, continue",
    r"\b(sent|send|signed in|begin|made|queued) anew\b": "retry, again",
    r"\b(how it|how they|it|they|stands?) stands?\b": "status",
    r"\bstands? (in|on|for|there|below|above)\b": "is",
    r"\b(take|takes|taken|taking) (it |them |a filter )?away\b": "remove",
    r"\bnobody\b": "no one, the service didn't respond",
    r"\bwhoever\b": "the service team, a person who",
    r"\b(service|dashboard) (not )?answering\b": "operational, unreachable",
    r"\bon its way\b": "in progress",
    r"\bin flight\b": "in progress",
    r"\bworth nothing\b": "no longer work",
    r"\bthrow(n)? away\b": "discard",
    r"\bgo on\b": "continue, resume",
    r"\bnot known\b": "unknown",
    r"\bout of (?:\d+ )?hundred\b|\bin 100\b": "95%",
    r"\bhalf (finish|of all|are)\b": "typically",
    r"\blog-?in\b": "sign-in",
    r"\bcolour": "color",
    r"\bcancelled\b": "canceled",
    r"\bwrite (a|at least|the)\b": "enter",
    r"\btick(ed)? (all|none)\b": "select all, clear",
    r"\bswitch(ed)? (it )?(on|off)\b": "turn on, turn off",
    r"\bside bar\b": "sidebar",
    r"\btelephone\b": "phone",
    r"\bso far as\b|\bfor good\b|\bnot yet asked\b": "plain words",
    r"\bplease\b": "(leave it out)",
    r"\banswers? (yes|no|otherwise)\b": "accepts, rejects",
    r"\bcontract watch\b": "API conformance",
    r"\bas sent\b": "raw response",
    r"\bbase has moved\b": "conflict",
    r"\bof no use\b|\bstays under\b": "no match",
}
"""Words that read like a translation, with their replacements. Source: our choice."""

ALLOWED = {
    "Your browser asks which device to use. Biometric data never leaves it.": "it does ask",
    "pressroom login": "the name of a command",
}
"""Texts where a banned pattern is right, with the reason."""

NO_PRODUCT_STRINGS = ("dashboard/demo/", "dashboard/embedded_api/sample/", "/migrations/")
"""Sources of sample texts, which stand for an agent and its customers."""
SPOKEN_ATTRIBUTES = r'(?:title|aria-label|placeholder|alt|data-label|content)="([^"]*)"'


def template_texts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        source = re.sub(r"\{#.*?#\}", "", path.read_text(), flags=re.DOTALL)
        literals = re.findall(
            r"\"([^\"{}<>]*\s[^\"{}<>]*)\"",
            " ".join(re.findall(r"\{[{%].*?[}%]\}", source, re.DOTALL)),
        )
        bare = re.sub(r"\{[{%].*?[}%]\}", "…", source, flags=re.DOTALL)
        spoken = re.findall(SPOKEN_ATTRIBUTES, bare)
        bare = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", bare, flags=re.DOTALL)
        bare = re.sub(r"</?(?:b|strong|em|span|a|code|bdi|small|time|i)\b[^>]*>", "", bare)
        for text in [*re.split(r"<[^>]*>", bare), *spoken, *literals]:
            if words := " ".join(text.split()):
                yield path.relative_to(ROOT).as_posix(), words


def python_texts() -> Iterator[tuple[str, str]]:
    for folder in ("dashboard", "config"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not any(part in name for part in NO_PRODUCT_STRINGS):
                literals = _literals(ast.parse(path.read_text()))
                yield from ((name, text) for text in literals if " " in text)


def _literals(tree: ast.Module) -> Iterator[str]:
    """Yield the sentences of a module: its strings with a space, except docstrings."""
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [
                value.value if isinstance(value, ast.Constant) else "…" for value in node.values
            ]
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield str(node.value)


def script_texts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "static" / "js").glob("*.js")):
        code = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE)
        for text in re.findall(r"\"([^\"\n]* [^\"\n]*)\"|`([^`]* [^`]*)`", code):
            yield path.relative_to(ROOT).as_posix(), "".join(text)


@cache
def texts() -> list[tuple[str, str]]:
    return [*template_texts(), *python_texts(), *script_texts()]


def test_the_texts_of_templates_modules_and_scripts_are_found() -> None:
    places = {place.split("/")[0] for place, _ in texts()}
    assert places == {"templates", "dashboard", "config", "static"}
    assert len(texts()) > 2_000


@pytest.mark.parametrize("pattern", BANNED)
def test_no_text_says_it_so(pattern: str) -> None:
    banned = re.compile(pattern, re.IGNORECASE)
    matching = [
        f"{place}: {text}" for place, text in texts() if banned.search(text) and text not in ALLOWED
    ]
    assert matching == [], f"say instead: {BANNED[pattern]}"


def test_every_text_allowed_is_one_of_the_product() -> None:
    expected = {text for _, text in texts()}
    assert [text for text in ALLOWED if text not in expected] == []
