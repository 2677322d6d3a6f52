"""Find the words of a search in a person's fields.

The service decides who matches (spec, Search people: not shown how). What is marked is our own
comparison: each word of the query, ignoring case and accents, within one field.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dashboard.contract.people import Person
from dashboard.web.ui.match_highlighting import FoldedText, TextSegment

SEARCHED = ("name", "email", "domain", "slug", "phone_number")
"""The searched fields. Source: DESIGN.md, Search."""


@dataclass(frozen=True)
class PersonMatch:
    """The matches of a query's words in one person."""

    person: Person
    words: Sequence[str]

    def segments(self, name: str) -> list[TextSegment]:
        """Return the segments of one of the `SEARCHED` fields; none if it is empty."""
        return self._texts[name].segments(self.words)

    @cached_property
    def places(self) -> dict[str, set[str]]:
        """The fields that contain each word."""
        texts = self._texts.items()
        return {word: {name for name, text in texts if word in text.folded} for word in self.words}

    @cached_property
    def _texts(self) -> dict[str, "FoldedText"]:
        return {name: FoldedText.from_text(getattr(self.person, name) or "") for name in SEARCHED}

    @property
    def unmatched(self) -> list[str]:
        """The words that no field contains."""
        return [word for word, fields in self.places.items() if not fields]

    @property
    def is_all_in_name_or_email(self) -> bool:
        """Whether the name or email, visible at any width, contains each word."""
        return all(fields & {"name", "email"} for fields in self.places.values())

    def matches_outside(self, *shown: str) -> list[str]:
        """Return the fields that contain a word which none of the shown ones contains."""
        unmatched = (fields for fields in self.places.values() if not fields.intersection(shown))
        beyond = set[str]().union(*unmatched)
        return [name for name in SEARCHED if name in beyond]
