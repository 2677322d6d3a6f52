"""The acts on plans: plan, request, publish, status, cancel; and comment.

None of them sends anything. A plan is a draft release, and a worker sends it once it is decided,
as it does for a person.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from dashboard import clock
from dashboard.approvals.models import RequestState
from dashboard.approvals.requests import ApprovalError
from dashboard.client import APIError
from dashboard.comments.models import MAX_BODY, TargetKind
from dashboard.comments.threads import CommentError, add_comment, new_thread
from dashboard.json_api.problems import ProblemError
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.ledger.queries.rows import AudienceKey
from dashboard.machine import shapes
from dashboard.machine.errors import invalid, not_found
from dashboard.machine.models import PLAN_LASTS, MachinePlan
from dashboard.machine.paging import cut
from dashboard.machine.tokens import Caller, lock_owner
from dashboard.observability.request_context import current_request_id
from dashboard.operations.checking import PublishTarget
from dashboard.releases import approval_requests, decisions, drafting
from dashboard.releases.approval_subjects import needs_approval
from dashboard.releases.checking import check_release, read_items
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import ItemState, Release, ReleaseState
from dashboard.releases.planning import PlannedVersion, planned_version
from dashboard.releases.reviewing import (
    blocked,
    board_digest,
    changes_since,
    compare_review,
    light_items,
)
from dashboard.service.client import reads_only

MAX_DETAIL, MAX_NOTE_SHOWN, MAX_CHANGES = 300, 500, 50
RELEASES = Release.objects.select_related("approval", "machine_plan__token")
NEW_PLAN = "Make a new plan, review it, then ask again."
FAILED_ITEMS = (ItemState.FAILED, ItemState.HELD, ItemState.CANCELED)


def plan(caller: Caller, arguments: shapes.MakePlan) -> shapes.PlanState:
    """Check versions for publishing. Returns findings and a digest; sends nothing."""
    planned = _planned(caller, arguments.versions)
    with _refusals():
        release = drafting.create_draft(
            name=arguments.name,
            note=arguments.note,
            planned=planned,
            user=caller.user,
            is_provisional=True,
            form_key=caller.form_key,
            by_program=caller.attribution,
        )
    try:
        with reads_only():
            check_release(release)
    except APIError:
        drafting.discard(release, caller.user)
        raise
    columns = {
        "token": caller.token,
        "request_id": current_request_id(),
        "digest": board_digest(release),
        "expires_at": clock.now() + PLAN_LASTS,
    }
    MachinePlan.objects.update_or_create(release=release, defaults=columns)
    return _state(release.pk)


def request(caller: Caller, arguments: shapes.Decide) -> shapes.PlanState:
    """Ask a person to approve a plan. It is published when they do."""
    release = _unchanged(caller, arguments)
    return _decide(approval_requests.request_approval, release, caller, arguments)


def publish(caller: Caller, arguments: shapes.Decide) -> shapes.PlanState:
    """Publish a plan, if no approval rule is on."""
    release = _unchanged(caller, arguments)
    if needs_approval(release):
        raise ProblemError(
            HTTPStatus.CONFLICT,
            "The approval rule is on: another person decides.",
            kind="approval-needed",
            next_step="Request an approval of this plan.",
        )
    return _decide(decisions.publish, release, caller, arguments)


def _decide(
    decide: Callable[..., object], release: Release, caller: Caller, arguments: shapes.Decide
) -> shapes.PlanState:
    number, mark = str(arguments.confirm or ""), caller.attribution
    with _refusals(), transaction.atomic():
        if not lock_owner(caller):
            raise _conflict("The token was revoked, or has another owner.", kind="refused")
        decide(release, caller.user, number, arguments.digest, by_program=mark)
    return _state(release.pk)


def status(caller: Caller, arguments: shapes.Status) -> shapes.PlanState:
    """Return what became of a plan, a request or a release."""
    return _state(_visible(caller, arguments.plan).pk, arguments.cursor)


def cancel(caller: Caller, arguments: shapes.NamedPlan) -> shapes.PlanState:
    """Cancel what was not sent of your plan, or withdraw its request."""
    release = _own(caller, arguments.plan)
    if release.is_provisional:
        state = _state(release.pk)
        ended = {"outcome": "failed", "state": ReleaseState.CANCELED.value, "digest": ""}
        nothing = {"confirm": None, "expires_at": None}
        for item in state.items:
            item.state = ItemState.CANCELED.value
        # If it was requested or published at this moment, it isn't discarded.
        if drafting.discard(release, caller.user):
            return state.model_copy(update=ended | nothing)
    with _refusals("Check its status."):
        decisions.cancel(release, caller.user, caller.attribution)
    return _state(release.pk)


def comment(caller: Caller, arguments: shapes.WriteComment) -> shapes.CommentState:
    """Comment on an audience or a plan, as a program of your owner."""
    ids = {"page_id": arguments.page_id, "audience_id": arguments.audience_id}
    if arguments.plan is not None:
        if named := [name for name, value in ids.items() if value]:
            raise invalid(dict.fromkeys(named, "must be empty if plan is named"))
        release = _visible(caller, arguments.plan)
        thread = new_thread(TargetKind.RELEASE, object_id=str(release.pk))
    elif missing := [name for name, value in ids.items() if not value]:
        raise invalid(dict.fromkeys(missing, "is required, unless plan is named"))
    else:
        if not caller.token.may_see(arguments.page_id) or not audience_last_known(*ids.values()):
            raise not_found("Audience")
        thread = new_thread(TargetKind.AUDIENCE, arguments.page_id, arguments.audience_id)
    mark = caller.attribution
    body = f"{arguments.body}\n\n({mark[0].upper()}{mark[1:]}.)"
    if len(body) > MAX_BODY:
        detail = f"The comment is longer than {MAX_BODY:,} characters with its mark."
        raise invalid({"body": detail})
    try:
        row = add_comment(caller.user, thread, body, form_key=caller.form_key)
    except CommentError as error:
        raise invalid({"body": str(error)}) from error
    return shapes.CommentState(comment=row.pk, person=row.author_name, by=mark)


def _planned(caller: Caller, versions: list[shapes.VersionToPlan]) -> list[PlannedVersion]:
    """Return the versions to plan; the latest where none is named.

    Raises ProblemError with the problem of each.
    """
    planned: dict[AudienceKey, PlannedVersion] = {}
    problems: dict[str, str] = {}
    for place, version in enumerate(versions):
        key = version.page_id, version.audience_id
        record = audience_last_known(*key)
        if record is None or not caller.token.may_see(version.page_id):
            problem = "Not found, or not visible to this token."
            problems[f"versions.{place}.audience_id"] = problem
            continue
        if key in planned:
            problems[f"versions.{place}.audience_id"] = "This audience is named twice."
            continue
        version_id = version.version_id or record.latest_version_id
        try:
            planned[key] = planned_version(PublishTarget(*key, version_id))
        except ReleaseError as error:
            problem = str(error) if version_id else "The audience has no version."
            problems[f"versions.{place}.version_id"] = problem
    if problems:
        raise invalid(problems)
    return [*planned.values()]


def _visible(caller: Caller, pk: int) -> Release:
    """Return a release on the token's pages. Plans of others are private until requested."""
    release = RELEASES.filter(pk=pk).first()
    page_ids = release.items.values_list("page_id", flat=True) if release else []
    if release is None or not all(map(caller.token.may_see, page_ids)):
        raise not_found("Plan")
    if release.is_provisional and not _is_own(caller, release):
        raise not_found("Plan")
    return release


