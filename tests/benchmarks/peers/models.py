"""The rows that Pressroom lists, from a copy of its database, and how the peers list them."""

from typing import Any

from django.db import models


def table(name: str, key: str, *columns: str, **others: Any) -> Any:
    """Return the model of a table; `columns` are text, `others` are given as fields."""
    meta = {"managed": False, "db_table": f"embedded_api_{name.lower()}"}
    fields = {column: models.TextField(null=True) for column in columns}
    fields[key] = models.TextField(primary_key=True)
    members = {"__module__": __name__, "Meta": type("Meta", (), meta)}
    return type(name, (models.Model,), members | fields | others)


DATES = ("created_at", "updated_at")
OF_PAGES = ("name", "title", "page_type", "published_at", "archived_at")
OF_PEOPLE = ("name", "email", "domain", "slug", "phone_number")
OF_AUDIENCES = ("computed_name", "custom_name", "prospect_route_key", "archived_at", "created_at")

LISTS: dict[Any, dict[str, Any]] = {
    table("Page", "id", *OF_PAGES, *DATES): {
        "list_display": ["name", "page_type", "title", "published_at", "updated_at"],
        "search_fields": ["name", "title"],
        "list_filter": ["page_type"],
    },
    table("Person", "person_id", *OF_PEOPLE, *DATES): {
        "list_display": ["name", "email", "domain", "phone_number", "updated_at"],
        "search_fields": [*OF_PEOPLE],
    },
    table("Audience", "id", *OF_AUDIENCES, is_new_page_agent=models.BooleanField()): {
        "list_display": [*OF_AUDIENCES],
        "search_fields": ["computed_name", "custom_name"],
        "list_filter": ["is_new_page_agent"],
    },
}
A_LIST = {"list_per_page": 50}
