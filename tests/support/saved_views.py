"""The saved views of a user's lists: saving, changing, deleting and choosing defaults."""

from typing import Self

from tests.support.shown_page import ShownPage

URL = "/saved-views/"
NEW = f"{URL}new/"


class SavedViews(ShownPage):
    """The forms and buttons of saved views, as the last response showed them."""

    def open(self, url: str = URL) -> Self:
        """Open any page, and follow redirects."""
        self.show(self.client.get(url, follow=True))
        assert self.status == 200
        return self

    def save(self, list_name: str = "audiences", **fields: str) -> Self:
        """Save a list as a view."""
        form = {"list": list_name, "state": "live=changed", "name": "Changed"}
        return self.show(self.client.post(NEW, form | fields))

    def edit(self, pk: int = 1, **fields: str) -> Self:
        """Submit the form of a view: its name, and with whom it is shared."""
        return self.show(self.client.post(f"{URL}{pk}/", fields))

    def press(self, act: str, pk: int = 1, **fields: str) -> Self:
        """Press a button of a view: save, move or delete."""
        return self.show(self.client.post(f"{URL}{pk}/{act}/", fields))

    def set_default(self, view: int | str = 1, list_name: str = "audiences") -> Self:
        """Let a list open with a view, with "all" rows, or with what others chose ("")."""
        form = {"list": list_name, "view": str(view)}
        return self.show(self.client.post(f"{URL}default/", form))
