"""Notify owners before their tokens expire: a task of `manage.py worker`."""

from datetime import timedelta
from threading import Event

from django.urls import reverse

from dashboard import clock
from dashboard.machine.models import MachineToken
from dashboard.notifications.recording import Subject, record_event
from dashboard.work.tasks import WorkerTask, attempt_each

NOTICE_DAYS = (14, 3)
"""Days before the expiry. Notices due before a token was made are skipped. Our choice."""
CHECK_EVERY_S = 3600.0


def watch_tokens(_worker_id: str, _stop: Event) -> None:
    now = clock.now()
    until = now + timedelta(days=max(NOTICE_DAYS))
    tokens = MachineToken.objects.filter(revoked_at=None, expires_at__range=(now, until))
    attempt_each(tokens.select_related("owner"), _notify)


def _notify(token: MachineToken) -> None:
    """Record the latest due notice. Its unique key prevents a second one."""
    now = clock.now()
    due = [days for days in NOTICE_DAYS if token.expires_at - timedelta(days=days) <= now]
    if not due or token.created_at > token.expires_at - timedelta(days=min(due)):
        return
    facts = {"token": token.name, "day": f"{token.expires_at:%Y-%m-%d}"}
    key = f"token:{token.pk}:expires:{min(due)}"
    record_event("token_expires", key, Subject(reverse("token-list")), facts, owners=[token.owner])


WATCH_TOKENS = WorkerTask(watch_tokens, every_s=CHECK_EVERY_S)
