"""Find the words of a search in a person's fields, and mark them.

The service decides who matches (spec, Search people: not shown how). What is marked is our own
comparison: each word of the query, ignoring case and accents, within one field.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.contract.people import Person
from dashboard.web.ui.markup import value_or_none
from dashboard.web.ui.match_highlighting import FoldedText, render_segments

SEARCHED = ("name", "email", "domain", "slug", "phone_number")
"""The fields that the built-in API searches."""


@dataclass(frozen=True)
class PersonMatch:
    """The matches of a query's words in one person."""

    person: Person
    words: Sequence[str]

    @cached_property
    def texts(self) -> dict[str, FoldedText]:
        """The searched fields, folded; an empty one is an empty text."""
        return {name: FoldedText.from_text(getattr(self.person, name) or "") for name in SEARCHED}

    @cached_property
    def places(self) -> dict[str, set[str]]:
        """The fields that contain each word."""
        texts = self.texts.items()
        return {word: {name for name, text in texts if word in text.folded} for word in self.words}

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


def person_field(found: PersonMatch, name: str, empty: str = "—") -> SafeString:
    """Render one of the `SEARCHED` fields with its matches marked; `empty` if it has no text."""
    text = getattr(found.person, name)
    if not text:
        return SafeString(value_or_none(None, empty))
    if not found.words:
        return format_html('<bdi translate="no">{}</bdi>', text)
    return format_html(
        '<bdi translate="no">{}</bdi>', render_segments(found.texts[name].segments(found.words))
    )
