"""Help for a term, next to the term."""

import re

import pytest
from django.template import engines

from tests.support.html import elements, text

SOURCE = '{% from "components/help.html" import help %}{{ help(term, at) }}'


def help_for(term: str, at: str = "") -> str:
    engine = engines["jinja"]
    return str(engine.env.from_string(SOURCE).render(term=term, at=at))  # type: ignore[attr-defined]


def terms() -> list[str]:
    engine = engines["jinja"]
    module = engine.env.get_template("components/help.html").module  # type: ignore[attr-defined]
    return list(module.TERMS)


def test_unfamiliar_terms_have_help() -> None:
    assert terms() == [
        "new-page-agent",
        "operation-key",
        "coverage",
        "audience-coverage",
        "change-conflict",
        "computed-name",
        "field-source",
        "conformance",
        "last-known",
    ]


@pytest.mark.parametrize("term", terms())
def test_a_button_opens_the_help_without_a_script(term: str) -> None:
    html = help_for(term)
    [button] = elements(html, "button")
    [tip] = elements(html, "span")
    assert button.attributes["popovertarget"] == tip.attributes["id"]
    assert button.attributes["type"] == "button"
    assert re.fullmatch(r"What (is|does) .+\?", button.attributes["aria-label"])
    assert "popover" in tip.attributes
    assert 60 < len(text(html)) < 260


def test_a_repeated_term_gets_two_ids() -> None:
    assert help_for("coverage", "-top") != help_for("coverage")


def test_a_term_without_help_is_an_error() -> None:
    with pytest.raises(Exception, match="nonsense"):
        help_for("nonsense")
