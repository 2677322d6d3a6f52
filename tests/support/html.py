"""Parse HTML for tests: its elements, and its text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Element:
    """One start tag."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def elements(html: str, tag: str = "") -> list[Element]:
    """Return the elements of some HTML, in order; of one tag only, if given."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return [element for element in reader.elements if tag in ("", element.tag)]


def text(html: str) -> str:
    """Return the text of some HTML, with blanks collapsed."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return " ".join("".join(reader.texts).split())
