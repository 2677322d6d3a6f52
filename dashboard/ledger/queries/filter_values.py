"""Which values of a filter occur in the ledger."""

from collections.abc import Collection

from django.db.models import Model


def values_found(model: type[Model], column: str, values: Collection[str]) -> set[str]:
    """Return those of the values that some row has in this column; one query."""
    found = model._default_manager.filter(**{f"{column}__in": values})
    return {*found.order_by().values_list(column, flat=True).distinct()}
