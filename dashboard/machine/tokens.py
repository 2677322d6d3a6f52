"""Issue, check and revoke tokens, of which only a hash is stored; notify before they expire."""

import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from http import HTTPStatus
from threading import Event
from typing import Any
from zlib import crc32

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.urls import reverse

from dashboard import clock
from dashboard.accounts.permissions import PUBLISH
from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.approvals.requests import ApprovalError
from dashboard.json_api.problems import ProblemError
from dashboard.ledger.models.operations import actor_name
from dashboard.machine.models import MachineToken, Scope
from dashboard.notifications.recording import Subject, record_event
from dashboard.releases.approval_requests import void_request
from dashboard.releases.errors import ReleaseError
from dashboard.work.tasks import WorkerTask, attempt_each

TOKEN = re.compile(r"prt_[0-9a-f]{56}")
"""Secret scanners can recognize it: the last eight digits are a checksum of the others."""
USED_EVERY = timedelta(minutes=1)
"""Minimum time between two updates of the last use."""
NOTICE_DAYS = (14, 3)
"""Days before the expiry. Notices due before a token was made are skipped. Our choice."""
CHECK_EVERY_S = 3600.0
REVOKE = "Revoke that token, make a new one, and send it as Authorization: Bearer."
NEW_TOKEN = "Make a new token in Pressroom, under Settings, Tokens."  # noqa: S105  # a sentence


@dataclass(frozen=True)
class Caller:
    """Who performs an act: a user, through a token and a program."""

    token: MachineToken
    user: User
    client: str = ""
    form_key: str | None = None
    """Key of what a write creates, so that a repeated request creates nothing else."""

    def has(self, scope: Scope) -> bool:
        """Return whether the token has a scope, and its owner still has the rights for it."""
        token = self.token
        if scope not in token.scopes or (scope == Scope.PUBLISH and token.is_agent):
            return False
        return may_own(self.user, [scope])

    @property
    def attribution(self) -> str:
        """How to name the program beside its person: "by token nightly (agent), Claude"."""
        mark = " (agent)" if self.token.is_agent else ""
        return f"by token {self.token.name}{mark}, {self.client}".removesuffix(", ")


def issue(token: MachineToken) -> str:
    """Save a new token and return its text, which can't be read later.

    Returns "" if its form made one already.
    """
    digits = secrets.token_hex(24)
    text = f"prt_{digits}{crc32(digits.encode()):08x}"
    token.sha256, token.last_four = _hash(text), text[-4:]
    try:
        with transaction.atomic():
            token.save(force_insert=True)
    except IntegrityError:
        if not MachineToken.objects.filter(form_key=token.form_key).exists():
            raise
        return ""
    return text


def authenticate(text: str, client: str) -> Caller:
    """Return the caller who sent a token. Raises ProblemError: 401 with the reason."""
    digits = text.removeprefix("prt_")
    if not TOKEN.fullmatch(text) or f"{crc32(digits[:-8].encode()):08x}" != digits[-8:]:
        raise unauthorized("This isn’t a Pressroom token, or a part of it is missing.")
    token = MachineToken.objects.select_related("owner").filter(sha256=_hash(text)).first()
    if token is None:
        raise unauthorized("This token is unknown here.")
    if token.revoked_at:
        raise unauthorized(f"The token {token.name} was revoked on {token.revoked_at:%Y-%m-%d}.")
    if token.state == "expired":
        raise unauthorized(f"The token {token.name} expired on {token.expires_at:%Y-%m-%d}.")
    owner = token.owner
    if owner is None or not owner.is_active:
        raise unauthorized(f"The account that the token {token.name} acts for is turned off.")
    now = clock.now()
    if token.last_used_at is None or now - token.last_used_at > USED_EVERY:
        columns = {"last_used_at": now, "last_client": client}
        MachineToken.objects.filter(pk=token.pk).update(**columns)
    return Caller(token, owner, client)


def refuse_token_in(text: str, place: str) -> None:
    """Raise ProblemError (400) if a text that others may read contains a token."""
    if TOKEN.search(text):
        detail = f"A token was sent in {place}, where others may read it."
        raise ProblemError(HTTPStatus.BAD_REQUEST, detail, next_step=REVOKE)


def unauthorized(detail: str) -> ProblemError:
    header = {"WWW-Authenticate": 'Bearer realm="Pressroom", error="invalid_token"'}
    return ProblemError(HTTPStatus.UNAUTHORIZED, detail, next_step=NEW_TOKEN, headers=header)


def revoke(tokens: QuerySet[MachineToken], user: User) -> int:
    """Revoke tokens and return how many. Their requests stay open for a person to decide."""
    columns: dict[str, Any] = {"revoked_at": clock.now(), "revoked_by_name": actor_name(user)}
    return tokens.filter(revoked_at=None).update(**columns)


def may_own(user: User, scopes: Iterable[str]) -> bool:
    """Return whether a user has the rights that scopes need."""
    return user.has_perm(PUBLISH) or {*scopes} <= {Scope.READ}


def lock_owner(caller: Caller) -> bool:
    """Lock the caller's token; return whether it is in force and still has this owner.

    A change of the owner waits for the lock, and voids what was requested under it.
    """
    tokens = MachineToken.objects.select_for_update(no_key=True).filter(revoked_at=None)
    return tokens.filter(pk=caller.token.pk, owner=caller.user).first() is not None


def change_owner(token: MachineToken, owner: User) -> None:
    """Give a service's token another owner, and void its open approval requests."""
    reason = f"The token {token.name} has another owner: {actor_name(owner)}."
    with transaction.atomic():
        MachineToken.objects.filter(pk=token.pk).update(owner=owner)
        open_requests = ApprovalRequest.objects.filter(state=RequestState.OPEN)
        for approval in open_requests.filter(releases__machine_plan__token=token).order_by("pk"):
            # It may have been decided or withdrawn meanwhile.
            with suppress(ApprovalError, ReleaseError):
                void_request(approval, reason)


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


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