def _own(caller: Caller, pk: int) -> Release:
    """Return a plan's release if it belongs to the caller's person or service."""
    release = _visible(caller, pk)
    if not _is_own(caller, release):
        detail = "This release was made by somebody else."
        next_step = "Make a plan of your own, or ask its owner."
        raise ProblemError(HTTPStatus.FORBIDDEN, detail, kind="not-yours", next_step=next_step)
    return release


def _is_own(caller: Caller, release: Release) -> bool:
    if not hasattr(release, "machine_plan"):
        return False
    token = release.machine_plan.token
    if caller.token.is_service or token.is_service:
        return bool(token == caller.token)
    return bool(token.owner_id == caller.user.pk)


def _unchanged(caller: Caller, arguments: shapes.Decide) -> Release:
    """Read a plan's versions again. Raises ProblemError (409) if it ended, expired or changed."""
    release = _own(caller, arguments.plan)
    if release.state != ReleaseState.DRAFT:
        sentence, step = drafting.state_sentence(release), "Check its status, or make a new plan."
        raise _conflict(sentence, step, kind="not-a-plan")
    if clock.now() >= release.machine_plan.expires_at:
        raise _conflict("The plan is older than 24 hours.", kind="expired")
    if arguments.digest != release.machine_plan.digest:
        raise _conflict("This isn’t the digest of the plan.")
    with reads_only():
        items = list(release.items.all())
        reviews = read_items(items)
    changes = [
        {
            "source": shapes.UNTRUSTED,
            "version": item.version_id,
            "what": field.name,
            "then": field.then[:MAX_DETAIL],
            "now": field.now[:MAX_DETAIL],
        }
        for item in items
        if changes_since(item, reviews[item.pk]) and not blocked(item)
        for field in compare_review(item, reviews[item.pk])
        if field.is_changed
    ]
    if changes:
        raise _conflict("Something changed since the plan.", changes=changes[:MAX_CHANGES])
    if arguments.digest != board_digest(release):
        raise _conflict("The plan’s versions were edited or checked again in Pressroom.")
    return release


