"""Sending what is on record: the call comes from the record itself, so a repeat is the same."""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings

from dashboard.client import BadAnswerError
from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.pages import Page, PageRequest
from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription
from dashboard.contract.wire import WireModel
from dashboard.ledger import recording
from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import Kind
from dashboard.ledger.operations import give_up_on_interrupted
from dashboard.web.operations import Carried, carry_out
from dashboard.web.service import publishing_client
from dashboard.web.subscription_reading import patched, remember_if_listed

MARGIN = timedelta(seconds=20)
"""Beyond the time limit of a call: to write down that it was sent, and how it ended."""


def longest_sending() -> timedelta:
    """Return the time after which nobody can still be waiting for the answer to an attempt."""
    return timedelta(seconds=settings.SERVICE_TIMEOUT_S) + MARGIN


def sweep() -> None:
    """Call unknown what a killed process left in flight."""
    give_up_on_interrupted(limit=longest_sending())


def send(operation: Operation, attempt: Attempt) -> Carried[WireModel]:
    """Carry out an attempt of an operation, and remember what the answer shows."""
    carried = carry_out(attempt, call_of(operation))
    if carried.answer is not None:
        _remember(operation, carried.answer)
    return carried


def call_of(operation: Operation) -> Callable[[], WireModel]:
    """Return the call that an operation on record stands for."""
    client, body = publishing_client(), operation.body_sent or {}
    match Kind(operation.kind):
        case Kind.PUBLISH_VERSION:
            return lambda: _published(operation, key=body.get("operationKey"))
        case Kind.CREATE_PAGE:
            return lambda: client.pages.create(PageRequest.model_validate(body))
        case Kind.UPDATE_SUBSCRIPTION:
            patch = SubscriptionPatch.model_validate(body)
            return lambda: patched(operation.subscription_id, patch)


def _published(operation: Operation, *, key: str | None) -> AudienceVersion:
    """Publish the version of an operation, and return it as the service answers.

    Raises APIError: an answer about another version says nothing of this one.
    """
    ids = (operation.page_id, operation.audience_id, operation.version_id)
    version = publishing_client().audiences.publish(*ids, operation_key=key)
    if version.version_id != operation.version_id:
        problem = f"the service answered for another version, {version.version_id}"
        body = version.model_dump_json(by_alias=True, exclude_unset=True)
        raise BadAnswerError(problem, path="versionId", status_code=200, body=body)
    return version


def _remember(operation: Operation, answer: WireModel) -> None:
    match answer:
        case AudienceVersion():
            recording.remember_version(operation.page_id, answer)
        case Page():
            recording.remember_page(answer)
        case WebhookSubscription():
            remember_if_listed(operation.subscription_id, answer)
