"""The form that creates a release of selected audiences, or adds them to one."""

from collections.abc import Iterable
from typing import Any, Self
from urllib.parse import quote

from dashboard.releases.models import Release
from tests.support.many_audiences import Key
from tests.support.shown_page import ShownPage

NEW = "/releases/new/"


def values(keys: Iterable[Key]) -> list[str]:
    """Return the values of the check boxes of these audiences."""
    return ["/".join(quote(part, safe="") for part in key) for key in keys]


class ReleaseForm(ShownPage):
    """The form as its last response showed it."""

    @property
    def release(self) -> Release:
        """The only release."""
        return Release.objects.get()

    @property
    def selected(self) -> list[str]:
        """The values of the selected audiences."""
        return self.checked("audience")

    def open(self, query: str = "") -> Self:
        return self.show(self.client.get(f"{NEW}{query}"))

    def post(self, *, follow: bool = False, **fields: Any) -> Self:
        return self.show(self.client.post(NEW, fields, follow=follow))

    def review(self, keys: Iterable[Key], **fields: Any) -> Self:
        """Select audiences in a list and press the button that reviews them."""
        return self.post(audience=values(keys), then="review", **fields)

    def add(self, keys: Iterable[Key], **fields: Any) -> Self:
        """Select audiences in a list and press the button that adds them to a release."""
        return self.post(audience=values(keys), then="add", **fields)

    def save(self, keys: Iterable[Key], release: Release | None = None, **fields: Any) -> Self:
        """Submit the form for a new release, or for a draft."""
        choice = str(release.pk) if release else "new"
        return self.post(audience=values(keys), release=choice, **fields)