def _conflict(
    detail: str, next_step: str = NEW_PLAN, *, kind: str = "changed", **more: list[dict[str, str]]
) -> ProblemError:
    return ProblemError(HTTPStatus.CONFLICT, detail, kind=kind, next_step=next_step, more=more)


@contextmanager
def _refusals(next_step: str = NEW_PLAN) -> Iterator[None]:
    """Turn errors of releases and approvals into ProblemErrors: 422 for a field, else 409."""
    try:
        yield
    except (ReleaseError, ApprovalError) as error:
        if error.field not in ("", "approval"):
            field = "confirm" if error.field == "typed" else error.field
            raise invalid({field: str(error)}) from error
        raise _conflict(str(error), next_step, kind="refused") from error


def _state(pk: int, cursor: str = "") -> shapes.PlanState:
    release = RELEASES.filter(pk=pk).first()
    if release is None:
        raise not_found("Plan")
    approval, machine_plan = release.approval, getattr(release, "machine_plan", None)
    pending = machine_plan if release.state == ReleaseState.DRAFT else None
    is_open = approval and approval.state == RequestState.OPEN
    items = list(light_items(release))
    rows, what = [shapes.PlanItem.model_validate(item) for item in items], f"items:{pk}"
    fitting, next_cursor = cut(rows, cursor, what)
    return shapes.PlanState(
        plan=release.pk,
        url=settings.PUBLIC_URL.rstrip("/") + reverse("release-detail", args=[release.pk]),
        outcome=_outcome(release, [item.state for item in items]),
        state=release.state,
        name=release.name if release.has_own_name else "",
        note=release.note[:MAX_NOTE_SHOWN],
        digest=pending.digest if pending else "",
        confirm=decisions.number_to_type(items) if pending else None,
        expires_at=getattr(approval if is_open else pending, "expires_at", None),
        requested_by=release.owner_name,
        by=release.by_program,
        approval=approval.state if approval else "",
        decided_by=approval.decided_by_name if approval else "",
        decision_note=approval.decision_note[:MAX_NOTE_SHOWN] if approval else "",
        items=fitting,
        next_cursor=next_cursor,
    )


def _outcome(release: Release, states: list[str]) -> shapes.Outcome:
    """Return the outcome of a release. An unknown item outweighs a failed one."""
    match ReleaseState(release.state):
        case ReleaseState.DRAFT:
            ended = release.approval and release.approval.state != RequestState.OPEN
            return "failed" if ended else "planned"
        case ReleaseState.WAITING_FOR_APPROVAL:
            return "waiting_for_approval"
        case ReleaseState.SCHEDULED | ReleaseState.RUNNING:
            return "running"
    if ItemState.UNKNOWN in states:
        return "unknown"
    is_bad = release.state != ReleaseState.FINISHED or set(states) & set(FAILED_ITEMS)
    return "failed" if is_bad else "done"
