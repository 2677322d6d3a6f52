"""The ten acts and how one is performed, the same for the JSON API and MCP.

Check the rights, validate the arguments, look up the key, then run the act. Errors become
problems.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from http import HTTPStatus
from secrets import token_hex
from typing import Any, get_type_hints

from pydantic import BaseModel, ValidationError

from dashboard import clock
from dashboard.approvals.rule import current_rule
from dashboard.client import APIError, NotFoundError, RateLimitedError
from dashboard.json_api.problems import ProblemError, field_error, invalid_fields_problem
from dashboard.ledger.models.operations import actor_name
from dashboard.limits import MINUTE_S, seconds_to_wait
from dashboard.machine import plans, reading
from dashboard.machine.errors import not_found, problem_body
from dashboard.machine.models import MAX_KEY, KeyedRequest, Scope
from dashboard.machine.shapes import UntrustedText
from dashboard.machine.tokens import Caller, refuse_token_in
from dashboard.work.claims import claim_next

READS_A_MINUTE, WRITES_A_MINUTE = 120, 20
"""Limits per token. Source: our choice."""


class Act:
    """An act, described by its function: clients read its name, docstring and shapes."""

    def __init__(self, run: Callable[[Caller, Any], BaseModel], scope: Scope) -> None:
        hints = get_type_hints(run)
        self.run, self.scope, self.is_write = run, scope, scope != Scope.READ
        self.name, self.summary = run.__name__, run.__doc__ or ""
        self.input: type[BaseModel] = hints["arguments"]
        self.output: type[BaseModel] = hints["return"]


ACTS: Mapping[str, Act] = {
    act.name: act
    for act in (
        Act(reading.find, Scope.READ),
        Act(reading.read_audience, Scope.READ),
        Act(reading.diff, Scope.READ),
        Act(plans.plan, Scope.REQUEST),
        Act(plans.request, Scope.REQUEST),
        Act(plans.publish, Scope.PUBLISH),
        Act(plans.status, Scope.READ),
        Act(plans.cancel, Scope.REQUEST),
        Act(plans.comment, Scope.REQUEST),
        Act(reading.activity, Scope.READ),
    )
}


def offered(caller: Caller) -> list[Act]:
    """Return the acts that a caller may perform now, in a stable order."""
    scopes = {scope for scope in Scope if caller.has(scope)}
    rule = current_rule()
    if rule.covers_publishing and rule.covers_rollbacks:
        scopes.discard(Scope.PUBLISH)
    return [act for act in ACTS.values() if act.scope in scopes]


def perform(act: Act, caller: Caller, arguments: Any, *, key: str = "") -> tuple[int, Any]:
    """Perform an act; return the status and the body of its response. Raises ProblemError.

    With the `key` of an earlier request, return that result, even if it was a refusal.
    """
    _require_right(act, caller)
    with _as_problems():
        arguments = act.input.model_validate(arguments)
    refuse_token_in(key + arguments.model_dump_json(), "a field")
    if not act.is_write or not key:
        return HTTPStatus.OK, _run(act, caller, arguments)
    return _run_once(act, caller, arguments, key)


def _require_right(act: Act, caller: Caller) -> None:
    if caller.has(act.scope):
        return
    token, person = caller.token, actor_name(caller.user)
    if act.scope == Scope.PUBLISH and token.is_agent:
        detail, step = "An agent’s token never publishes.", "Request an approval of the plan."
    elif act.scope not in token.scopes:
        detail = f"The token lacks the scope {act.scope}."
        step = "Ask its owner for a token with that scope."
    else:
        detail, step = f"{person} may not publish.", "Ask an administrator for the Publisher role."
    raise ProblemError(HTTPStatus.FORBIDDEN, detail, kind="not-allowed", next_step=step)


def count(caller: Caller, *, is_write: bool) -> None:
    """Count a call against the limit of its token. Raises ProblemError (429)."""
    kind, limit = ("writes", WRITES_A_MINUTE) if is_write else ("reads", READS_A_MINUTE)
    wait_s = seconds_to_wait(f"machine-{kind}:{caller.token.pk}", at_most=limit)
    if wait_s:
        raise ProblemError(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"More than {limit} {kind} a minute with this token.",
            next_step=f"Wait {min(wait_s, MINUTE_S)} s.",
            headers={"Retry-After": str(wait_s)},
            more={"retry_after_s": wait_s},
        )


def _run(act: Act, caller: Caller, arguments: BaseModel) -> Any:
    with _as_problems():
        return act.run(caller, arguments).model_dump(mode="json")


@contextmanager
def _as_problems() -> Iterator[None]:
    """Turn invalid arguments and service errors into ProblemErrors."""
    try:
        yield
    except ValidationError as error:
        fields = (field_error(dict(entry)) for entry in error.errors())
        raise invalid_fields_problem(fields) from None
    except NotFoundError:
        raise not_found("Audience or version") from None
    except APIError as error:
        wait_s = error.retry_after_s if isinstance(error, RateLimitedError) else None
        raise ProblemError(
            HTTPStatus.BAD_GATEWAY,
            "The service couldn’t be read. Nothing was sent.",
            kind="service-unavailable",
            headers={"Retry-After": str(round(wait_s))} if wait_s else {},
            # The message may quote the service.
            more={"service": UntrustedText(value=str(error)[:300])},
        ) from None


def _run_once(act: Act, caller: Caller, arguments: BaseModel, key: str) -> tuple[int, Any]:
    """Perform a write once per key. A repeated request gets the stored result.

    The process of an unfinished request may have been killed. Its claim has ended then, and the
    request is made again.
    """
    row = _row_of(act, caller, arguments, key)
    unfinished = KeyedRequest.objects.filter(pk=row.pk, status=None)
    claim = claim_next(unfinished, token_hex(8), clock.now())
    if claim is None:
        row.refresh_from_db()
        if row.status is not None:
            return row.status, row.body
        raise ProblemError(
            HTTPStatus.CONFLICT,
            "The request with this Idempotency-Key is still in progress.",
            kind="key",
            next_step="Send the same request again in a few seconds.",
            headers={"Retry-After": "2"},
        )
    try:
        with claim.renewed():
            caller = replace(caller, form_key=f"keyed-request:{row.pk}")
            status, body = HTTPStatus.OK, _run(act, caller, arguments)
    except BaseException as error:
        if not isinstance(error, ProblemError) or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            claim.release(clock.now())  # Nothing was done: the same key may try again.
            raise
        status, body = HTTPStatus(error.status), problem_body(error)
    claim.release(None, status=status, body=body)
    return status, body


def _row_of(act: Act, caller: Caller, arguments: BaseModel, key: str) -> KeyedRequest:
    """Return the row of a key, which belongs to one request. Raises ProblemError: 400 or 422."""
    if len(key) > MAX_KEY or not key.isprintable():
        detail = f"An Idempotency-Key has at most {MAX_KEY} printable characters."
        raise ProblemError(HTTPStatus.BAD_REQUEST, detail, kind="key")
    content = json.dumps([act.name, arguments.model_dump()], sort_keys=True)
    digest = sha256(content.encode()).hexdigest()
    row, _ = KeyedRequest.objects.get_or_create(
        token=caller.token, key=key, defaults={"digest": digest, "wake_at": clock.now()}
    )
    if row.digest != digest:
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "This Idempotency-Key was used for another request.",
            kind="key",
            next_step="Use a new key for another request.",
        )
    return row
