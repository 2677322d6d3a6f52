"""Sending again what nobody knows the outcome of: what it was about is read anew first.

What was lost may have been carried out since, and others may have gone on. So it is settled where
the reading proves something, and what speaks against a repeat is told before it leaves.
"""

from django.contrib.auth.models import User

from dashboard.ledger.models import Operation
from dashboard.ledger.operations import begin_again
from dashboard.web.looks import Sighting, settle_by
from dashboard.web.preparation import Preparation, Subject, prepare
from dashboard.web.sending import send


def send_again(operation: Operation, *, actor: User) -> Operation:
    """Send an operation once more, with the same key and body, unless it is settled by now."""
    attempt = begin_again(operation, actor=actor)
    if attempt is None:
        return Operation.objects.get(pk=operation.pk)
    return send(operation, attempt).operation


def prepare_again(operation: Operation) -> tuple[Operation, Preparation]:
    """Read anew all that is asked before a publish, and settle this one where that proves it.

    Raises APIError where the audience can't be read and was never seen.
    """
    subject = Subject(operation.page_id, operation.audience_id, operation.version_id)
    preparation = prepare(subject, with_conversation=True)
    return settle_by(operation, _seen_by(preparation)), preparation


def _seen_by(preparation: Preparation) -> Sighting:
    """Return what the preparation saw of the version: asking once is enough for both."""
    return Sighting(
        version=preparation.version,
        is_named=preparation.is_named,
        live=preparation.live,
        as_of=preparation.reading.as_of,
        error=preparation.reading.error,
    )
