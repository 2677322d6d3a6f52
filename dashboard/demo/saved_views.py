"""Saved views of the demo: two of the team, one of its publisher."""

from django.contrib.auth.models import User

from dashboard.ledger.saved_views import create_view


def add_saved_views(accounts: dict[str, User]) -> None:
    """Save some views."""
    demo, publisher = accounts["demo"], accounts["publisher"]
    create_view(demo, "audiences", name="Unpublished changes", query="live=changed", is_team=True)
    create_view(demo, "pages", name="Draft pages", query="status=draft&sort=name", is_team=True)
    create_view(
        publisher,
        "audiences",
        name="Not live, newest first",
        query="live=not-live&columns=name%2Clatest%2Ccreated%2Cupdated",
    )
