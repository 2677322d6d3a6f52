"""Problems with the HTML of a page, as sent."""

from collections import Counter
from typing import Any

from tinyhtml5.parser import HTMLParser

REFERENCES = (
    "for",
    "list",
    "popovertarget",
    "aria-labelledby",
    "aria-describedby",
    "aria-controls",
    "aria-activedescendant",
)

NOT_TYPED = {"hidden", "radio", "checkbox", "submit"}


def wrong_with(html: str) -> list[str]:
    """Return the problems of a document."""
    parser = HTMLParser(namespace_html_elements=False)
    tree = parser.parse(html)
    every: list[Any] = [element for element in tree.iter() if isinstance(element.tag, str)]
    ids = Counter(element.get("id") for element in every if element.get("id"))
    matching = [f"line {place[0]}: {code} {more}" for place, code, more in parser.errors]
    matching += [f"{count} elements of the id {item}" for item, count in ids.items() if count > 1]
    for element in every:
        for name in REFERENCES:
            refers_to = (element.get(name) or "").split()
            matching += [f"{name} of nothing: {item}" for item in refers_to if item not in ids]
        if element.tag == "button" and not element.get("type"):
            matching.append(f"a button without a type: {element.attrib}")
    return matching + [f"no autocomplete: {field.attrib}" for field in asking_in_silence(tree)]


def asking_in_silence(tree: Any) -> list[Any]:
    """Return fields without `autocomplete`, whose purpose a browser must guess."""
    forms = [form for form in tree.iter("form") if form.get("autocomplete")]
    labeled = {field for form in forms for field in form.iter("input")}
    return [
        field
        for field in tree.iter("input")
        if field.get("type", "text") not in NOT_TYPED
        and not field.get("autocomplete")
        and field not in labeled
    ]
