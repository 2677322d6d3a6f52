"""Tags of the pages of versions. Load with `{% load versions %}`."""

from django import template
from django.utils.safestring import SafeString

from dashboard.ledger.models import Attempt, Operation
from dashboard.web.templatetags.pressroom import STATUSES, icon

register = template.Library()

_NEUTRAL = ("", "st-todo", "plain")


@register.simple_tag
def status_icon(status: str, extra: str = "") -> SafeString:
    """Draw the shape of a status without its word, which has to stand near it."""
    return icon(STATUSES.get(status, _NEUTRAL)[1], extra)


@register.filter
def status_tone(status: str) -> str:
    """Name the tone of a status."""
    return STATUSES.get(status, _NEUTRAL)[2]


@register.filter
def last_attempt(operation: Operation) -> Attempt | None:
    """Return the last sending of an operation, from the attempts fetched with it."""
    attempts = list(operation.attempts.all())
    return attempts[-1] if attempts else None
