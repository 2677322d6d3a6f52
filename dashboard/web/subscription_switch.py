"""Switching a subscription on or off: one request for one press, and the truth afterwards."""

from dataclasses import dataclass

from dashboard.client import NotReachedError
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.contract.wire import WireModel
from dashboard.ledger.models import Attempt, Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.queries.subscriptions import subscription_last_known
from dashboard.web.looks import look
from dashboard.web.operations import Carried
from dashboard.web.sending import send
from dashboard.web.subscription_reading import read_again


@dataclass(frozen=True)
class Switched:
    """A switch after it was pressed."""

    record: SubscriptionRecord
    """As far as is known now."""
    said: str = ""
    """What went otherwise than asked for, in a sentence; empty where nothing did."""
    operation: Operation | None = None


def carry_out_switch(
    record: SubscriptionRecord, operation: Operation, attempt: Attempt, *, active: bool
) -> Switched:
    """Send a switch that is on record. Where it fails, the service is asked how things stand."""
    carried = send(operation, attempt)
    if isinstance(carried.answer, WebhookSubscription):
        is_so = carried.answer.active is active
        said = "" if is_so else f"The service said yes, and yet it is {_word(not active)}."
        return _switched(record, said, carried.operation)
    settled = look(carried.operation) if _is_unknown(carried.operation) else carried.operation
    stand = _how_it_stands(record, carried, settled)
    if _is_unknown(settled):
        said = f"It is not known whether it was switched {_word(active)}. {carried.error} {stand}"
    elif settled.outcome == Outcome.ACCEPTED:
        said = f"{carried.error} Read again since, it is {_word(active)}, as asked for."
    else:
        said = f"Not switched {_word(active)}. {carried.error} {stand}"
    return _switched(record, said, settled)


def switch_on_record(record: SubscriptionRecord, operation: Operation) -> Switched:
    """Return what became of a switch that this form has sent before."""
    outcome = operation.get_outcome_display()
    said = f"This was sent before ({outcome.lower()}). Nothing was sent again."
    return _switched(record, "" if operation.outcome == Outcome.ACCEPTED else said, operation)


def _how_it_stands(
    record: SubscriptionRecord, carried: Carried[WireModel], settled: Operation
) -> str:
    """Say how the subscription stands; ask the service where nobody has since."""
    if isinstance(carried.error, NotReachedError):
        return f"It was {_word(record.active)} when last seen."
    if settled.looked_at is not None:
        now = subscription_last_known(record.subscription_id) or record
        is_read = now.last_seen_at > record.last_seen_at
        return _stand(now, is_read=is_read)
    reading = read_again(record)
    return _stand(reading.value, is_read=reading.is_live)


def _stand(record: SubscriptionRecord, *, is_read: bool) -> str:
    when = "Read again since, it is" if is_read else "It could not be read again; last seen it was"
    return f"{when} {_word(record.active)}."


def _switched(record: SubscriptionRecord, said: str, operation: Operation) -> Switched:
    return Switched(subscription_last_known(record.subscription_id) or record, said, operation)


def _is_unknown(operation: Operation) -> bool:
    return operation.outcome == Outcome.UNKNOWN


def _word(active: bool) -> str:  # noqa: FBT001  # one flag, one word
    return "on" if active else "off"
