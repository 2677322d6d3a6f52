"""A page created by one of our operations."""

from django.contrib.auth.models import User

from dashboard.contract.pages import PageRequest
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import Target, begin
from dashboard.operations.execution import send

IDENTITY = {"name": "N", "brandId": "b", "pageContext": "c"}

BODY = PageRequest(
    actions=[], action_card_widgets=[], brand_id="b", name="N", page_context="c", scripts=[]
).to_wire()


def create_page(user: User) -> Operation:
    operation, attempt = begin(
        operation_key="key",
        kind=OperationKind.CREATE_PAGE,
        actor=user,
        target=Target(target_name="N"),
        body=BODY,
    )
    assert attempt
    return send(operation, attempt).operation
