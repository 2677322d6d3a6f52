from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Exists, Model, Q, QuerySet, Subquery, When

from dashboard.compiled_query import ROW_COUNT
from dashboard.embedded_api.models import Tenant
from dashboard.json_api.cursors import ListPage, Order, page_size, paginate


@dataclass(frozen=True)
class Listing:
    """A paginated list of a tenant's rows.

    `select` returns a named `values_list` that includes the id and the field of the order.
    """

    model: type[Model]
    order: Order
    select: "Callable[[QuerySet[Any]], QuerySet[Any, Any]]"

    def page(self, tenant_id: str, *, cursor: str, limit: float) -> ListPage:
        """Return up to `limit` (at most 200) rows of the tenant, from the start or from a cursor.

        Raises ProblemError (400) if the cursor is invalid or belongs to another kind of list.
        """
        size = page_size(limit)
        rows = self.model._default_manager.filter(tenant_id=tenant_id)
        if cursor:
            rows = rows.filter(self.order.after(*self.order.read_cursor(cursor)))
        selected = list(self.select(rows.order_by(*self.order.columns()))[: size + 1])
        # The row of the tenant may not exist yet.
        total_count = _row_count(self.model, tenant_id).first() or 0
        return paginate(selected, self.order, size=size, total_count=total_count)


def _row_count(model: type[Model], tenant_id: str) -> "QuerySet[Tenant, Any]":
    """Count a tenant's rows.

    SQLite counts a whole table faster than part of it, and usually there is only one tenant.
    """
    rows = model._default_manager.order_by()
    own = rows.filter(tenant_id=tenant_id)
    # Two conditions can use the index, but `!=` can't.
    of_others = rows.filter(Q(tenant_id__lt=tenant_id) | Q(tenant_id__gt=tenant_id))
    total = Case(
        When(Exists(of_others), then=Subquery(own.values(total=ROW_COUNT))),
        default=Subquery(rows.values(total=ROW_COUNT)),
    )
    tenant = Tenant.objects.filter(id=tenant_id).annotate(total=total)
    return tenant.values_list("total", flat=True)
